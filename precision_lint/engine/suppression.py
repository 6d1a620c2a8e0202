"""Suppressions: `# noqa: MP101` and `# precision-lint: ignore[numpy-on-bfloat16] reason`.

A directive is on the line of its finding, or alone on the line above. `# precision-lint:
ignore-file` suppresses a whole file. A bare `# noqa` silences its line, as in other linters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from precision_lint.engine import registry
from precision_lint.engine.settings import ALWAYS_ON
from precision_lint.model.finding import Edit, Finding, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project.discovery import Kind
from precision_lint.source.text.text import SourceText

MARKS = (b"noqa", b"precision-lint:")

_DIRECTIVE = regex(
    r"""(?P<comment>
        (?:\#|//|<!--(?=[ \t]*precision-lint:[ \t]*ignore-file\b))[ \t]*
        (?: (?P<noqa>noqa)\b (?:[ \t]*:[ \t]* (?P<codes>[A-Z]+[0-9]+(?:[, \t]+[A-Z]+[0-9]+)*))?
          | precision-lint:[ \t]* (?: (?P<file>ignore-file)\b | ignore\[(?P<names>[^\]\r\n]*)\] )
        )
        [^\r\n#]*
    )""",
    re.VERBOSE | re.IGNORECASE,
)


_BARE = regex(r"(?:\#|//)[ \t]*(?P<ignore>precision-lint:[ \t]*ignore)(?![\w\[-])", re.IGNORECASE)


@frozen(eq=False, slots=False)
class Directive:
    """One suppression comment; `names` holds each code or name with its span."""

    span: Span
    row: int
    alone: bool
    names: tuple[tuple[str, Span], ...]
    whole_file: bool = False
    blanket: bool = False

    def covers(self, finding: Finding, text: SourceText) -> bool:
        """True if the directive applies to the lines of this finding."""
        if self.whole_file:
            return True
        first, last = map(text.row, finding.place.span)
        if not self.alone:
            return first <= self.row <= last
        row = self.row + 1
        # Several directives may be on consecutive lines above a line.
        while row < first and _DIRECTIVE.match(text.line(row).strip()):
            row += 1
        return row == first

    def matches(self, finding: Finding) -> str | None:
        """The name under which the directive silences a finding; '' for a blanket one."""
        # A bare noqa is about code; it does not hide that a file could not be checked at all.
        if self.whole_file or (self.blanket and finding.code not in ALWAYS_ON):
            return ""
        for name, _ in self.names:
            if name == finding.name or name.upper() == finding.code:
                return name
        return None


def directives(text: SourceText, kind: Kind, *, is_clean: bool) -> tuple[Directive, ...]:
    """The suppression comments of a file, in order.

    In a file without findings only comments that name precision-lint matter: tokenizing is slow,
    and `# noqa: E501` is frequent.
    """
    candidates = list(_DIRECTIVE.finditer(text.text))
    if is_clean:
        candidates = [match for match in candidates if _names_us(match)]
    if not candidates:
        return ()
    from precision_lint.source.text.comments import comments

    spans = sorted(comments(text, kind))
    return tuple(_parse(text, match) for match in candidates if _is_in(match, spans))


def _is_in(match: re.Match[str], spans: Sequence[Span]) -> bool:
    """True for a match in one of some spans, which are in order."""
    at = bisect_right(spans, match.start(), key=lambda span: span.start)
    return at > 0 and match.start() < spans[at - 1].end


def _names_us(match: re.Match[str]) -> bool:
    return match["noqa"] is None or "MP" in (match["codes"] or "").upper()


def _parse(text: SourceText, match: re.Match[str]) -> Directive:
    row = text.position(match.start()).row
    names: list[tuple[str, Span]] = []
    for group in ("codes", "names"):
        if match[group]:
            offset = match.start(group)
            names += [
                (word.group(), Span(offset + word.start(), offset + word.end()))
                for word in re.finditer(r"[^,\s]+", match[group])
            ]
    comment = match["comment"].rstrip()
    return Directive(
        span=Span(match.start(), match.start() + len(comment)),
        row=row,
        alone=not text.line(row)[: text.position(match.start()).column - 1].strip(),
        names=tuple(names),
        whole_file=match["file"] is not None,
        blanket=match["noqa"] is not None and not names,
    )


def bare(text: SourceText, kind: Kind) -> Iterator[Span]:
    """The comments `precision-lint: ignore` without a rule, which silence nothing."""
    candidates = list(_BARE.finditer(text.text))
    if not candidates:
        return
    from precision_lint.source.text.comments import comments

    spans = sorted(comments(text, kind))
    for match in candidates:
        if _is_in(match, spans):
            yield Span(*match.span("ignore"))


@frozen(slots=False)
class Unused:
    """A name in a directive that silences nothing, with the edit that removes it."""

    name: str
    span: Span
    edit: Edit
    known: bool


def apply(
    findings: Iterable[Finding], found: Sequence[Directive], text: SourceText
) -> tuple[list[Finding], set[tuple[Directive, str]]]:
    """The remaining findings, and the (directive, name) pairs that silenced a finding."""
    kept = []
    used: set[tuple[Directive, str]] = set()
    by_row: dict[int, list[Directive]] = {}
    for directive in found:
        by_row.setdefault(0 if directive.whole_file else directive.row, []).append(directive)
    for finding in findings:
        silencing = [
            (directive, name)
            for directive in _near(finding, by_row, text)
            if directive.covers(finding, text)
            if (name := directive.matches(finding)) is not None
        ]
        used.update(silencing)
        if not silencing:
            kept.append(finding)
    return kept, used


def _near(
    finding: Finding, by_row: Mapping[int, Sequence[Directive]], text: SourceText
) -> Iterator[Directive]:
    """The directives for a whole file, and those in the rows of a finding and right above it."""
    first, last = map(text.row, finding.place.span)
    above = first - 1
    while above > 0 and _DIRECTIVE.match(text.line(above).strip()):
        above -= 1
    for row in (0, *range(above + 1, last + 1)):
        yield from by_row.get(row, ())


def unused(
    found: Sequence[Directive],
    used: set[tuple[Directive, str]],
    ran: frozenset[str],
    text: SourceText,
) -> Iterator[Unused]:
    """The names that silence nothing although their rule ran, and the names of no rule.

    `noqa` codes of other linters and a bare `noqa` are not reported, nor is anything in a file that
    is ignored as a whole.
    """
    if any(directive.whole_file for directive in found):
        return
    for directive in found:
        is_noqa = text[directive.span].lstrip("#/ \t").lower().startswith("noqa")
        is_one = len({name for name, _ in directive.names}) == 1
        for name, span in directive.names:
            rule = registry.by_selector().get(name) or registry.by_selector().get(name.upper())
            ours = rule is not None or not is_noqa or name.upper().startswith("MP")
            if not ours or (directive, name) in used or (rule and rule.code not in ran):
                continue
            yield Unused(
                name, span, _without(directive, span, text, is_one=is_one), rule is not None
            )


def _without(directive: Directive, span: Span, text: SourceText, *, is_one: bool) -> Edit:
    """Remove one name from a directive, or the whole comment if it was the only name."""
    if not is_one:
        inside = text.text
        end = span.end
        while end < directive.span.end and inside[end] in ", \t":
            end += 1
        start = span.start
        if inside[end : end + 1] in ("]", "") or end >= directive.span.end:
            end = span.end
            while inside[start - 1] in ", \t":
                start -= 1
        return Edit(Span(start, end), "")
    if directive.alone:
        line = text.line_span(directive.row)
        if text[line].strip() == text[directive.span]:
            return Edit(line, "")
    start = directive.span.start
    while start > 0 and text.text[start - 1] in " \t":
        start -= 1
    return Edit(Span(start, directive.span.end), "")
