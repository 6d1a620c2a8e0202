"""Applying fixes, and the promises that are kept while it runs.

P1 what parsed before parses after. P2 rounds go on until no fix is left, or the text stays as it
was. P3 only the edited spans change. P4 no comment is lost. P6 no finding is added.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from precision_lint.check import Checked
from precision_lint.discovery import Kind
from precision_lint.finding import Applicability, Edit, Finding
from precision_lint.source.text import SourceText

Check = Callable[[SourceText], Checked]

_ROUNDS = 100
_SUPPRESSIONS = frozenset({"MP901"})
"""Rules whose fix is the removal of a comment."""


@dataclass(frozen=True)
class Fixed:
    """A text after its fixes: what was repaired, and what is left to report."""

    text: SourceText
    applied: tuple[Finding, ...]
    left: Checked


def fix(
    text: SourceText, kind: Kind, checked: Checked, check: Check, applicability: Applicability
) -> Fixed:
    """Apply the fixes of `applicability` or safer, round after round, until none is left.

    `checked` is what `check` says of `text`. Fixes that overlap wait for a later round. A round
    that breaks a promise is tried again fix by fix, and the fix that breaks it is dropped. Without
    a fixed point after so many rounds, the text stays as it was.
    """
    original = Fixed(text, (), checked)
    applied: list[Finding] = []
    refused: set[tuple[str, str]] = set()
    for _ in range(_ROUNDS):
        candidates = [
            finding
            for finding in checked.findings
            if finding.fix is not None
            and finding.fix.applicability >= applicability
            and _key(finding, text) not in refused
        ]
        if not candidates:
            return Fixed(text, tuple(applied), checked)
        step = _round(text, kind, checked, check, _compatible(candidates))
        if step is None:
            # one of them breaks a promise: the first that does not goes on alone
            for finding in candidates:
                step = _round(text, kind, checked, check, [finding])
                if step is not None:
                    break
                refused.add(_key(finding, text))
        if step is None:
            return Fixed(text, tuple(applied), checked)
        text, checked, done = step
        applied += done
    return original


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit applied; edits must not overlap."""
    parts, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[end : edit.span.start], edit.content]
        end = edit.span.end
    return "".join([*parts, text[end:]])


def _round(
    text: SourceText, kind: Kind, before: Checked, check: Check, findings: Sequence[Finding]
) -> tuple[SourceText, Checked, list[Finding]] | None:
    """The text with these fixes and what is found in it; None if that breaks a promise."""
    edits = {edit for finding in findings if finding.fix for edit in finding.fix.edits}
    changed = text.with_text(apply_edits(text.text, edits))
    if changed.text == text.text:
        return None
    try:
        changed.to_bytes()
    except UnicodeEncodeError:
        return None
    if not _parses(changed, kind):
        return None
    if not all(finding.code in _SUPPRESSIONS for finding in findings) and _loses_comment(
        text, changed, kind
    ):
        return None
    after = check(changed)
    if _adds_finding(before, after):
        return None
    return changed, after, list(findings)


def _compatible(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose edits do not touch each other; the first in the file wins.

    An edit that two fixes share, an import for instance, is no conflict.
    """
    accepted: list[Finding] = []
    taken: set[Edit] = set()
    for finding in findings:
        assert finding.fix is not None
        own = [edit for edit in finding.fix.edits if edit not in taken]
        if not any(_touch(edit, other) for edit in own for other in taken):
            accepted.append(finding)
            taken.update(own)
    return accepted


def _touch(one: Edit, other: Edit) -> bool:
    """True if two edits overlap, or insert at the same place."""
    if one.span.start == other.span.start:
        return True
    return one.span.start < other.span.end and other.span.start < one.span.end


def _key(finding: Finding, text: SourceText) -> tuple[str, str]:
    """A finding without its position, for remembering that its fix was refused."""
    return finding.code, text[finding.place.span]


def _parses(text: SourceText, kind: Kind) -> bool:
    from precision_lint.project import Project
    from precision_lint.source.errors import Unparsable

    try:
        if kind == "python":
            from precision_lint.source.python import parse_python

            parse_python(text, Project(text.path.parent))
        else:
            from precision_lint.source.config import parse_config

            parse_config(text, Project(text.path.parent), kind)
    except Unparsable:
        return False
    return True


_COMMENT = re.compile(r"(?:^|(?<=[\s,{\[\]}\"';]))(?:#|//)[^\r\n]*")


def _loses_comment(before: SourceText, after: SourceText, kind: Kind) -> bool:
    return bool(_comments(before, kind) - _comments(after, kind))


def _comments(text: SourceText, kind: Kind) -> Counter[str]:
    """The comments of a text; outside of Python everything that looks like one counts."""
    if "#" not in text.text and "//" not in text.text:
        return Counter()
    if kind == "python":
        from precision_lint.suppression import python_comments

        return Counter(text[span] for span in python_comments(text))
    return Counter(match.group().rstrip() for match in _COMMENT.finditer(text.text))


def _adds_finding(before: Checked, after: Checked) -> bool:
    counts = Counter(finding.code for finding in before.findings)
    return any(
        count > counts[code]
        for code, count in Counter(finding.code for finding in after.findings).items()
    )
