"""Command-line words as options: `--name=value`, `--name value`, `--name`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.shell.variables import Word
from precision_lint.source.shell.words import UNKNOWN, Text

_CAPITALS = regex(r"[A-Z][A-Z0-9_]+|[A-Z][A-Z0-9_]*(?:\.[A-Z][A-Z0-9_]*)+")
_NAME = regex(r"[^\W\d][\w.]*")


@frozen
class Option:
    """An option as given. The value is None if only run time knows it; a bare flag has True.

    Which options take a value is the program's secret: a word after a flag that does not look
    like an option is taken for its value, which is wrong only for positional arguments.
    """

    name: str
    value: str | bool | None
    words: tuple[Word, ...]

    @property
    def span(self) -> Span:
        """Where the option is written; its value may come from elsewhere."""
        return self.words[0].span

    @property
    def text(self) -> str:
        """The text of the value, with a mark for each part that only run time knows."""
        return self.traced.chars

    @property
    def traced(self) -> Text:
        """The value with the places of its characters; empty for a bare flag."""
        last = self.words[-1].traced
        return last if len(self.words) > 1 else last[len(f"--{self.name}=") :]


def options(words: Sequence[Word]) -> Iterator[Option]:
    """The long options among the words, in order. Names are whole names, never prefixes."""
    for index, word in enumerate(words):
        if not word.text.startswith("--") or len(word.text) == 2:
            continue
        name, separator, value = word.text[2:].partition("=")
        if UNKNOWN in name:
            continue
        if separator:
            yield Option(name, _known(value), (word,))
        elif index + 1 < len(words) and not words[index + 1].text.startswith("-"):
            following = words[index + 1]
            yield Option(name, _known(following.text), (word, following))
        else:
            yield Option(name, True, (word,))


def assignments(words: Sequence[Word]) -> Iterator[Option]:
    """The words `name=value`, `+name=value` that are no option, nor the value of one."""
    values = {id(word) for option in options(words) for word in option.words[1:]}
    for word in words:
        name, separator, value = word.text.partition("=")
        name = name.lstrip("+")
        if separator and _NAME.fullmatch(name) and id(word) not in values:
            yield Option(name, _known(value), (word,))


def pairs(words: Sequence[Word]) -> Iterator[Option]:
    """Two words such as `SOLVER.AMP.ENABLED True`: a name in capitals, and its value."""
    for word, following in pairwise(words):
        if _CAPITALS.fullmatch(word.text) and not following.text.startswith("-"):
            yield Option(word.text, _known(following.text), (word, following))


def _known(value: str) -> str | None:
    return None if UNKNOWN in value else value
