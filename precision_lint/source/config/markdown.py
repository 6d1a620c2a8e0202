"""The configurations in a Markdown document: the fences that people copy.

Each fence is a file of its own, and so is what a fence holds. One that lists what could be written
is none: nobody sets all of it at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.project.discovery import Kind
from precision_lint.source.config.config_file import Embedded, ParsedConfig, ParsePart, most_parts
from precision_lint.source.config.settings_tree import mappings
from precision_lint.source.text.comments import comments
from precision_lint.source.text.fences import Fence, fences
from precision_lint.source.text.masking import Mask
from precision_lint.source.text.typed_code import commands_in_lines, inline_commands, is_typed

_TITLE = regex(r"\b(?:title|filename)=(?:\"([^\"]*)\"|'([^']*)')")
_HEADLINE = regex(r"\s*(?:#|//)[ \t]*([\w./-]+\.\w+)[ \t]*\r?$", re.MULTILINE)

_LINE = regex(r"[^\n]*\n|[^\n]+")
_PROMPT = regex(r"[ \t]*(?:\([\w.-]+\)[ \t]*)?\$[ \t]")
_MORE = regex(r"[ \t]*>[ \t]")
_CONTINUED = regex(r"\\\r?\n\Z")

_PLACEHOLDER = regex(r"<[A-Za-z](?:[\w ./-]*\w)>")
"""`<your_path>`, which a shell would take for two redirections."""
_REMARK = regex(
    r"(?<=[\w\"'./}])[ \t]+(?P<said>\([A-Za-z](?:[\w ,.'/:-]*\w)?\.?\))(?=[ \t]*(?:\\[ \t]*)?\r?$)",
    re.MULTILINE,
)
"""`--cache_dir=DIR (optional)`, which a shell would refuse: no command has it in its middle."""
_OPTION = regex(r"(?:^|[ \t])--?[A-Za-z]")
_CHOICE = regex(r"\[-{1,2}\w|\|[ \t]*--|--[\w-]{1,40}[= ][^\s|\"']{1,40}\|\w")
"""`[--fp16]`, `--fp16 | --bf16`, `--dtype fp16|bf16`."""


def copied(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """The configurations of a document, by the names that it gives to them."""
    text = file.text.text
    mask = Mask(text)
    for fence, format in islice(_read(text), most_parts(file)):
        lines = [(fence.body, file.text[fence.body])]
        if format == "shell" and (fence.is_session or _has_prompt(text, fence.body)):
            lines = list(_typed(text, fence.body))
        if format == "shell":
            lines = [
                (span, _without_remarks(_PLACEHOLDER.sub(_variable, written)))
                for span, written in lines
            ]
        part = parse(file, mask.replacing(lines), format, margin=fence.margin)
        if part is not None and not _is_list(part, fence, lines):
            yield Embedded(_name(fence, text), part)
            yield from part.embedded


def _read(text: str) -> Iterator[tuple[Fence, Kind]]:
    """The fences that have a format, and the commands in other code."""
    found = [*fences(text)]
    for fence in found:
        format = fence.format or ("shell" if is_typed(fence, text) else None)
        if format is not None:
            yield fence, format
    around = [one.body for one in found]
    yield from ((each, "shell") for each in inline_commands(text, around))
    yield from ((each, "shell") for each in commands_in_lines(text, around))


def _is_list(part: ParsedConfig, fence: Fence, lines: Sequence[tuple[Span, str]]) -> bool:
    """True for usage lines, and where at least every second setting is explained by a comment."""
    if part.format == "shell":
        return any(_CHOICE.search(written) for _, written in lines)
    body = part.text.with_text(part.text[fence.body])
    explained = len(comments(body, part.format)) - bool(_HEADLINE.match(body.text))
    return sum(len(mapping.entries) for mapping in mappings(part.documents)) <= 2 * explained


def _name(fence: Fence, text: str) -> str:
    """The path that a document gives to a fence; empty if it gives none."""
    if title := _TITLE.search(fence.info):
        return title[1] or title[2] or ""
    headline = _HEADLINE.match(text, *fence.body)
    return headline[1] if headline else ""


def _variable(placeholder: re.Match[str]) -> str:
    """A variable as long as a placeholder: nobody knows its value."""
    name = re.sub(r"\W", "_", placeholder[0][2:-1])
    return f"${{{name}}}"


def _without_remarks(written: str) -> str:
    """Commands with blanks for the words in parentheses after what they give to an option."""

    def blank(remark: re.Match[str]) -> str:
        start = written.rfind("\n", 0, remark.start()) + 1
        is_after_option = _OPTION.search(written, start, remark.start("said"))
        return " " * len(remark[0]) if is_after_option else remark[0]

    return _REMARK.sub(blank, written)


def _has_prompt(text: str, body: Span) -> bool:
    return any(_PROMPT.match(line.group()) for line in _LINE.finditer(text, *body))


def _typed(text: str, body: Span) -> Iterator[tuple[Span, str]]:
    """The lines of a session that somebody types, without the prompts."""
    last = ""
    for line in _LINE.finditer(text, *body):
        written = line.group()
        prompt = _PROMPT.match(written) or (_MORE.match(written) if last else None)
        if prompt:
            last = " " * prompt.end() + written[prompt.end() :]
        elif _CONTINUED.search(last):
            last = written
        else:
            last = ""
            continue
        yield Span(*line.span()), last
