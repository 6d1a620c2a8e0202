"""What the places that decide a precision are given in one run, and which settings say so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.hardware.on_cuda import holds_on_cuda
from precision_lint.facts.runs.code.around_reads import is_within
from precision_lint.facts.runs.code.kept_scalers import without_kept
from precision_lint.facts.runs.code.torch_sinks import TorchPlace, running_places
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.runs.interpreter.known import Known
from precision_lint.facts.runs.interpreter.places import Miss
from precision_lint.facts.runs.interpreter.reaching import (
    fulfilled,
    reached,
    refuting,
    undecided,
    without_checks,
)
from precision_lint.facts.runs.roles.passed_over import chosen_texts, passed_over
from precision_lint.facts.runs.written.counterparts import is_of_another, names_in
from precision_lint.facts.settings.vocabulary import is_precise, names_precision
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.source.config.settings_tree import Scalar, mappings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST = 60
"""Places of one program; more are those of a library."""


@frozen(slots=False)
class Use:
    """What a place is given in one run.

    `value` is None if that is not known. It `is_certain` that it is reached if all conditions
    around it are known to hold. `settings` are those that were read to find out.
    """

    sink: TorchPlace
    value: str | None
    is_certain: bool
    settings: tuple[Occurrence, ...]
    written: Occurrence | None
    """The setting that decides it; None for what the program says itself."""
    is_reached: bool = True
    """False if a setting of precision is the reason why the place is not reached."""
    alike: int = 1
    """The places that a run may come to instead, this one included."""
    only_if: str = ""
    """The condition that decides whether the run comes to it, if that is not known."""
    at: Related | None = None
    """Where it is shown, if that is not the place in the code."""


def uses(evaluator: Evaluator) -> Iterator[Use]:
    """The sinks of a program that may be reached in a run, with what each is given."""
    run = evaluator.run
    passed = passed_over(chosen_texts(run), run.program)
    found = (
        one
        for one in without_kept([*running_places(_files(run), run.program)], run.program)
        if one.is_module and not is_within(one.node, one.file, passed)
    )
    trains = _trains(evaluator)
    for sink in islice(found, _MOST):
        use = use_of(sink, evaluator)
        if use is not None:
            is_idle = sink.kind == "scaler" and not trains
            yield replace(use, is_certain=False) if is_idle else use


def _files(run: RunEnvironment) -> Iterator[ParsedPython]:
    """The files of the program, without the modules that the opened file does not choose:
    `eval_name: image_classification` for `import_module(f"evals.{name}.eval")`.
    """
    program = run.program
    if run.opened is None:
        yield from program.files
        return
    chosen = frozenset(
        entry.value.value
        for mapping in mappings(run.file.documents)
        for entry in mapping.entries
        if isinstance(entry.value, Scalar) and isinstance(entry.value.value, str)
    )
    parts = frozenset(program_of(program.path, program.project, chosen))
    names, paths = names_in(run.file), [file.text.path for file in program.files]
    for file in program.files:
        path = file.text.path
        if path in parts and not is_of_another(path, paths, names):
            yield file


def _trains(evaluator: Evaluator) -> bool:
    """True if the run certainly scales a loss: `scaler.scale(loss)`."""
    return any(
        len(call.args) == 1 and reached(call, file, evaluator)
        for file, call in evaluator.program.calls("scale")
    )


def use_of(sink: TorchPlace, evaluator: Evaluator) -> Use | None:
    """What a sink is given in a run; None if it is not reached."""
    state, around = evaluator.noting(lambda: reached(sink.node, sink.file, evaluator))
    if sink.is_hidden:
        return None
    if state is False:
        return _switched_off(sink, evaluator)
    enabled, of_switch = evaluator.noting(
        lambda: (
            evaluator.value(sink.enabled, sink.file) if sink.enabled is not None else Known(True)
        )
    )
    on_device = ""
    if enabled is None and sink.enabled is not None:
        rest, on_device = _without_device(sink.enabled, sink.file)
        enabled, of_switch = evaluator.noting(lambda: _all_of(rest, sink.file, evaluator))
        on_device = on_device if enabled is not None and enabled.value else ""
    dtype, of_dtype = evaluator.noting(
        lambda: (
            evaluator.value(sink.dtype, sink.file) if sink.dtype is not None else Known(sink.plain)
        )
    )
    value, deciding = _value(sink, enabled, dtype, evaluator)
    if value is None and sink.kind == "weights" and dtype is not None:
        return None
    if state is None:  # what is not known may keep the run from it, and these settings do not
        around = fulfilled(sink.node, sink.file, evaluator)
    around = without_checks(around, sink.node, sink.file, evaluator)
    settings = (*of_dtype, *of_switch, *around)
    written = deciding.written if deciding is not None else None
    possible = [one for one in (*of_switch, *around, *of_dtype) if _is_of_precision(one)]
    switched_on = [one for one in possible if one.value is not False]
    if written is None and value is not None:
        written = next(iter([*switched_on, *possible]), None)
    elif written is not None and isinstance(written.origin, CodePlace):  # a default of the program
        given = (one for one in switched_on if not isinstance(one.origin, CodePlace))
        written = next(given, written)
    open_ones = undecided(sink.node, sink.file, evaluator) if state is None else ()
    only_if = next((condition.shown for condition in open_ones), on_device)
    is_certain = state is True and not on_device
    return Use(sink, value, is_certain, settings, written, only_if=only_if)


def _without_device(node: ast.expr, file: ParsedPython) -> tuple[Sequence[ast.expr], str]:
    """The parts of a condition that have to hold beside a GPU, and what it asks of the device:
    `use_amp and device.type == "cuda"`. None of either if it asks nothing.
    """
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            asked = [one for one in values if holds_on_cuda(one, syntax_tree(file)) is True]
            if 0 < len(asked) < len(values):
                shown = " and ".join(map(ast.unparse, asked))
                return [one for one in values if one not in asked], shown
    return (), ""


def _all_of(parts: Sequence[ast.expr], file: ParsedPython, evaluator: Evaluator) -> Known | None:
    """What parts of a condition give that all have to hold; None if one is not known."""
    found = [evaluator.value(one, file) for one in parts]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    return next((one for one in known if not one.value), known[0])


def _is_of_precision(setting: Occurrence) -> bool:
    """False for a setting that decides whether a place is reached for other reasons: `--eval`."""
    return is_precise(setting.name) or names_precision(setting.value)


def _switched_off(sink: TorchPlace, evaluator: Evaluator) -> Use | None:
    """A place that is not reached because of a setting of precision: the last one that was read."""
    if sink.kind not in ("autocast", "scaler", "matmul"):
        return None
    refuted_by = refuting(sink.node, sink.file, evaluator)
    deciding = [one for one in refuted_by if is_precise(one.name)]
    if not deciding:
        return None
    return Use(sink, "off", False, (deciding[-1],), deciding[-1], is_reached=False)


def _takes_names(sink: TorchPlace) -> bool:
    """True for calls of transformers, which look names of dtypes up in `torch`."""
    if not isinstance(sink.node, ast.Call):
        return False
    called = qualified(sink.node.func, syntax_tree(sink.file).names)
    return called.startswith("transformers.")


def _no_attribute(sink: TorchPlace, dtype: Known) -> list[Miss]:
    """A name that transformers looks up in `torch`, which has none of that name."""
    if not _takes_names(sink) or dtype.written is None or sink.kind == "4-bit products":
        return []  # the table of bitsandbytes says so
    error = f"AttributeError: module 'torch' has no attribute {dtype.value!r}"
    return [Miss(dtype, sink.node, sink.file, error)]


def _value(
    sink: TorchPlace, enabled: Known | None, dtype: Known | None, evaluator: Evaluator
) -> tuple[str | None, Known | None]:
    """What a sink is given, and what says so."""
    if enabled is None:
        return None, None
    if not enabled.value:
        return "off", enabled
    if sink.kind in ("scaler", "4-bit weights", "8-bit weights"):
        return "on", enabled
    if dtype is None or not isinstance(dtype.value, str):
        return None, None
    name = dtype.value.removeprefix("torch.")
    if sink.kind == "matmul":
        return name, dtype if sink.dtype is not None else enabled
    if sink.dtype is not None and (not dtype.value.startswith("torch.") or name not in ALIASES):
        is_named = sink.kind in ("weights", "4-bit products") and name in ALIASES
        if dtype.value not in ALIASES and names_precision(dtype.value):
            evaluator.missed += _no_attribute(sink, dtype)
        return (ALIASES[name], dtype) if is_named else (None, None)
    return ALIASES.get(name, name), dtype if dtype.written is not None else enabled
