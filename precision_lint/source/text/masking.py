"""Parts of a file that are files of their own, read at the offsets that they have in the whole.

The parser of a part is given the text of the whole file with blanks for all the rest, so that what
it finds can be reported, and edited, where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex

_REST = regex(r"[^\r\n]+")


class Mask:
    """Blanks for a whole text, into which parts of it are put back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._blanks = _REST.sub(lambda match: " " * len(match.group()), text)

    def showing(self, spans: Iterable[Span]) -> str:
        """The text with blanks for all but some spans, which are in order."""
        return self.replacing((span, self.text[span.start : span.end]) for span in spans)

    def replacing(self, parts: Iterable[tuple[Span, str]]) -> str:
        """Blanks, and for some spans in order what is to be read there, of the same length."""
        pieces, end = [], 0
        for span, content in parts:
            pieces += [self._blanks[end : span.start], content]
            end = span.end
        return "".join([*pieces, self._blanks[end:]])
