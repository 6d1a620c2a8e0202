"""Whether the runs that a project offers train a network under the name that an optimizer gets.

`trainable = unet` in the branch of `config.use_lora` that no configuration of the project takes is
code that no run of it reaches. An option of the program's own parser offers both ways.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.reaching import reached
from precision_lint.facts.runs.written.started import started_programs
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted

_MOST_RUNS = 16


def may_train(name: str, network: str, path: Path, project: Recording) -> bool:
    """False if a file gives a network another name, and no run that is offered does so."""
    parsed = project.module(path)
    given = list(_given(name, network, parsed)) if parsed is not None else []
    if parsed is None or not given:
        return True
    return any(_reaches(given, parsed, run) for run in _runs(path, project))


def _given(name: str, network: str, file: ParsedPython) -> Iterator[ast.expr]:
    """Where the name stands for the network or a part of it."""
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=own)], value=value) if own == name:
                if f"{dotted(value) or ''}.".startswith(f"{network}."):
                    yield value


def _reaches(nodes: list[ast.expr], file: ParsedPython, run: RunEnvironment) -> bool:
    """False if settings outside of the program say that none of the places is reached."""
    evaluator = Evaluator(run)
    own = {each.text.path for each in run.program.files}
    for node in nodes:
        state, read = evaluator.noting(partial(reached, node, file, evaluator))
        if state is not False or not read or any(one.file.text.path in own for one in read):
            return True
    return False


def _runs(path: Path, project: Recording) -> Iterator[RunEnvironment]:
    """The launches of a program; the program alone, if there are none."""
    launches = [
        environment(path, file, started, project)
        for script in project.config_files.referring(path)[:_MOST_RUNS]
        for file, started, program in started_programs(script, project)
        if program == path
    ][:_MOST_RUNS]
    yield from launches
    code = project.config_files.at(path)
    if not launches and code is not None:
        yield environment(path, code, None, project)
