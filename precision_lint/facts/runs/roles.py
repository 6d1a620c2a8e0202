"""The roles that the settings of a run have: what its program does with them, without a table.

An option that reaches `autocast(dtype=…)` says what is computed in, one that reaches
`GradScaler(enabled=…)` whether the loss is scaled, one that reaches the cast of a model the dtype
of its weights. The places are in `sinks`, their values under the run come from `evaluation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from precision_lint.facts.amp.autocast import records_no_gradients
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CodePlace, Occurrence, RolesSource
from precision_lint.facts.frameworks.table import Framework, Key, frameworks
from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.facts.runs.evaluation import Evaluator, Miss, evaluator_of
from precision_lint.facts.runs.known import Known
from precision_lint.facts.runs.problems import problems_of
from precision_lint.facts.runs.reach import reached
from precision_lint.facts.runs.reachable import may_run
from precision_lint.facts.runs.sinks import NOTES, Sink, Use, sinks
from precision_lint.facts.settings.vocabulary import (
    is_about_precision,
    names_precision,
)
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.finding import Related, Span
from precision_lint.source.config.options import options
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_SINKS = 60
"""Places of one program; more are those of a library."""
_SLUG = "pytorch"
_FILE = re.compile(r"\.(?:ya?ml|json|toml)\b")


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
    problems = list(problems_of(evaluator, used, run))
    settings = {
        (one.file.text.path, one.origin.span): one
        for use in used
        if use.value is not None
        for one in use.settings
        if not isinstance(one.origin, CodePlace)
    }
    settings |= {(one.file.text.path, one.origin.span): one for one in map(_written, problems)}
    code = run.program.project.config_files.at(run.program.path)
    if not settings or code is None:
        return
    given = dict(_named(used, run))
    span = run.span or Span(0, 0)
    source = RolesSource(
        run.file, span, run.launch, given, code, Span(0, 0), tuple(settings.values())
    )
    table = frameworks()[_SLUG]
    # What is wrong with a single setting is judged alone, and shown with the run.
    links = {
        f"problem {number}": EffectiveConfig(replace(table, keys={}), replace(source, given=each))
        for number, each in enumerate(problems)
    }
    yield EffectiveConfig(_with_keys(table, given), source, links)


def _written(problem: Mapping[str, Occurrence]) -> Occurrence:
    return next(iter(problem.values()))


def _with_keys(table: Framework, given: Mapping[str, Occurrence]) -> Framework:
    """The table, with a key for each place where there are several of a kind."""
    keys = dict(table.keys)
    for name in given:
        kind = name.partition(" in ")[0].partition(" of ")[0]
        if name not in keys and kind in keys:
            keys[name] = Key(name, keys[kind].role)
    return replace(table, keys=keys)


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
                file = use.sink.file.text.path.name
                name = f"{kind}{subject} in {file}, line {use.sink.node.lineno}"
                yield name, _occurrence(name, use, run)


def _is_evaluation(sink: Sink) -> bool:
    return records_no_gradients(sink.node, syntax_tree(sink.file))


def _occurrence(name: str, use: Use, run: RunEnvironment) -> Occurrence:
    """What a sink is given, at the place of the setting that decides it."""
    sink = use.sink
    code = run.program.project.config_files.at(sink.file.text.path)
    assert code is not None
    span = sink.file.span_of(sink.node)
    used_at = Related(sink.file.text.place(span), NOTES[sink.kind])
    if use.written is None:
        return Occurrence(name, use.value, CodePlace(span), code, used_at=used_at)
    return replace(use.written, value=use.value, is_derived=True, used_at=used_at)
