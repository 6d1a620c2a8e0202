"""Edits that remove members from a mapping: whole lines, or parts between commas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from precision_lint.fixers.lines import before_on_line, rest_of_line, whole_lines
from precision_lint.model.finding import Edit, Span
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Entry, Mapping, mappings
from precision_lint.source.text.text import SourceText

_TRIVIA = regex(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = regex(r"#|//|/\*|\*/")
_COLON = regex(r"[ \t]*:")
_HEADER_END = regex(r"[ \t]*\]")
_COMMA_BEFORE = regex(r",[ \t]*\Z")


def without_members(
    file: ParsedConfig, mapping: Mapping, removed: Sequence[Entry]
) -> tuple[list[Edit], bool]:
    """The edits, empty if none is possible; and whether a comment loses its subject."""
    if mapping.flow:
        runs = [*_runs(mapping, removed)]
        edits = [edit for run in runs for edit in _without_run(file.text, mapping, run)]
        return edits, any(_shares_line_with_comment(file.text, mapping, run) for run in runs)
    written = [_written(file.text, entry) for entry in removed]
    commented = any(rest_of_line(file.text, span.end).strip() for span in written)
    edits = [edit for span in written for edit in _without_lines(file.text, span)]
    if len(edits) < len(removed):
        return [], commented
    if file.format == "yaml" and len(removed) == len(mapping.entries):
        # An empty block mapping would be null.
        braces = _braces(file, mapping)
        return ([braces, *edits] if braces else []), commented
    return edits, commented


# Members on their own lines: YAML block mappings, TOML tables


def _written(text: SourceText, entry: Entry) -> Span:
    """The span of an entry; that of a TOML table begins with its header."""
    table = entry.value
    if not isinstance(table, Mapping) or table.flow or table.span.start >= entry.span.start:
        return entry.span
    header = _HEADER_END.match(text.text, entry.span.end)
    ends = [each.span.end for each in table.entries if each.span.end <= table.span.end]
    return Span(table.span.start, max([*ends, header.end() if header else entry.span.end]))


def _without_lines(text: SourceText, span: Span) -> Iterator[Edit]:
    if before_on_line(text, span.start).strip():
        return  # `- key: value`
    rest = rest_of_line(text, span.end)
    if rest.strip():
        yield Edit(Span(span.start, span.end + len(rest) - len(rest.lstrip())), "")
    else:
        yield Edit(whole_lines(text, span), "")


def _braces(file: ParsedConfig, mapping: Mapping) -> Edit | None:
    """`{}` after the key of a mapping on the following lines."""
    for around in mappings(file.documents):
        for entry in around.entries:
            if entry.value is mapping:
                colon = _COLON.match(file.text.text, entry.key.span.end)
                return Edit(Span(colon.end(), colon.end()), " {}") if colon else None
    return None


# Between commas: JSON, YAML flow mappings, TOML inline tables, Python


def _runs(mapping: Mapping, removed: Sequence[Entry]) -> Iterator[range]:
    """The removed entries as ranges of neighbours."""
    gone = {id(entry) for entry in removed}
    start = None
    for index, entry in enumerate(mapping.entries):
        if id(entry) in gone:
            start = index if start is None else start
        elif start is not None:
            yield range(start, index)
            start = None
    if start is not None:
        yield range(start, len(mapping.entries))


def _without_run(text: SourceText, mapping: Mapping, run: range) -> list[Edit]:
    entries = mapping.entries
    start, end = entries[run[0]].span.start, entries[run[-1]].span.end
    edits = []
    comma = _comma_behind(text, end)
    followed = comma is not None
    if comma is None:
        comma = _comma_in_front(text, mapping, run[0])
    if comma is None:
        pass
    elif followed and not text[Span(end, comma)].strip():
        end = comma + 1
    elif not followed and not text[Span(comma + 1, start)].strip(" \t"):
        start = comma
    else:
        edits.append(Edit(Span(comma, comma + 1), ""))

    before, rest = before_on_line(text, start), rest_of_line(text, end)
    if not before.strip() and not rest.strip():
        start, end = whole_lines(text, Span(start, end))
    elif not rest.strip():
        start -= len(before) - len(before.rstrip())
    elif followed or not before.strip():
        end += len(rest) - len(rest.lstrip())
    return sorted([*edits, Edit(Span(start, end), "")], key=lambda edit: edit.span)


def _comma_behind(text: SourceText, end: int) -> int | None:
    trivia = _TRIVIA.match(text.text, end)
    assert trivia is not None
    return trivia.end() if text.text.startswith(",", trivia.end()) else None


def _comma_in_front(text: SourceText, mapping: Mapping, index: int) -> int | None:
    if index > 0:
        return _comma_behind(text, mapping.entries[index - 1].span.end)
    # There may be positional arguments before the first keyword of a call.
    match = _COMMA_BEFORE.search(text[Span(mapping.span.start, mapping.entries[0].span.start)])
    return mapping.span.start + match.start() if match else None


def _shares_line_with_comment(text: SourceText, mapping: Mapping, run: range) -> bool:
    entries = mapping.entries
    first, last = entries[run[0]].span, entries[run[-1]].span
    left = entries[run[0] - 1].span.end if run[0] > 0 else mapping.span.start
    right = entries[run[-1] + 1].span.start if run[-1] + 1 < len(entries) else mapping.span.end
    before = text[Span(left, first.start)].rpartition("\n")[2]
    after = text[Span(last.end, right)].partition("\n")[0]
    return bool(_COMMENT.search(before) or _COMMENT.search(after))


# New members


def with_member(text: SourceText, mapping: Mapping, after: Entry, written: str) -> list[Edit]:
    """The edits that write a member after another one, on its own line if that one has its own."""
    before, rest = before_on_line(text, after.span.start), rest_of_line(text, after.span.end)
    if not mapping.flow:
        # After `- key: value` the next member begins at the column of the key.
        indentation = before.replace("-", " ")
        return [_insertion(after.span.end + len(rest), text.newline + indentation + written)]
    return _behind_comma(text, after.span.end, before, rest, written)


def _behind_comma(text: SourceText, end: int, before: str, rest: str, written: str) -> list[Edit]:
    line = text.newline + before + written
    if before.strip():
        pass
    elif rest.startswith(",") and _is_idle(rest[1:]):
        return [_insertion(end + len(rest), f"{line},")]
    elif not rest.strip() and _comma_behind(text, end) is None:
        return [_insertion(end, f",{line}")]
    elif _is_idle(rest) and _comma_behind(text, end) is None:
        return [_insertion(end, ","), _insertion(end + len(rest), line)]
    return [_insertion(end, f", {written}")]


def _is_idle(rest: str) -> bool:
    """True if there is nothing but a comment."""
    return not rest.strip() or rest.lstrip().startswith(("#", "//"))


def _insertion(offset: int, content: str) -> Edit:
    return Edit(Span(offset, offset), content)
