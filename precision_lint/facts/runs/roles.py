"""The roles that the settings of a run have: what its program does with them, without a table.

An option that reaches `autocast(dtype=…)` says what is computed in, one that reaches
`GradScaler(enabled=…)` whether the loss is scaled, one that reaches the cast of a model the dtype
of its weights. The places are in `sinks`, their values under the run come from `evaluation`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from precision_lint.facts.amp.autocast import records_no_gradients
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CodePlace, Occurrence, RolesSource
from precision_lint.facts.frameworks.table import Conflict, Framework, Key, Test, frameworks
from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.facts.runs.evaluation import Evaluator, Miss, evaluator_of
from precision_lint.facts.runs.known import Known
from precision_lint.facts.runs.losers import losers
from precision_lint.facts.runs.reach import reached
from precision_lint.facts.runs.reachable import may_run
from precision_lint.facts.runs.sinks import Sink, sinks
from precision_lint.facts.runs.words import refused
from precision_lint.facts.settings.vocabulary import (
    is_about_precision,
    names_bfloat16,
    names_float16,
    names_precision,
)
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.finding import Confidence, Related, Severity, Span
from precision_lint.model.memo import fact
from precision_lint.source.config.options import options
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_SINKS = 60
"""Places of one program; more are those of a library."""
_SLUG = "pytorch"
_FILE = re.compile(r"\.(?:ya?ml|json|toml)\b")


@dataclass(frozen=True)
class Use:
    """What a sink is given in one run.

    `value` is None if that is not known. It `is_certain` that it is reached if all conditions
    around it are known to hold. `settings` are those that were read to find out.
    """

    sink: Sink
    value: str | None
    is_certain: bool
    settings: tuple[Occurrence, ...]
    written: Occurrence | None
    """The setting that decides it; None for what the program says itself."""


def may_give_roles(launch: Launch) -> bool:
    """True if a launch says something of precision, or names files that may."""
    words = launch.words
    return any(
        is_about_precision(option.name) or names_precision(option.value)
        for option in options(words)
    ) or any("=" in word.text or _FILE.search(word.text) or "config" in word.text for word in words)


def readings_of_roles(run: RunEnvironment) -> Iterator[EffectiveConfig]:
    """What the program of a run does with the settings of precision that the run gives."""
    evaluator = evaluator_of(run)
    used = list(uses(evaluator))
    made = [*_of_misses(evaluator, used), *_of_words(run), *_of_branches(evaluator, used)]
    made += _of_losers(evaluator, used)
    settings = {
        (one.file.text.path, one.origin.span): one
        for use in used
        if use.value is not None
        for one in use.settings
        if not isinstance(one.origin, CodePlace)
    }
    settings |= {(one.file.text.path, one.origin.span): one for one, _ in made}
    code = run.program.project.config_files.at(run.program.path)
    if not settings or code is None:
        return
    given = {**dict(_named(used, run)), **{one.name: one for one, _ in made}}
    source = RolesSource(
        run.file,
        run.span or Span(0, 0),
        run.launch,
        given,
        code,
        Span(0, 0),
        tuple(settings.values()),
    )
    yield EffectiveConfig(_framework(given, [conflict for _, conflict in made]), source)


def _framework(given: Mapping[str, Occurrence], made: Sequence[Conflict]) -> Framework:
    """The table, with a key for each place where there are several, and what is wrong in this run
    alone.
    """
    table = frameworks()[_SLUG]
    keys = dict(table.keys)
    for name in given:
        kind = name.partition(" in ")[0].partition(" of ")[0]
        if name not in keys and kind in keys:
            keys[name] = Key(name, keys[kind].role)
    return replace(table, keys=keys, conflicts=(*table.conflicts, *made))


def uses(evaluator: Evaluator) -> Iterator[Use]:
    """The sinks of a program that may be reached in a run, with what each is given."""
    run = evaluator.run
    found = [sink for file in run.program.files for sink in sinks(file)]
    trains = _trains(evaluator)
    for sink in found[:_MOST_SINKS]:
        if may_run(sink.node, sink.file, run.program):
            use = _use(sink, evaluator)
            if use is None:
                continue
            if sink.kind == "scaler" and not trains:
                use = replace(use, is_certain=False)
            yield use


def _trains(evaluator: Evaluator) -> bool:
    """True if the run certainly scales a loss: `scaler.scale(loss)`."""
    return any(
        len(call.args) == 1 and reached(call, file, evaluator)
        for file, call in evaluator.run.program.calls("scale")
    )


def _use(sink: Sink, evaluator: Evaluator) -> Use | None:
    """What a sink is given; None if it is not reached."""
    state, around = evaluator.noting(lambda: reached(sink.node, sink.file, evaluator))
    if state is False or sink.is_hidden:
        return None
    enabled, of_switch = evaluator.noting(
        lambda: (
            evaluator.value(sink.enabled, sink.file) if sink.enabled is not None else Known(True)
        )
    )
    dtype, of_dtype = evaluator.noting(
        lambda: (
            evaluator.value(sink.dtype, sink.file) if sink.dtype is not None else Known(sink.plain)
        )
    )
    value, deciding = _value(sink, enabled, dtype, evaluator)
    if value is None and sink.kind == "weights" and dtype is not None:
        return None
    settings = (*of_dtype, *of_switch, *around)
    written = deciding.written if deciding is not None else None
    if written is None and value is not None:
        written = next(iter((*of_switch, *around)), None)
    return Use(sink, value, state is True, settings, written)


def _no_attribute(sink: Sink, dtype: Known) -> list[Miss]:
    """A name that transformers looks up in `torch`, which has none of that name."""
    if not sink.takes_names or dtype.written is None:
        return []
    error = f"AttributeError: module 'torch' has no attribute {dtype.value!r}"
    return [Miss(dtype, sink.node, sink.file, error)]


def _value(
    sink: Sink, enabled: Known | None, dtype: Known | None, evaluator: Evaluator
) -> tuple[str | None, Known | None]:
    """What a sink is given, and what says so."""
    if enabled is None:
        return None, None
    if not enabled.value:
        return "off", enabled
    if sink.kind == "scaler":
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


def _named(used: list[Use], run: RunEnvironment) -> Iterator[tuple[str, Occurrence]]:
    """What is given by name: of one kind under its own, if all places agree and one is certain.

    Otherwise each under the name of its place. What no setting decides is left out then.
    """
    by_kind: dict[str, list[Use]] = {}
    for use in used:
        by_kind.setdefault(use.sink.kind, []).append(use)
    regions = by_kind.get("autocast", [])
    if trained := [use for use in regions if not _is_evaluation(use.sink)]:
        by_kind["autocast"] = trained
    for kind, group in by_kind.items():
        known = [use for use in group if use.value is not None]
        certain = [use for use in known if use.is_certain]
        if certain and len(known) == len(group) and len({use.value for use in known}) == 1:
            best = next((use for use in certain if use.written is not None), certain[0])
            yield kind, _occurrence(kind, best, run)
            continue
        seen = set()
        for use in known:
            if use.written is None:
                continue
            what = (use.sink.subject, use.value, use.written.origin.span)
            if what not in seen:
                seen.add(what)
                subject = f" of {use.sink.subject}" if use.sink.subject else ""
                name = _at(kind + subject, use.sink.node, use.sink.file)
                yield name, _occurrence(name, use, run)


def _is_evaluation(sink: Sink) -> bool:
    return records_no_gradients(sink.node, syntax_tree(sink.file))


def _occurrence(name: str, use: Use, run: RunEnvironment) -> Occurrence:
    """What a sink is given, at the place of the setting that decides it."""
    sink = use.sink
    code = run.program.project.config_files.at(sink.file.text.path)
    assert code is not None
    span = sink.file.span_of(sink.node)
    used_at = Related(sink.file.text.place(span), _NOTES[sink.kind])
    if use.written is None:
        return Occurrence(name, use.value, CodePlace(span), code, used_at=used_at)
    return replace(use.written, value=use.value, is_derived=True, used_at=used_at)


_NOTES = {
    "autocast": "the autocast region",
    "scaler": "the scaler",
    "weights": "the weights",
    "default dtype": "the default dtype",
    "4-bit products": "what 4-bit weights are computed in",
    "matmul": "the precision of products",
}


# What is wrong in a run whatever the framework: a value that the program has no use for.


def _of_misses(evaluator: Evaluator, used: Sequence[Use]) -> Iterator[tuple[Occurrence, Conflict]]:
    """The values for which a table or a look-up raises on the way to a place that is reached."""
    seen = set()
    for miss in evaluator.missed:
        written, syntax = miss.known.written, syntax_tree(miss.file)
        if written is None or isinstance(written.origin, CodePlace) or miss.node in seen:
            continue
        seen.add(miss.node)
        if not (is_about_precision(written.name) or names_precision(miss.known.value)):
            continue
        if syntax.may_fail_on_purpose(miss.node) or not reached(miss.node, miss.file, evaluator):
            continue
        accepted = f"; it knows {', '.join(miss.accepted)}" if miss.accepted else ""
        name = _at(written.name, miss.node, miss.file)
        message = f"the program has no precision `{miss.known.value}`{accepted}"
        if not accepted:
            message = f"`torch` has no dtype `{miss.known.value}`, which the program looks up there"
        yield (
            _with_use(name, written, miss.node, miss.file, "this raises"),
            _conflict(name, message, miss.error, raises=True),
        )


def _of_words(run: RunEnvironment) -> Iterator[tuple[Occurrence, Conflict]]:
    for one in refused(run):
        name = _at(one.written.name, one.declaration, one.file)
        yield (
            _with_use(name, one.written, one.declaration, one.file, "its declaration"),
            _conflict(name, one.message, one.says, raises=one.raises),
        )


def _of_branches(
    evaluator: Evaluator, used: Sequence[Use]
) -> Iterator[tuple[Occurrence, Conflict]]:
    """The names of dtypes that the program compares with nothing, and takes for another one."""
    for use in used:
        written = use.written
        if written is None or isinstance(written.origin, CodePlace) or not use.is_certain:
            continue
        meant = _meant(written.value)
        if use.sink.kind not in ("autocast", "weights") or meant in ("", use.value):
            continue
        if any(written.value in _compared(file) for file in evaluator.run.program.files):
            continue
        sink = use.sink
        name = _at(written.name, sink.node, sink.file)
        message = (
            f"the program knows no `{written.value}` here: {_NOTES[sink.kind]} gets {use.value}"
        )
        says = f"no comparison and no key of the program is {written.value!r}: the rest is taken"
        yield (
            _with_use(name, written, sink.node, sink.file, _NOTES[sink.kind]),
            _conflict(name, message, says, raises=False),
        )


def _of_losers(evaluator: Evaluator, used: Sequence[Use]) -> Iterator[tuple[Occurrence, Conflict]]:
    """The settings that are given and lose against another one."""
    for use in used:
        for one in losers(use.sink, evaluator) if use.is_certain else ():
            name = _at(one.written.name, one.test, one.file)
            taken, lost = (str(value).removeprefix("torch.") for value in (one.taken, one.lost))
            message = f"`{one.written.name}` loses: `{one.winner.name}` is asked first"
            says = f"the dtype is {taken}, and {lost} only if `{one.winner.name}` is off"
            yield (
                _with_use(name, one.written, one.test, one.file, "this is not asked any more"),
                Conflict(
                    "overridden-precision-setting",
                    "ignored",
                    message,
                    says,
                    "the program",
                    when={name: Test(present=True)},
                    at=(name,),
                    severity=Severity.WARNING,
                ),
            )


def _meant(value: object) -> str:
    """The dtype that a text names; empty if none."""
    if names_bfloat16(value):
        return "bfloat16"
    return "float16" if names_float16(value) else ""


@fact
def _compared(file: ParsedPython) -> frozenset[object]:
    """The texts that a file compares with, or has as keys."""
    found: set[object] = set()
    for node in file.nodes:
        inner: list[ast.expr | None] = []
        match node:
            case ast.Compare(left=left, comparators=others):
                inner = [left, *others]
            case ast.Dict(keys=keys):
                inner = keys
            case ast.MatchValue(value=value):
                inner = [value]
        for each in inner:
            for part in ast.walk(each) if each is not None else ():
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.add(part.value)
    return frozenset(found)


def _at(name: str, node: ast.expr, file: ParsedPython) -> str:
    """A name for what has the same name in several places."""
    return f"{name} in {file.text.path.name}, line {node.lineno}"


def _with_use(
    name: str, written: Occurrence, node: ast.expr, file: ParsedPython, note: str
) -> Occurrence:
    used_at = Related(file.text.place(file.span_of(node)), note)
    return replace(written, name=name, is_derived=True, used_at=used_at)


def _conflict(name: str, message: str, says: str, *, raises: bool) -> Conflict:
    """A conflict of one run: the setting alone meets it."""
    return Conflict(
        "invalid-precision-value",
        "error" if raises else "harmful",
        message,
        says,
        "the program",
        when={name: Test(present=True)},
        at=(name,),
        severity=Severity.ERROR if raises else Severity.WARNING,
        confidence=Confidence.HIGH if raises else Confidence.MEDIUM,
    )
