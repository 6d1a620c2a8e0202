"""`--add-ignore`: a suppression with a reason for every finding, written like a fix.

The promises of fixes hold: the file still parses, no comment is lost, and the finding is gone.
Where a comment cannot stand, after a backslash for example, the finding is left.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from precision_lint.engine.check import Checked
from precision_lint.engine.settings import ALWAYS_ON, ConfigError
from precision_lint.model.finding import Applicability, Edit, Finding, Fix, Span
from precision_lint.project.discovery import Kind
from precision_lint.source.text.comments import comments
from precision_lint.source.text.text import SourceText

_KINDS = frozenset[Kind]({"python", "notebook", "yaml", "toml", "shell"})
"""Files in which a comment may end a line."""

_FORMATTED = frozenset[Kind]({"python", "notebook"})
"""Files whose rows a formatter may break."""

_ABOUT_SUPPRESSIONS = frozenset({"MP901", "MP902"})


def check_reason(reason: str) -> None:
    """Raise ConfigError for what cannot be the reason of a suppression."""
    if not reason.strip() or not reason.isprintable() or "#" in reason:
        raise ConfigError("--add-ignore: the reason must be text on one line, without `#`")


def takes_comments(kind: Kind | None) -> bool:
    """True for files in which a comment can ignore a finding: JSON has none."""
    return kind in _KINDS


def is_ignorable(finding: Finding) -> bool:
    """False for findings about suppressions, and for files that could not be checked."""
    return finding.code not in {*ALWAYS_ON, *_ABOUT_SUPPRESSIONS}


def with_ignores(checked: Checked, kind: Kind, reason: str, line_length: int) -> Checked:
    """The findings with the comment that silences them in place of their own fixes.

    It stands above its row where it would make the row of a Python file longer than the lines of
    the project: formatters would break the row.
    """
    text = checked.text
    assert text is not None
    by_row: dict[int, list[Finding]] = defaultdict(list)
    for finding in checked.findings:
        if takes_comments(kind) and is_ignorable(finding):
            by_row[text.row(finding.place.span.end)].append(finding)
    with_comment = {text.row(span.start) for span in comments(text, kind)} if by_row else set()
    longest = line_length if kind in _FORMATTED else None
    edits = {
        row: _above(text, found, reason)
        if row in with_comment or _is_too_long(text, row, found, reason, longest)
        else _after(text, row, found, reason)
        for row, found in by_row.items()
    }
    fixes = {
        finding: Fix(Applicability.SAFE, "Ignore it", (edits[row],))
        for row, found in by_row.items()
        for finding in found
    }
    findings = tuple(replace(one, fix=fixes.get(one)) for one in checked.findings)
    return replace(checked, findings=findings)


def _is_too_long(
    text: SourceText, row: int, findings: list[Finding], reason: str, longest: int | None
) -> bool:
    """Whether the row is too long with the comment at its end, and may have one above it."""
    if longest is None:
        return False
    first = min(text.row(finding.place.span.start) for finding in findings)
    is_continued = first > 1 and text.line(first - 1).rstrip().endswith("\\")
    length = len(text.line(row).rstrip()) + 2 + len(_comment(findings, reason))
    return length > longest and not is_continued


def _after(text: SourceText, row: int, findings: list[Finding], reason: str) -> Edit:
    """The comment at the end of a row."""
    end = text.line_span(row).start + len(text.line(row).rstrip())
    return Edit(Span(end, end), f"  {_comment(findings, reason)}")


def _above(text: SourceText, findings: list[Finding], reason: str) -> Edit:
    """The comment on a row of its own, above findings on a row that has a comment already."""
    row = min(text.row(finding.place.span.start) for finding in findings)
    start, line = text.line_span(row).start, text.line(row)
    margin = line[: len(line) - len(line.lstrip())]
    return Edit(Span(start, start), f"{margin}{_comment(findings, reason)}{text.newline}")


def _comment(findings: list[Finding], reason: str) -> str:
    codes = ",".join(sorted({finding.code for finding in findings}))
    return f"# precision-lint: ignore[{codes}] {reason.strip()}"
