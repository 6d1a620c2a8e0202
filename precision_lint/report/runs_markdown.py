"""Runs explained as Markdown, for a pull request: a table for each precision, equal runs once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from precision_lint.engine.explained import Explained, Explanation, Run, source_of
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.report.markdown import code, row
from precision_lint.report.model import Report
from precision_lint.report.runs import (
    alike_of,
    by_kind,
    cut,
    grouped,
    head,
    head_of_run,
    lost_of,
    origin_of,
    position_of,
    row_of,
    unexplained_head,
    unused_of,
    value_of,
)

_NOTHING = "No run sets a precision.\n"


def render_markdown(explanation: Explanation, report: Report) -> Iterator[str]:
    """Each run with its settings by role, its references, and its findings; equal runs once."""
    if not explanation.runs and not explanation.unexplained:
        yield _NOTHING
    for first, *rest in grouped(explanation.runs):
        yield from _run(first, rest, report)
    for one in explanation.unexplained:
        yield f"### {unexplained_head(one, report)}\n\n"
        yield from _unread(one.unread, report)
        yield "\n"


def _run(run: Run, alike: Sequence[Run], report: Report) -> Iterator[str]:
    yield f"### {head_of_run(run, report)}\n\n"
    if alike:
        yield f"The same for {alike_of(alike, report)}.\n\n"
    yield from _table(run.explained, report)
    rows = [
        *(
            f"- {finding.severity} {finding.code} at {position_of(finding.place, report)}: "
            f"{report.ink.visible(finding.message)}\n"
            for finding in run.findings
        ),
        *_listed("also read", run.explained.also_read, report),
        *_unread(run.unread, report),
    ]
    yield from rows
    if rows:
        yield "\n"


def _table(explained: Explained, report: Report) -> Iterator[str]:
    """The settings that are written, and those of the configurations that it refers to."""
    rows = [one for one in explained.settings if one.written]
    if rows:
        yield "| role | setting | written |\n|---|---|---|\n"
    for one in rows:
        losers = (f"; overrides {_told(each, report)}" for each in one.overridden)
        written = "".join((code(origin_of(one, report)), *losers))
        yield row([one.key.role, code(value_of(one, report)), written])
    yield "\n" if rows else "No precision setting is written here.\n\n"
    for path in explained.beneath:
        yield f"Other settings come from {code(report.relative(path))}.\n\n"
    for name, linked in explained.links:
        yield f"**{name}**: {head(linked, report)}\n\n"
        yield from _table(linked, report)
    for lost in explained.lost:
        yield f"**{lost.name}**: {lost_of(lost.reference, report)}\n\n"
    for unused in explained.unused:
        yield f"**{unused.name}**: {unused_of(unused, report)}\n\n"


def _unread(settings: Sequence[Occurrence], report: Report) -> Iterator[str]:
    for kind, some in by_kind(settings):
        yield from _listed(kind, some, report)


def _listed(kind: str, settings: Sequence[Occurrence], report: Report) -> Iterator[str]:
    for written in settings:
        yield f"- {kind}: {_told(written, report)}\n"


def _told(written: Occurrence, report: Report) -> str:
    """What is written, and where."""
    return f"{code(report.ink.visible(cut(source_of(written))))} ({row_of(written, report)})"
