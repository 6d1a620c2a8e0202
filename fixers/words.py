"""Edits of words: options of a command or in a variable's value, and assignments."""

from __future__ import annotations

import re
from itertools import pairwise

from precision_lint.fixers.lines import (
    before_on_line,
    end_of_line,
    indentation,
    is_comment,
    rest_of_line,
    whole_lines,
)
from precision_lint.model.finding import Edit, Span
from precision_lint.model.regex import regex
from precision_lint.source.config.options import Option
from precision_lint.source.shell.parse import Script
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import Text
from precision_lint.source.text.text import SourceText

_BETWEEN_WORDS = regex(r"(?:\s|\\\r?\n)+")
_EXPORT = regex(r"[ \t]*(?:export[ \t]+)?")
_NEEDS_NO_QUOTES = regex(r"[\w./:=@%+,-]+", re.ASCII)


def is_written_together(text: SourceText, words: tuple[Word, ...]) -> bool:
    """True if the words are consecutive in the place where they are used."""
    return all(word.verbatim for word in words) and all(
        _BETWEEN_WORDS.fullmatch(text[Span(word.span.end, max(word.span.end, after.span.start))])
        for word, after in pairwise(words)
    )


def without_option(text: SourceText, option: Option) -> Edit | None:
    """Remove an option, with its line if it has its own."""
    words = option.words
    if not is_written_together(text, words):
        return None
    start, end = words[0].span.start, words[-1].span.end
    before, rest = before_on_line(text, start), rest_of_line(text, end)
    if not before.strip() and rest.strip() in ("", "\\"):
        # Remove the `\` of the line above: the last line of a command has none of its own.
        continuation = _continuation_above(text, start)
        if continuation is not None:
            start = continuation
        else:
            start, end = whole_lines(text, Span(start, end))
    elif before.endswith((" ", "\t")):
        start -= 1
    elif rest.startswith((" ", "\t")):
        end += 1
    return Edit(Span(start, end), "")


def without_assignment(script: Script, name: str) -> Edit | None:
    """Remove `NAME=value` or `export NAME=value` on its own line if nothing else reads it."""
    text, span = script.source, script.variables[name].span
    is_own = text[span].startswith(f"{name}=")  # not from a sourced file, and not `+=`
    if not is_own or not _EXPORT.fullmatch(before_on_line(text, span.start)):
        return None
    rest = rest_of_line(text, span.end)
    if rest.strip() and not is_comment(rest):
        return None
    elsewhere = text.text[: span.start] + " " + text.text[span.end :]
    if re.search(rf"\b{name}\b", elsewhere):
        return None
    if rest.strip():
        start = text.line_span(text.row(span.start)).start
        return Edit(Span(start, span.end + len(rest) - len(rest.lstrip())), "")
    return Edit(whole_lines(text, span), "")


def value_of(text: SourceText, origin: Option | Assigned) -> Span | None:
    """The span of a value without quotes; None if it is not written in one piece."""
    match origin:
        case Assigned(elements=()):
            return _run(text, origin.text, origin.span)
        case Option(words=(word,)) if "=" in word.text and word.verbatim:
            return _run(text, word.traced[word.text.index("=") + 1 :], word.span)
        case Option(words=(_, word) as words) if is_written_together(text, words):
            return _run(text, word.traced, word.span)
        case _:
            return None


def _run(text: SourceText, value: Text, within: Span) -> Span | None:
    if not value.chars:
        return None
    span = Span(value.origins[0], value.origins[-1] + 1)
    inside = within.start <= span.start and span.end <= within.end
    return span if inside and text[span] == value.chars else None


def needs_no_quotes(value: str) -> bool:
    """True for a text that has the same meaning in any quotes and without."""
    return _NEEDS_NO_QUOTES.fullmatch(value) is not None


def with_option(text: SourceText, after: Option, added: str) -> Edit | None:
    """Write further words after an option, on their own line if the option has its own."""
    if not is_written_together(text, after.words):
        return None
    start, end = after.words[0].span.start, after.words[-1].span.end
    before, rest = before_on_line(text, start), rest_of_line(text, end)
    if before.strip() or rest.strip() not in ("", "\\"):
        return Edit(Span(end, end), f" {added}")
    line = text.newline + indentation(before) + added
    if rest.strip():
        line_end = end_of_line(text, end)
        return Edit(Span(line_end, line_end), f"{line} \\")
    is_continued = _continuation_above(text, start) is not None
    return Edit(Span(end, end), f" \\{line}" if is_continued else line)


def _continuation_above(text: SourceText, offset: int) -> int | None:
    """The start of the ` \\` that continues the line above; None if it does not."""
    row = text.row(offset) - 1
    line = text.line(row) if row else ""
    if not line.endswith("\\"):
        return None
    return text.line_span(row).start + len(line[:-1].rstrip(" \t"))
