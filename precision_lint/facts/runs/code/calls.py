"""The calls of frameworks in a program, with the arguments that a run gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from precision_lint.facts.frameworks._generated import marks
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import called, takers, taking
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    MappingSource,
    Occurrence,
)
from precision_lint.facts.frameworks.table import Framework, frameworks
from precision_lint.facts.frameworks.triggers import may_be_reported_in
from precision_lint.facts.runs.code.filled_classes import frameworks_of
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.known import Given, Holder, Known, Settings
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.facts.runs.interpreter.reaching import reached, undecided, without_checks
from precision_lint.facts.settings.vocabulary import is_precise, names_precision
from precision_lint.model.dtypes import DtypeName
from precision_lint.model.finding import Related, Span
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.python_settings import Made, python_settings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_TAKING_ALL = "from_argparse_args"


def readings_of_calls(evaluator: Evaluator) -> Iterator[EffectiveConfig]:
    """What the frameworks that a program calls make of a run."""
    run = evaluator.run
    yield from _of_taken(evaluator)
    for file, made, found in _framework_calls(run.program):
        assert isinstance(made.node, ast.Call)
        code = run.program.project.config_files.at(file.text.path)
        node = made.node
        state, around = evaluator.noting(partial(reached, node, file, evaluator))
        around = without_checks(around, node, file, evaluator)
        if code is None or state is False:
            continue
        given = dict(_arguments(node, file, code, evaluator))
        if last_name(node.func) == _TAKING_ALL:
            given = dict(_members(node, file, code, found, evaluator)) | given
        deciding = tuple(filter(_chooses, around)) if state else ()
        if deciding and run.opened is not None:
            given |= dict(_decided(node, file, deciding[-1], evaluator))
        open_ones = undecided(node, file, evaluator) if state is None else ()
        only_if = next((condition.shown for condition in open_ones), "")
        for framework in found:
            yield _reading(framework, made, file, code, run, given, deciding, only_if)


def called_frameworks(program: Program) -> frozenset[str]:
    """The slugs of the frameworks whose classes a program calls."""
    return frozenset(
        framework.slug for _, _, found in _framework_calls(program) for framework in found
    )


def _chooses(setting: Occurrence) -> bool:
    """True for a switch of precision that the run gives: it is no default of the program, and no
    name of a dtype, which may only be checked.
    """
    is_switch = isinstance(setting.value, bool) and is_precise(setting.name)
    return is_switch and not isinstance(setting.origin, CodePlace)


def _framework_calls(
    program: Program,
) -> Iterator[tuple[ParsedPython, Made, tuple[Framework, ...]]]:
    """The calls of frameworks that may run when a program is started."""
    files = program.project.config_files
    known = files.once(
        ("calls of a program", program.path),
        lambda: {(file.text.path, span) for file, span, _ in _found(program)},
    )
    paths = {path for path, _ in known}
    for file in program.files if paths else ():
        for span, made in _calls(file) if file.text.path in paths else ():
            if (file.text.path, span) in known:
                yield file, made, _frameworks_of(made, file, program)


def _frameworks_of(made: Made, file: ParsedPython, program: Program) -> tuple[Framework, ...]:
    """The frameworks whose class or function is called: by the bases of a class of the project,
    which may have the name of another one.
    """
    assert isinstance(made.node, ast.Call)
    slugs = frameworks_of(made.node.func, file, program.project)
    if slugs is None:
        return called(made.callee)
    return tuple(frameworks()[slug] for slug in sorted(slugs))


def _found(program: Program) -> Iterator[tuple[ParsedPython, Span, Made]]:
    for file in program.files:
        if any(mark.decode() in file.text.text for mark in marks.PYTHON):
            for span, made in _calls(file):
                if may_run(made.node, file, program):
                    yield file, span, made


def _calls(file: ParsedPython) -> Iterator[tuple[Span, Made]]:
    for made in python_settings(file):
        if isinstance(made.node, ast.Call) and made.callee and called(made.callee):
            yield file.span_of(made.node), made


def _reading(
    framework: Framework,
    made: Made,
    file: ParsedPython,
    code: ParsedConfig,
    run: RunEnvironment,
    given: dict[str, Occurrence],
    deciding: tuple[Occurrence, ...],
    only_if: str,
) -> EffectiveConfig:
    assert isinstance(made.node, ast.Call)
    call = file.span_of(made.node)
    span = run.span or call
    source = CallSource(run.file, span, run.launch, given, code, call, deciding, only_if)
    plain = EffectiveConfig(framework, MappingSource(code, made.mapping))
    return EffectiveConfig(framework, source, fallbacks=(plain,))


def _arguments(
    call: ast.Call, file: ParsedPython, code: ParsedConfig, evaluator: Evaluator
) -> Iterator[tuple[str, Occurrence]]:
    """The arguments that settings of the run give, by name."""
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Constant):
            continue
        known = evaluator.value(keyword.value, file)
        if known is None:
            continue
        place = CodePlace(file.span_of(keyword.value))
        if keyword.arg is not None:
            if written := _occurrence(keyword.arg, known, code, place):
                yield keyword.arg, written
        elif isinstance(known.value, Settings):
            for name in known.value.names():
                inner = known.value.get(name)
                if inner is not None and (written := _occurrence(name, inner, code, place)):
                    yield name, written


def _members(
    call: ast.Call,
    file: ParsedPython,
    code: ParsedConfig,
    frameworks: tuple[Framework, ...],
    evaluator: Evaluator,
) -> Iterator[tuple[str, Occurrence]]:
    """The members of `args` that `Trainer.from_argparse_args(args)` takes as its arguments."""
    known = evaluator.value(call.args[0], file) if call.args else None
    if known is None or not isinstance(known.value, Holder):
        return
    place = CodePlace(file.span_of(call.args[0]))
    for name in dict.fromkeys(key for framework in frameworks for key in framework.keys):
        inner = known.value.get(name)
        if inner is not None and (written := _occurrence(name, inner, code, place)):
            yield name, written


def _of_taken(evaluator: Evaluator) -> Iterator[EffectiveConfig]:
    """What a framework gets in one argument: a mapping that the program makes of its settings."""
    run = evaluator.run
    for name in takers():
        for file, call in run.program.calls(name):
            ways = taking(qualified(call.func, syntax_tree(file).names))
            code = run.program.project.config_files.at(file.text.path) if ways else None
            state = reached(call, file, evaluator) if code is not None else False
            if code is None or state is False:
                continue
            open_ones = undecided(call, file, evaluator) if state is None else ()
            only_if = next((condition.shown for condition in open_ones), "")
            for framework, way in ways:
                given = dict(_in_mapping(call, way.takes, framework, file, code, evaluator))
                if any(not isinstance(one.origin, CodePlace) for one in given.values()):
                    span = file.span_of(call)
                    place = run.span or span
                    source = CallSource(
                        run.file, place, run.launch, given, code, span, only_if=only_if
                    )
                    yield EffectiveConfig(framework, source, is_open=True)


def _in_mapping(
    call: ast.Call,
    arguments: tuple[str, ...],
    framework: Framework,
    file: ParsedPython,
    code: ParsedConfig,
    evaluator: Evaluator,
) -> Iterator[tuple[str, Occurrence]]:
    """The keys of a framework in the mapping that an argument holds.

    A file that is handed on as it is has its own reading.
    """
    for keyword in call.keywords:
        known = evaluator.value(keyword.value, file) if keyword.arg in arguments else None
        if known is None or not isinstance(known.value, Given):
            continue
        place = CodePlace(file.span_of(keyword.value))
        for key in framework.keys:
            inner: Known | None = known
            for part in key.split("."):
                holder = inner.value if inner is not None else None
                inner = holder.get(part) if isinstance(holder, Holder) else None
            if inner is not None and (written := _occurrence(key, inner, code, place)):
                yield key, written


def _decided(
    call: ast.Call, file: ParsedPython, setting: Occurrence, evaluator: Evaluator
) -> Iterator[tuple[str, Occurrence]]:
    """The precisions that a call writes out, each at the setting which decides that it is made."""
    used_at = Related(file.text.place(file.span_of(call)), "the setting decides this")
    for keyword in call.keywords:
        known = evaluator.value(keyword.value, file) if keyword.arg is not None else None
        if keyword.arg is None or known is None or known.written is not None:
            continue
        if isinstance(known.value, DtypeName) or names_precision(known.value):
            written = replace(setting, name=keyword.arg, value=known.value)
            yield keyword.arg, replace(written, is_derived=True, used_at=used_at)


def _is_out_of_sight(written: Occurrence, code: ParsedConfig) -> bool:
    is_default = isinstance(written.origin, CodePlace) and written.file.text is not code.text
    return is_default or not may_be_reported_in(written.file.text.text)


def _occurrence(name: str, known: Known, code: ParsedConfig, place: CodePlace) -> Occurrence | None:
    """An argument where its setting is written. What is written where no rule looks, and a default
    in another file of the program, is shown at the call, which says what it means.
    """
    written = known.written
    if not known.is_plain:
        return None
    if written is None or _is_out_of_sight(written, code):
        return Occurrence(name, known.value, place, code, is_derived=True)
    is_derived = not known.is_direct or written.name.rpartition(".")[2] != name
    return replace(written, value=known.value, is_derived=is_derived)
