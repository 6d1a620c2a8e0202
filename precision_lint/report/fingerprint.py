"""Fingerprints of findings that stay the same after edits elsewhere in the file."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from precision_lint.model.finding import Finding
from precision_lint.report.model import Report


def fingerprints(report: Report) -> list[str]:
    """A fingerprint for each finding: of its rule, its path and its code.

    Row numbers are not part of it; repeated code in the same file is distinguished by order.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    marks = []
    for finding in report.findings:
        key = (finding.code, report.relative(finding.place.path), _code(finding, report))
        identity = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        marks.append(sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return marks


def _code(finding: Finding, report: Report) -> str:
    """The rows of a finding without whitespace; its message if there is no text."""
    place, source = finding.place, report.sources.get(finding.place.path)
    source = source.around(place) if source is not None else None
    if source is None or place.end.row > len(source.line_starts):
        return finding.message
    rows = range(place.start.row, place.end.row + 1)
    return " ".join(" ".join(source.line(row) for row in rows).split())
