"""Notes on what evaluations of a kernel see: sums, updates, offsets, numbers, products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.notes.note import Note
from precision_lint.facts.triton.notes.observer import Observer
from precision_lint.facts.triton.notes.remedies import Change, changes
from precision_lint.facts.triton.notes.runs import NARROWEST, Runs
from precision_lint.facts.triton.notes.sights import Key, Observation
from precision_lint.facts.triton.rejections import ASSUMPTIONS
from precision_lint.facts.triton.remedies import Remedy
from precision_lint.facts.triton.values import Tensor, origins
from precision_lint.model.finding import Related, Span
from precision_lint.source.text.text import SourceText

_ABOUT_POINTERS = frozenset({"atomic", "update"})
_ABOUT_INDICES = frozenset({"offset", "late cast"})
_MAX_REMEDIES = 16


def observation_notes(runs: Runs) -> Iterator[Note]:
    """A note on each thing that is seen in half precision, under each assumption that has it."""
    narrowest = runs.of(NARROWEST)
    first = narrowest.observations
    if narrowest.numbers.meets_small:
        first = runs.of("bf16").observations | first
    if not first:
        return
    module = runs.analysis.module
    launches, usage = runs.analysis.launches, narrowest.usage
    allocated = launches.following - launches.doubtful
    varying = allocated | usage.varying
    varying -= usage.integer_elements | usage.doubtful_elements | launches.doubtful
    for position, (key, sight) in enumerate(first.items()):
        tried = (NARROWEST,) if sight.kind in _ABOUT_INDICES else ASSUMPTIONS
        holds_for = [elements for elements in tried if key in runs.of(elements).observations]
        if sight.kind in _ABOUT_POINTERS:
            is_shown = sight.subject in allocated
        else:
            is_shown = not varying.isdisjoint(origins(sight.value))
        yield Note(
            sight.kind,
            sight.place,
            sight.subject,
            frozenset(ASSUMPTIONS if sight.kind in _ABOUT_INDICES else holds_for),
            is_shown,
            sight.is_slight,
            sight.is_conditional,
            frozenset[str]().union(*(_computed_in(runs.of(e), key) for e in holds_for)),
            related=tuple(_related(sight, module.text)),
            remedy=_remedy(runs, tried, key) if position < _MAX_REMEDIES else None,
        )


def _computed_in(run: Observer, key: Key) -> Dtypes:
    value = run.observations[key].value
    return value.dtypes if isinstance(value, Tensor) else frozenset()


def _related(sight: Observation, text: SourceText) -> Iterator[Related]:
    if sight.related is not None:
        message = {
            "accumulator": "it starts in half precision here",
            "update": "what was stored is loaded again here",
        }[sight.kind]
        yield Related(text.place(sight.related), message)
    if sight.kind in ("reduction", "infinity", "zero") and isinstance(sight.value, Tensor):
        for load in sorted(sight.value.loads):
            yield Related(text.place(load), "half precision enters here")


def _remedy(runs: Runs, tried: Sequence[str], key: Key) -> Remedy | None:
    """The first remedy after which it is gone, and Triton refuses nothing new; a safe one if
    there is one."""
    module, function = runs.analysis.module, runs.analysis.function
    plain = [runs.of(elements) for elements in tried]
    sights = [run.observations[key] for run in plain if key in run.observations]
    pinned = frozenset[Span]().union(*(run.usage.pinned for run in plain))
    unsafe = None
    for change in changes(module, function, sights, pinned):
        if (change.remedy.is_safe or unsafe is None) and _cures(runs, change, key, tried):
            if change.remedy.is_safe:
                return change.remedy
            unsafe = change.remedy
    return unsafe


def _cures(runs: Runs, change: Change, key: Key, tried: Sequence[str]) -> bool:
    for elements in tried:
        before, after = runs.of(elements), runs.treated(elements, change)
        if key in after.observations or after.refusals.found.keys() - before.refusals.found.keys():
            return False
    return True
