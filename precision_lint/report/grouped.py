"""The number of findings per folder or owner, the largest first, with the rules of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict

from precision_lint.model.frozen import frozen
from precision_lint.report.concise import is_safely_fixable, summary
from precision_lint.report.json_report import dumps
from precision_lint.report.model import Report


@frozen
class _Group:
    group: str
    count: int
    fixable_count: int
    codes: dict[str, int]
    """The number of findings by rule, the most frequent first."""


def render(report: Report) -> Iterator[str]:
    """A table: count, group, the rules with their counts."""
    groups = _groups(report)
    digits = max((len(str(row.count)) for row in groups), default=0)
    width = max((len(row.group) for row in groups), default=0)
    for row in groups:
        codes = ", ".join(f"{code} {count}" for code, count in row.codes.items())
        yield f"{row.count:>{digits}}  {row.group:{width}}  {codes}\n"
    yield from summary(report)


def render_json(report: Report) -> Iterator[str]:
    """The same as a JSON array."""
    yield dumps([asdict(row) for row in _groups(report)], indent=2) + "\n"


def render_json_lines(report: Report) -> Iterator[str]:
    """The same as JSON, one group per line."""
    for row in _groups(report):
        yield dumps(asdict(row)) + "\n"


def _groups(report: Report) -> list[_Group]:
    assert report.group_of is not None
    codes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    fixable: Counter[str] = Counter()
    for finding in report.findings:
        group = report.group_of(finding.place.path)
        codes[group][finding.code] += 1
        fixable[group] += is_safely_fixable(finding)
    groups = [
        _Group(group, counts.total(), fixable[group], dict(sorted(counts.items(), key=_first)))
        for group, counts in codes.items()
    ]
    return sorted(groups, key=lambda row: (-row.count, row.group))


def _first(row: tuple[str, int]) -> tuple[int, str]:
    """The key that sorts counts: the largest first, then by name."""
    return -row[1], row[0]
