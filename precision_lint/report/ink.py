"""Text that is safe for a terminal: its encoding, its colors, and no control characters."""

from __future__ import annotations

import re

from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

_TAB = " " * 4
# Control characters, the bidirectional ones that reorder what a reader sees, the line ends that
# only some programs know, and surrogates.
_HIDDEN = regex(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SPELT_OUT = str.maketrans(
    {
        "…": "...",
        "→": "->",
        "—": "-",
        "–": "-",
        "×": "x",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "±": "+-",
    }
    | dict.fromkeys("‘’", "'")
    | dict.fromkeys("“”", '"')
)
_SGR = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "gutter": "1;34",
    "strong": "1",
    "quiet": "2",
    "fixable": "36",
    "removed": "31",
    "added": "32",
}


@frozen
class Ink:
    """How to write to one stream."""

    color: bool
    encoding: str

    def visible(self, text: str) -> str:
        """`text` on one line; invisible and unencodable characters escaped, tabs as four spaces."""
        return self.encodable(revealed(text))

    def encodable(self, text: str) -> str:
        """`text` with unencodable characters spelled out or escaped."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            spelt_out = text.translate(_SPELT_OUT)
            return spelt_out.encode(self.encoding, "backslashreplace").decode(self.encoding)
        return text

    def paint(self, text: str, tone: str) -> str:
        """`text`, already visible, in a tone: a severity, `gutter`, `quiet`, `added` …"""
        return f"\x1b[{_SGR[tone]}m{text}\x1b[0m" if self.color and text else text

    def link(self, text: str, url: str) -> str:
        """`text`, already visible, as a link if the terminal supports links."""
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if self.color else text


def revealed(text: str) -> str:
    """A text on one line; what is invisible is escaped, tabs are four spaces."""
    return _HIDDEN.sub(_escape, text.replace("\t", _TAB))


def width(text: str) -> int:
    """How many columns a visible text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")
