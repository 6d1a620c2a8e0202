"""Applying fixes, and the promises that are checked while it runs.

P1 a text that parsed before still parses. P2 rounds are repeated until no fix is left, or the text
is not changed. P3 only the edited spans change. P4 no comment is lost. P6 a fix causes no finding.

A rule reports the first cause of a problem, and Triton's compiler the first error of a kernel. So a
fix can uncover a problem that was there before: it is reported, and the fix stands.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from precision_lint.engine.check import Checked, decode
from precision_lint.model.finding import Applicability, Edit, Finding, Span
from precision_lint.model.frozen import frozen
from precision_lint.project.discovery import Kind
from precision_lint.source.text.comments import comments
from precision_lint.source.text.text import SourceText

Check = Callable[[SourceText], Checked]

_ROUNDS = 100
_SUPPRESSIONS = frozenset({"MP901"})
"""Rules whose fix is the removal of a comment."""


@frozen(slots=False)
class Fixed:
    """A text after its fixes: the fixed findings, and the remaining ones."""

    text: SourceText
    applied: tuple[Finding, ...]
    left: Checked


def fix(
    text: SourceText, kind: Kind, checked: Checked, check: Check, applicability: Applicability
) -> Fixed:
    """Apply the fixes of `applicability` or safer, round after round, until none is left.

    `checked` is the result of `check` for `text`. Overlapping fixes wait for a later round, and a
    fix that breaks a promise is left out. Without a fixed point, the text stays as it was.
    """
    original = Fixed(text, (), checked)
    applied: list[Finding] = []
    seen = {text.text}
    refused: set[Finding] = set()
    for _ in range(_ROUNDS):
        fixable = [
            finding
            for finding in checked.findings
            if finding not in refused
            and finding.fix is not None
            and finding.fix.applicability >= applicability
        ]
        now = _roots_first(fixable)
        candidates = _compatible(now)
        if not candidates:
            return Fixed(text, tuple(applied), _with_shown_only(checked, refused))
        step = _most(_Round(text, kind, checked, check), [], candidates)
        if step is None:
            refused.update(candidates)
            continue
        applied += step.applied
        at_once = set(now)
        applied += _cured(step, [finding for finding in fixable if finding not in at_once])
        text, checked = step.text, step.checked
        refused.clear()
        if text.text in seen:
            return original
        seen.add(text.text)
    return original


def _roots_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those in kernels that a fix elsewhere in a kernel may cure as well.

    A load as float32 makes the casts of what is computed from it superfluous.
    """
    roots = {finding for finding in findings if _is_elsewhere(finding)}
    return [one for one in findings if one in roots or not roots or _cover(one.code) != _KERNELS]


def _is_elsewhere(finding: Finding) -> bool:
    """True for a fix in a kernel that does not touch the place of the finding."""
    span = finding.place.span
    return (
        _cover(finding.code) == _KERNELS
        and finding.fix is not None
        and all(e.span.end < span.start or span.end < e.span.start for e in finding.fix.edits)
    )


def _cured(step: _Step, waiting: Sequence[Finding]) -> list[Finding]:
    """The findings that are gone although they waited, and the fixes of others were applied."""
    edits = {edit for finding in step.applied if finding.fix for edit in finding.fix.edits}
    shift = _Shift.by(edits)
    left = {(one.code, one.place.span.start) for one in step.checked.findings}
    return [
        finding
        for finding in waiting
        if (finding.code, shift.moved(finding.place.span.start)) not in left
    ]


def _with_shown_only(checked: Checked, refused: Collection[Finding]) -> Checked:
    """The findings, of which some have a fix that is not applied."""
    if not refused:
        return checked
    findings = tuple(
        replace(
            finding,
            fix=replace(
                finding.fix,
                applicability=Applicability.DISPLAY,
                message=f"{finding.fix.message} (left out: it would cause another problem)",
            ),
        )
        if finding in refused and finding.fix is not None
        else finding
        for finding in checked.findings
    )
    return replace(checked, findings=findings)


@frozen(slots=False)
class _Step:
    """A text with further fixes applied, and its findings."""

    text: SourceText
    checked: Checked
    applied: list[Finding]


