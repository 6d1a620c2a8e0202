"""Commands in code of a Markdown document that does not say what it is.

A fence without a language may hold anything: output, a tree of folders, code. It is what people
type if it begins with the command that starts a program, and so is `python train.py --fp16` within
a line.
"""

from __future__ import annotations

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
