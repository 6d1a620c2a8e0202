"""Edits of configuration files: take a setting out, change a value. By span, never a dump."""

from __future__ import annotations

import re
from itertools import pairwise

from precision_lint.finding import Applicability, Edit, Fix, Span
from precision_lint.source.config import ConfigFile
from precision_lint.source.options import Option
from precision_lint.source.settings_tree import Entry, Member, Scalar
from precision_lint.source.text import SourceText

_TRIVIA = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"#|//|/\*|\*/")
_CONTINUED = re.compile(r"[ \t]*\\\r?\n[ \t]*\Z")
_BETWEEN_WORDS = re.compile(r"(?:\s|\\\r?\n)+")


def remove_setting(file: ConfigFile, origin: Member | Option, message: str) -> Fix | None:
    """Take a setting out of its file; None where that needs more than deleting it.

    Unsafe if a comment on the same line loses what it speaks of. The comment itself stays.
    """
    if file.defect is not None:
        return None
    if isinstance(origin, Option):
        edits = _without_words(file.text, origin)
        commented = _is_comment(_rest_of_line(file.text, origin.words[-1].span.end))
    elif not _is_plain(file.text, origin.entry):
        return None
    elif origin.mapping.flow:
        edits = _without_flow_member(file.text, origin)
        commented = _shares_line_with_comment(file.text, origin)
    else:
        edits = _without_line(file, origin)
        commented = _is_comment(_rest_of_line(file.text, origin.span.end))
    if not edits:
        return None
    return Fix(Applicability.UNSAFE if commented else Applicability.SAFE, message, tuple(edits))


def change_value(member: Member, literal: str) -> Edit | None:
    """Write another literal for a value; None if the value is not a literal."""
    value = member.entry.value
    return Edit(value.span, literal) if isinstance(value, Scalar) else None


def _is_plain(text: SourceText, entry: Entry) -> bool:
    """True for a literal on which nothing hangs: no comment inside, no anchor that others need."""
    between = text[Span(entry.key.span.end, max(entry.key.span.end, entry.value.span.start))]
    return isinstance(entry.value, Scalar) and not re.search(r"[&#]|/[/*]", between)


def _is_comment(rest: str) -> bool:
    return rest.lstrip().startswith("#")


# A line of its own: YAML block mappings, TOML tables


def _without_line(file: ConfigFile, member: Member) -> list[Edit]:
    text, (start, end) = file.text, member.span
    if file.format == "yaml" and len(member.mapping.entries) == 1:
        return []  # an empty block mapping is null
    if _start_of_line(text, start).strip():
        return []  # `- key: value`
    rest = _rest_of_line(text, end)
    if rest.strip():
        return [Edit(Span(start, end + len(rest) - len(rest.lstrip())), "")]
    return [Edit(_whole_lines(text, Span(start, end)), "")]


# A member between commas: JSON, YAML flow mappings, TOML inline tables


def _without_flow_member(text: SourceText, member: Member) -> list[Edit]:
    entries = member.mapping.entries
    index = next(i for i, entry in enumerate(entries) if entry is member.entry)
    start, end = member.span
    edits = []
    comma = _comma_behind(text, end)
    followed = comma is not None
    if comma is None and index > 0:
        comma = _comma_behind(text, entries[index - 1].span.end)
    if comma is None:
        pass
    elif followed and not text[Span(end, comma)].strip():
        end = comma + 1
    elif not followed and not text[Span(comma + 1, start)].strip(" \t"):
        start = comma
    else:
        edits.append(Edit(Span(comma, comma + 1), ""))

    before, rest = _start_of_line(text, start), _rest_of_line(text, end)
    if not before.strip() and not rest.strip():
        start, end = _whole_lines(text, Span(start, end))
    elif not rest.strip():
        start -= len(before) - len(before.rstrip())
    elif followed or not before.strip():
        end += len(rest) - len(rest.lstrip())
    return sorted([*edits, Edit(Span(start, end), "")], key=lambda edit: edit.span)


def _comma_behind(text: SourceText, end: int) -> int | None:
    trivia = _TRIVIA.match(text.text, end)
    assert trivia is not None
    return trivia.end() if text.text.startswith(",", trivia.end()) else None


def _shares_line_with_comment(text: SourceText, member: Member) -> bool:
    entries = member.mapping.entries
    index = next(i for i, entry in enumerate(entries) if entry is member.entry)
    left = entries[index - 1].span.end if index > 0 else member.mapping.span.start
    right = entries[index + 1].span.start if index + 1 < len(entries) else member.mapping.span.end
    before = text[Span(left, member.span.start)].rpartition("\n")[2]
    behind = text[Span(member.span.end, right)].partition("\n")[0]
    return bool(_COMMENT.search(before) or _COMMENT.search(behind))


# Words of a command or of a variable's value


def _without_words(text: SourceText, option: Option) -> list[Edit]:
    words = option.words
    if not all(word.verbatim for word in words):
        return []
    for word, following in pairwise(words):
        between = text[Span(word.span.end, max(word.span.end, following.span.start))]
        if not _BETWEEN_WORDS.fullmatch(between):
            return []
    start, end = words[0].span.start, words[-1].span.end
    before, rest = _start_of_line(text, start), _rest_of_line(text, end)
    if not before.strip() and rest.strip() in ("", "\\"):
        continued = _CONTINUED.search(text.text[:start])
        if continued and not rest.strip():
            start = continued.start()  # the last line of a command ends it; drop the `\` above
        else:
            start, end = _whole_lines(text, Span(start, end))
    elif before.endswith((" ", "\t")):
        start -= 1
    elif rest.startswith((" ", "\t")):
        end += 1
    return [Edit(Span(start, end), "")]


# Lines


def _start_of_line(text: SourceText, offset: int) -> str:
    return text[Span(text.line_span(text.position(offset).row).start, offset)]


def _rest_of_line(text: SourceText, offset: int) -> str:
    """What stands behind an offset, without the line end."""
    line = text.line_span(text.position(offset).row)
    return text[Span(offset, line.end)].rstrip("\r\n")


def _whole_lines(text: SourceText, span: Span) -> Span:
    first, last = text.position(span.start).row, text.position(span.end).row
    return Span(text.line_span(first).start, text.line_span(last).end)