@frozen(slots=False)
class _Round:
    """The text at the start of a round."""

    text: SourceText
    kind: Kind
    before: Checked
    check: Check

    @cached_property
    def comments(self) -> list[Span]:
        return comments(self.text, self.kind)

    def step(self, findings: Sequence[Finding]) -> _Step | None:
        """The text with the fixes of these findings; None if that breaks a promise."""
        edits = {edit: None for finding in findings if finding.fix for edit in finding.fix.edits}
        if not (_is_sound(edits, self.text) and self.text.takes(edits)):
            return None
        changed = self.text.edited(edits)
        if changed.text == self.text.text or not _is_readable(changed, self.kind):
            return None
        if not _parses(changed, self.kind) or self._loses_comment(changed, findings):
            return None
        after = self.check(changed)
        if self._causes_finding(after, findings, _Shift.by(edits)):
            return None
        return _Step(changed, after, list(findings))

    def _loses_comment(self, changed: SourceText, findings: Sequence[Finding]) -> bool:
        meant = [
            edit.span
            for finding in findings
            if finding.fix is not None and finding.code in _SUPPRESSIONS
            for edit in finding.fix.edits
        ]
        before = Counter(
            self.text[span]
            for span in self.comments
            if not any(span.start < edit.end and edit.start < span.end for edit in meant)
        )
        return bool(before - Counter(changed[span] for span in comments(changed, self.kind)))

    def _causes_finding(self, after: Checked, fixed: Sequence[Finding], shift: _Shift) -> bool:
        """True if a new finding is there because of the fixes.

        It was only covered if a rule that hides some findings behind others found it, and if
        neither its place nor one that it names has been written by the fixes.
        """
        before = self.before.findings
        expected = Counter(finding.code for finding in before)
        expected -= Counter(finding.code for finding in fixed)
        more = Counter(finding.code for finding in after.findings) - expected
        if not more:
            return False
        there = {(one.code, shift.moved(one.place.span.start)) for one in before}
        covering = {_cover(finding.code) for finding in fixed}
        new = [
            finding
            for finding in after.findings
            if finding.code in more and (finding.code, finding.place.span.start) not in there
        ]
        return not new or any(
            _cover(finding.code) not in covering
            or any(
                shift.has_written(place.span)
                for place in (finding.place, *(other.place for other in finding.related))
                if place.path == self.text.path
            )
            for finding in new
        )


_KERNELS = "MP5"


def _cover(code: str) -> str:
    """What can cover each other: findings of one rule, and those in kernels."""
    return _KERNELS if code.startswith(_KERNELS) else code


@frozen(slots=False)
class _Shift:
    """Where the parts of a text are once it is edited."""

    edits: tuple[Edit, ...]

    @classmethod
    def by(cls, edits: Iterable[Edit]) -> _Shift:
        return cls(tuple(sorted(edits, key=lambda edit: edit.span)))

    def moved(self, offset: int) -> int:
        """The new offset of an old one."""
        return offset + sum(_growth(edit) for edit in self.edits if edit.span.end <= offset)

    def has_written(self, span: Span) -> bool:
        """True if a part of a new span comes from an edit."""
        grown = 0
        for edit in self.edits:
            start = edit.span.start + grown
            if span.start < start + len(edit.content) and start < span.end:
                return True
            grown += _growth(edit)
        return False


def _growth(edit: Edit) -> int:
    return len(edit.content) - (edit.span.end - edit.span.start)


def _most(round_: _Round, sure: list[Finding], more: Sequence[Finding]) -> _Step | None:
    """The step with `sure` and as many of `more` as keep the promises, found by halving."""
    if not more:
        return None
    if (step := round_.step([*sure, *more])) is not None:
        return step
    if len(more) == 1:
        return None
    half = len(more) // 2
    left = _most(round_, sure, more[:half])
    right = _most(round_, left.applied if left else sure, more[half:])
    return right or left


def _compatible(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose edits do not touch each other; the first in the file wins.

    An edit that two fixes share, an import for instance, is no conflict.
    """
    accepted: list[Finding] = []
    taken: set[Edit] = set()
    spans: list[Span] = []  # of these edits, in order
    for finding in findings:
        assert finding.fix is not None
        own = [edit for edit in finding.fix.edits if edit not in taken]
        if not any(_touch(edit.span, other) for edit in own for other in _beside(edit, spans)):
            accepted.append(finding)
            taken.update(own)
            for edit in own:
                insort(spans, edit.span)
    return accepted


def _beside(edit: Edit, spans: Sequence[Span]) -> Sequence[Span]:
    """Those of some spans in order, which do not touch each other, that an edit may touch."""
    at = bisect_left(spans, edit.span)
    return spans[max(0, at - 1) : at + 1]


def _touch(one: Span, other: Span) -> bool:
    """True if the edits at two spans overlap, or insert at the same place."""
    if one.start == other.start:
        return True
    return one.start < other.end and other.start < one.end


def _is_sound(edits: Iterable[Edit], text: SourceText) -> bool:
    """True if the edits lie in the text, each in one piece, and do not overlap."""
    spans = sorted(edit.span for edit in edits)
    return all(0 <= start <= end <= len(text.text) for start, end in spans) and all(
        one.end <= other.start for one, other in pairwise(spans)
    )


def _is_readable(text: SourceText, kind: Kind) -> bool:
    """True if the text can be written, and is read again as the same."""
    try:
        return decode(text.path, text.to_bytes(), kind) == text
    except (UnicodeError, LookupError):
        return False


def _parses(text: SourceText, kind: Kind) -> bool:
    from precision_lint.source.text.errors import Unparsable

    try:
        if kind == "python":
            from precision_lint.source.python.parse import parse_python

            parse_python(text)
            return True
        from precision_lint.source.config.parse import parse_config

        return parse_config(text, kind).defect is None
    except Unparsable:
        return False
