"""Where a program decides in which precision it runs, and what comes out in one of its runs.

These places are the sinks of settings: those of torch itself, and the calls of frameworks whose
tables say which argument is a precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.precision import Part, chosen
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CallSource
from precision_lint.facts.frameworks.verdicts import verdicts_of
from precision_lint.facts.runs.code.calls import readings_of_calls
from precision_lint.facts.runs.code.torch_sinks import MARKS, TorchPlace, outcomes, running_places
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import Precision
from precision_lint.project import disk

_MOST_FILES = 30


@frozen
class Sink:
    """A place that decides a precision, and the one that it gets in a run.

    It is None if only run time knows it. Where the hardware decides, there is one for each.
    """

    part: Part
    place: Place
    shown: str
    """The source of the call, for a report."""
    precision: Precision | None
    is_of_all: bool = True
    """False for the weights of one network among others."""
    refused: str = ""
    """Why the framework rejects what it is given, in its own words."""


def sinks(evaluator: Evaluator) -> Iterator[Sink]:
    """The sinks of a program that one of its runs reaches."""
    yield from _of_frameworks(evaluator)
    for one in _places(evaluator.program):
        file = one.file
        if one.part is not None and evaluator.reaches(one.node, file):
            span = file.span_of(one.node)
            shown = " ".join(file.text[span].split())
            for precision in sorted(outcomes(one, evaluator), key=str):
                yield Sink(one.part, file.text.place(span), shown, precision, one.is_of_all)


def _of_frameworks(evaluator: Evaluator) -> Iterator[Sink]:
    """What the calls of frameworks get in a run."""
    for reading in readings_of_calls(evaluator):
        source = reading.source
        assert isinstance(source, CallSource)
        place = source.code.text.place(source.call)
        why = next(_refused(reading, evaluator.run), "")
        for one in chosen(reading):
            if one.written is not None:
                shown = f"{reading.framework.name}: {one.key}"
                yield Sink(one.part, place, shown, one.precision, refused=why)


def _refused(reading: EffectiveConfig, run: RunEnvironment) -> Iterator[str]:
    for verdict in verdicts_of(reading, run.program.project):
        if verdict.conflict.verdict == "error":
            yield verdict.message()


def _places(program: Program) -> Iterator[TorchPlace]:
    """The places of a program that may run when it is started."""
    files = program.project.config_files
    paths = files.once(("files with sinks", program.path), lambda: tuple(_paths(program)))
    return running_places(filter(None, map(program.project.module, paths)), program)


def _paths(program: Program) -> Iterator[Path]:
    count = 0
    for path in program.project.program(program.path):
        try:
            content = disk.read(path, disk.ANY_SIZE)
        except OSError:
            continue
        if b"torch" in content and any(mark in content for mark in MARKS):
            count += 1
            if count > _MOST_FILES:
                return
            yield path
