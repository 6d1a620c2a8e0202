"""Commands in code of a Markdown document that does not say what it is.

A fence without a language may hold anything: output, a tree of folders, code. It is what people
type if it begins with the command that starts a program, and so is `python train.py --fp16` within
a line, or a line of its own, indented or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.text.fences import Fence

_START = (
    r"(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:python[\d.]*|torchrun|deepspeed|accelerate[ \t]+launch"
    r"|srun|uv[ \t]+run|poetry[ \t]+run)[ \t]+"
)
_COMMAND = regex(
    rf"(?:[ \t]*(?:#[^\n]*|cd[ \t][^\n]*|export[ \t][^\n]*|source[ \t][^\n]*)?\r?\n)*[ \t]*{_START}"
)
"""The start of a fence, after comments and what goes before a command."""
_INLINE = regex(rf"(?<!`)`({_START}[^`\n]*[ \t]--?\w[^`\n]*)`(?!`)")
_LINE = regex(
    rf"^[ \t]*(?:\$[ \t]+)?{_START}(?:[^\n\\]|\\(?!\r?\n))*(?:\\\r?\n(?:[^\n\\]|\\(?!\r?\n))*)*",
    re.MULTILINE,
)
"""A line that begins with a command, with those that it goes on in."""
_OPTION = regex(r"[ \t]--?[A-Za-z]")
_QUOTED = regex(r"\"[^\"\n]*\"|'[^'\n]*'")
_PROSE = regex(r"\w[,;:.!?](?:\s|$)|(?<!\$)\(|`|(?:[ \t]+[A-Za-z']+){3}(?=\s|$)|<br\b|\\\\\r?\n")
"""What a sentence holds that begins with a command, or what is not written as a shell takes it."""
_WRAPPED = regex(r"\r?\n[ \t]*--?[A-Za-z]")
"""What follows a command that goes on without a mark."""
_HIDDEN = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SHELL = "sh"


def is_typed(fence: Fence, text: str) -> bool:
    """True for a fence without a language that begins with a command."""
    return not fence.info and _COMMAND.match(text, *fence.body) is not None


def inline_commands(text: str, around: list[Span]) -> Iterator[Fence]:
    """The commands in code within a line that have options, outside of the spans of fences."""
    for match in _INLINE.finditer(text):
        span = Span(*match.span(1))
        if not any(one.start <= span.start < one.end for one in around):
            yield Fence(_SHELL, span, 0)


def commands_in_lines(text: str, around: list[Span]) -> Iterator[Fence]:
    """The commands with options that are lines of their own, outside of the spans of fences and of
    comments. Not sentences that begin with a command, nor what a document wraps.
    """
    hidden = [*around, *(Span(*match.span()) for match in _HIDDEN.finditer(text))]
    for match in _LINE.finditer(text):
        start, end = match.span()
        said = _QUOTED.sub("_", match.group())
        if not _OPTION.search(said) or _PROSE.search(said) or _WRAPPED.match(text, end):
            continue
        if not any(one.start <= start < one.end for one in hidden):
            yield Fence(_SHELL, Span(start, start + len(match.group().rstrip("\\\r\n\t "))), 0)
