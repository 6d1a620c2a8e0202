"""The roles that the settings of a run have: what its program does with them, without a table.

An option that reaches `autocast(dtype=…)` says what is computed in, one that reaches
`GradScaler(enabled=…)` whether the loss is scaled, one that reaches the cast of a model the dtype
of its weights. The places are in `sinks`, their values under the run come from `evaluation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from textwrap import shorten

from precision_lint.facts.amp.regions.autocast import records_no_gradients
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CodePlace, Occurrence, RolesSource
from precision_lint.facts.frameworks.table import Framework, Key, frameworks
from precision_lint.facts.runs.code.torch_sinks import NOTES, TorchPlace
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.roles.problems import problems_of
from precision_lint.facts.runs.roles.set_anyway import without_effect
from precision_lint.facts.runs.roles.uses import Use, uses
from precision_lint.facts.runs.written.understood import written_at
from precision_lint.facts.settings.vocabulary import (
    is_about_precision,
    names_precision,
)
from precision_lint.model.finding import Related, Span
from precision_lint.model.regex import regex
from precision_lint.source.config.options import options
from precision_lint.source.python.syntax_tree import syntax_tree

_LONGEST = 80
"""A condition that is longer is cut off."""
ONE_OF = ", one of "
"""What follows the name of a place that is the first of several in as many files."""
ONLY_IF = ", only if "
"""What follows the name of a place to which a run comes under a condition that is not known."""
_SLUG = "pytorch"
_FILE = regex(r"\.(?:ya?ml|json|toml)\b")


def may_give_roles(launch: Launch) -> bool:
    """True if a launch says something of precision, or names files that may."""
    words = launch.words
    if any(map(is_about_precision, launch.environment)):
        return True
    return any(
        is_about_precision(option.name) or names_precision(option.value)
        for option in options(words)
    ) or any("=" in word.text or _FILE.search(word.text) or "config" in word.text for word in words)


def readings_of_roles(evaluator: Evaluator) -> Iterator[EffectiveConfig]:
    """What the program of a run does with the settings of precision that the run gives."""
    run = evaluator.run
    used = list(without_effect(uses(evaluator)))
    problems = list(problems_of(evaluator, used, run))
    settings = {
        written_at(one): one
        for use in used
        if use.value is not None
        for one in use.settings
        if not isinstance(one.origin, CodePlace)
    }
    settings |= {written_at(one): one for one in map(_written, problems)}
    reading = reading_of(dict(_named(used, run)), tuple(settings.values()), run)
    if not settings or reading is None:
        return
    table, source = frameworks()[_SLUG], reading.source
    assert isinstance(source, RolesSource)
    # What is wrong with a single setting is judged alone, and shown with the run.
    links = {
        f"problem {number}": EffectiveConfig(replace(table, keys={}), replace(source, given=each))
        for number, each in enumerate(problems)
    }
    yield replace(reading, links=links)


def reading_of(
    given: Mapping[str, Occurrence],
    settings: tuple[Occurrence, ...],
    run: RunEnvironment,
    only_if: str = "",
) -> EffectiveConfig | None:
    """What the program of a run makes of its settings; None if its file cannot be read."""
    code = run.program.project.config_files.at(run.program.path)
    if code is None:
        return None
    span = run.span or Span(0, 0)
    source = RolesSource(run.file, span, run.launch, given, code, Span(0, 0), settings, only_if)
    return EffectiveConfig(with_keys(frameworks()[_SLUG], given), source)


def _written(problem: Mapping[str, Occurrence]) -> Occurrence:
    return next(iter(problem.values()))


def distinct(given: Iterable[tuple[str, Occurrence]]) -> dict[str, Occurrence]:
    """What is given to places, each under a name of its own: branches give different values."""
    found: dict[str, Occurrence] = {}
    for name, written in given:
        place, *condition = name.partition(ONLY_IF)
        others = (f"{place}, way {number}{''.join(condition)}" for number in count(2))
        names = chain((name,), others)
        found[next(one for one in names if one not in found)] = written
    return found


def with_keys(table: Framework, given: Mapping[str, Occurrence]) -> Framework:
    """The table, with a key for each place where there are several of a kind."""
    keys = dict(table.keys)
    for name in given:
        kind = name.partition(" in ")[0].partition(" of ")[0]
        if name not in keys and kind in keys:
            keys[name] = Key(name, keys[kind].role)
    return replace(table, keys=keys)


def _named(used: list[Use], run: RunEnvironment) -> Iterator[tuple[str, Occurrence]]:
    """What is given by name: of one kind under its own, if all places agree and one is certain.

    Otherwise each under the name of its place. What no setting decides is left out then.
    """
    by_kind: dict[str, list[Use]] = {}
    for use in used:
        if use.is_reached:
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
        alike: dict[tuple[str, str | None, Span], list[Use]] = {}
        for use in known:
            if use.written is not None:
                what = use.sink.subject, use.value, use.written.origin.span
                alike.setdefault(what, []).append(use)
        for same in alike.values():
            yield of_place(_of_all(same), run)
    for use in used:
        if not use.is_reached:
            yield of_place(use, run)


def _of_all(same: list[Use]) -> Use:
    """The first of several places that are given the same. Its condition is none of the setting if
    the run comes to another one without it: both branches of `if synchronizes:` may have a region.
    """
    first, *others = same
    if not first.only_if or all(use.only_if == first.only_if for use in others):
        return first
    sure = next((use for use in others if not use.only_if), None)
    return sure or replace(first, alike=len({use.only_if for use in same}))


def of_place(use: Use, run: RunEnvironment) -> tuple[str, Occurrence]:
    """What one place is given, under a name of its own."""
    sink = use.sink
    subject = f" of {sink.subject}" if sink.subject else ""
    if use.at is not None:
        name = f"{sink.kind}{subject}"
        return name, _occurrence(name, use, run)
    name = f"{sink.kind}{subject} in {sink.file.text.path.name}, line {sink.node.lineno}"
    if use.alike > 1:
        name += f"{ONE_OF}{use.alike} places"
    elif use.only_if:
        name += ONLY_IF + shorten(use.only_if, _LONGEST, placeholder=" …")
    return name, _occurrence(name, use, run)


def _is_evaluation(sink: TorchPlace) -> bool:
    return records_no_gradients(sink.node, syntax_tree(sink.file))


def _occurrence(name: str, use: Use, run: RunEnvironment) -> Occurrence:
    """What a sink is given, at the place of the setting that decides it."""
    sink = use.sink
    code = run.program.project.config_files.at(sink.file.text.path)
    assert code is not None
    span = sink.file.span_of(sink.node)
    used_at = use.at or Related(sink.file.text.place(span), NOTES[sink.kind])
    if use.written is None:
        return Occurrence(name, use.value, CodePlace(span), code, used_at=used_at)
    return replace(use.written, value=use.value, is_derived=True, used_at=used_at)
