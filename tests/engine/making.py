"""Findings and checks made by hand, for rules that do not exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from precision_lint.engine.check import Checked
from precision_lint.model.finding import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Severity,
    Span,
)
from precision_lint.source.text.text import SourceText

PATH = Path("/project/case.py")


def source(content: str) -> SourceText:
    return SourceText(PATH, content)


def finding(text: SourceText, span: Span, *edits: Edit, code: str = "MP101") -> Finding:
    """A finding whose fix is these edits; without edits it has none."""
    return Finding(
        code=code,
        name="made-up",
        message="made up",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        place=text.place(span),
        fix=Fix(Applicability.SAFE, "Mend it", edits) if edits else None,
    )


def replacing(
    pattern: str, content: str | Callable[[re.Match[str]], str], code: str = "MP101"
) -> Callable[[SourceText], Checked]:
    """A check that finds every match of `pattern`; its fix puts `content` there."""

    def check(text: SourceText) -> Checked:
        found = []
        for match in re.finditer(pattern, text.text):
            new = content if isinstance(content, str) else content(match)
            span = Span(*match.span())
            found.append(finding(text, span, Edit(span, new), code=code))
        return Checked(tuple(found), text=text)

    return check


def together(*checks: Callable[[SourceText], Checked]) -> Callable[[SourceText], Checked]:
    """What several checks find, in order."""

    def check(text: SourceText) -> Checked:
        found = [finding for part in checks for finding in part(text).findings]
        return Checked(tuple(sorted(found, key=lambda row: row.sort_key)), text=text)

    return check
