"""Where the words of a script are written: in its own file, or in one that it sources."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from precision_lint.model.finding import Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import RawWord, Text
from precision_lint.source.text.text import SourceText

_BLANKS = regex(r"[ \t\r\n]+")


@frozen
class _Stretch:
    """The offsets from `start` on belong to another file, which the word at `at` sources."""

    start: int
    source: SourceText
    at: Span


@dataclass(slots=True)
class Places:
    """Offsets run through the script's own text and on through the texts that it sources."""

    source: SourceText
    end: int = 0
    _others: list[_Stretch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.end = len(self.source.text) + 1

    @property
    def others(self) -> frozenset[Path]:
        """The other files that words come from."""
        return frozenset(stretch.source.path for stretch in self._others)

    def locate(self, span: Span) -> tuple[Span, Place | None]:
        """The place in the script, and the place where it really is if that is elsewhere."""
        if not self._others or span.start < self._others[0].start:
            return span, None
        index = bisect_right(self._others, span.start, key=lambda stretch: stretch.start) - 1
        stretch = self._others[index]
        inside = Span(span.start - stretch.start, span.end - stretch.start)
        return stretch.at, stretch.source.place(inside)

    def word(self, text: Text, written: RawWord) -> Word:
        """A word that stands in a command, with what its expansions give it."""
        span, elsewhere = self.locate(written.span)
        return Word(text, span, written.verbatim and elsewhere is None, elsewhere)

    def split(self, text: Text) -> Iterator[Word]:
        """Field splitting: the words of a value, each where it is written."""
        start = 0
        for blank in (*_BLANKS.finditer(text.chars), None):
            end = blank.start() if blank else len(text.chars)
            if start < end:
                piece = text[start:end]
                span, elsewhere = self.locate(piece.span)
                verbatim = elsewhere is None and self.source[span] == piece.chars
                yield Word(piece, span, verbatim, elsewhere)
            start = blank.end() if blank else end

    def add(self, sourced: Places, at: Span) -> Callable[[Assigned], Assigned]:
        """Take in a sourced file; the result moves what it assigns to its offsets in here."""
        base = self.end
        self._others.append(_Stretch(base, sourced.source, at))
        for stretch in sourced._others:
            self._others.append(_Stretch(base + stretch.start, stretch.source, at))
        self.end += sourced.end

        def moved(text: Text) -> Text:
            return Text(text.chars, tuple(origin + base for origin in text.origins))

        def element(word: Word) -> Word:
            elsewhere = word.elsewhere or sourced.source.place(word.span)
            return replace(
                word, traced=moved(word.traced), span=at, verbatim=False, elsewhere=elsewhere
            )

        def taken(assigned: Assigned) -> Assigned:
            return replace(
                assigned,
                span=at,
                text=moved(assigned.text),
                elements=tuple(map(element, assigned.elements)),
                elsewhere=assigned.elsewhere or sourced.source.place(assigned.span),
            )

        return taken
