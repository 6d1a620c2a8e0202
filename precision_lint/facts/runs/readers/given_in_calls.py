"""Programs that give a framework a file by its path: `deepspeed.initialize(config="ds.json")`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.recognition import taking
from precision_lint.facts.frameworks.table import Framework
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.facts.runs.interpreter.reaching import reached
from precision_lint.facts.runs.readers.witnesses import may_mean_file, programs_naming
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree


def giving_by_path(
    runs: Iterator[RunEnvironment], file: ParsedConfig, framework: Framework, project: Recording
) -> Path | None:
    """The first program that certainly gives a file to a framework when it is started without a
    word; None if none does.
    """
    for run in runs:
        evaluator = Evaluator(run)
        program = run.program.path
        for text in _given(framework, evaluator):
            if may_mean_file(text, file.text.path, program, project):
                return program
    return None


def programs_with(file: ParsedConfig, framework: Framework, project: Recording) -> Iterator[Path]:
    """The programs that name a file, if the framework takes files by their path at all."""
    if any(way.takes for way in framework.ways):
        yield from programs_naming(file.text.path, project)


def _given(framework: Framework, evaluator: Evaluator) -> Iterator[str]:
    """The texts that calls of a framework get as all of its settings."""
    program = evaluator.program
    names = {name.rpartition(".")[2] for way in framework.ways if way.takes for name in way.callees}
    for name in sorted(names):
        for file, call in program.calls(name):
            found = taking(qualified(call.func, syntax_tree(file).names))
            taken = {each for one, way in found if one is framework for each in way.takes}
            for keyword in call.keywords:
                if keyword.arg not in taken or not may_run(call, file, program):
                    continue
                known = evaluator.value(keyword.value, file)
                if known is None or not isinstance(known.value, str):
                    continue
                if reached(call, file, evaluator):
                    yield known.value
