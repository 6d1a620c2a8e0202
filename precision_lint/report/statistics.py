"""The number of findings per rule, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from precision_lint.model.frozen import frozen
from precision_lint.report.concise import is_safely_fixable, summary
from precision_lint.report.json_report import dumps
from precision_lint.report.model import Report


@frozen
class _Count:
    code: str
    name: str
    count: int
    fixable: bool
    fixable_count: int

    @property
    def mark(self) -> str:
        """Whether `--fix` fixes all, some or none of the findings."""
        return "[*]" if self.fixable else "[-]" if self.fixable_count else "[ ]"


def render(report: Report) -> Iterator[str]:
    """A table: count, code, whether `--fix` fixes it, name."""
    counts = _counts(report)
    digits = max((len(str(row.count)) for row in counts), default=0)
    for row in counts:
        yield f"{row.count:>{digits}}  {row.code}  {row.mark} {row.name}\n"
    yield from summary(report)


def render_json(report: Report) -> Iterator[str]:
    """The same as a JSON array."""
    yield dumps([asdict(row) for row in _counts(report)], indent=2) + "\n"


def render_json_lines(report: Report) -> Iterator[str]:
    """The same as JSON, one rule per line."""
    for row in _counts(report):
        yield dumps(asdict(row)) + "\n"


def _counts(report: Report) -> list[_Count]:
    rules = Counter((finding.code, finding.name) for finding in report.findings)
    fixable = Counter(finding.code for finding in report.findings if is_safely_fixable(finding))
    counts = [
        _Count(code, name, count, fixable[code] == count, fixable[code])
        for (code, name), count in rules.items()
    ]
    return sorted(counts, key=lambda row: (-row.count, row.code))
