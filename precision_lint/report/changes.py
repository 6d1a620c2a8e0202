"""What changed in the precision of runs, as text, as Markdown for a pull request, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from precision_lint.engine.compare_configs import Changed, ChangedRun
from precision_lint.engine.explained import Effective, place_of
from precision_lint.facts.frameworks.verdicts import shown
from precision_lint.report.json_report import dumps
from precision_lint.report.markdown import code
from precision_lint.report.model import Report
from precision_lint.report.runs import head

_NOTHING = "The precision of the runs is the same.\n"


def render(changed: Sequence[ChangedRun], report: Report) -> Iterator[str]:
    """Each run with the settings that changed, and the findings that came or went."""
    if not changed:
        yield _NOTHING
    for index, run in enumerate(changed):
        if index:
            yield "\n"
        yield report.ink.paint(f"{_head(run, report)}", "strong") + "\n"
        for one in run.settings:
            yield f"  {report.ink.visible(_row(one, run, report))}\n"
        for sign, findings in (("+", run.added), ("-", run.gone)):
            for finding in findings:
                text = report.ink.visible(finding.message)
                yield f"  {sign} {finding.severity} {finding.code}: {text}\n"


def render_markdown(changed: Sequence[ChangedRun], report: Report) -> Iterator[str]:
    """A table for each run."""
    if not changed:
        yield _NOTHING
    for run in changed:
        yield f"### {_head(run, report)}\n\n"
        if run.settings:
            yield "| setting | before | after |\n|---|---|---|\n"
        for one in run.settings:
            cells = (code(text) for text in (one.name, _value(one.old), _value(one.new)))
            yield f"| {' | '.join(cells)} |\n"
        yield "\n"
        for word, findings in (("new", run.added), ("gone", run.gone)):
            for finding in findings:
                yield f"- {word}: {finding.severity} {finding.code}: {finding.message}\n"


def render_json(changed: Sequence[ChangedRun], report: Report) -> Iterator[str]:
    """One array of the runs that differ."""
    records = [
        {
            "run": _head(run, report),
            "framework": run.run.explained.reading.framework.slug,
            "program": run.run.explained.program or None,
            "exists": {"before": run.old is not None, "after": run.new is not None},
            "settings": [
                {"key": one.name, "before": _value(one.old), "after": _value(one.new)}
                for one in run.settings
            ],
            "findings": {
                word: [{"code": each.code, "message": each.message} for each in findings]
                for word, findings in (("added", run.added), ("gone", run.gone))
            },
        }
        for run in changed
    ]
    yield dumps(records, indent=2) + "\n"


def _head(run: ChangedRun, report: Report) -> str:
    is_one = run.old is None or run.new is None
    word = "" if not is_one else " (new)" if run.old is None else " (gone)"
    return f"{head(run.run.explained, _seen_from(run, report, is_old=run.new is None))}{word}"


def _seen_from(run: ChangedRun, report: Report, *, is_old: bool) -> Report:
    """The report that shows the paths of one of two projects."""
    return replace(report, root=run.roots[not is_old]) if run.roots else report


def _row(one: Changed, run: ChangedRun, report: Report) -> str:
    is_old = one.new is None or one.new.written is None
    newest = one.old if is_old else one.new
    written = newest.written if newest is not None else None
    seen = _seen_from(run, report, is_old=is_old)
    place = f"  ({seen.row(place_of(written))})" if written is not None else ""
    return f"{one.name}: {_value(one.old)} -> {_value(one.new)}{place}"


def _value(one: Effective | None) -> str:
    match one:
        case None:
            return "not set"
        case Effective(status="null"):
            return "null"
        case Effective(status="unknown"):
            return "unknown until run time"
        case Effective(status="open" | "unset"):
            return "not set"
        case Effective(status="ignored"):
            return f"{shown(one.value)}, not read"
    return shown(one.value)
