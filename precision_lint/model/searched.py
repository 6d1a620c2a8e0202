"""The bytes of a file, in which hundreds of literals are looked for."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from precision_lint.model.regex import regex

_BETWEEN_WORDS = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or byte == ord("_") else ord(" ")
    for byte in range(256)
)
"""What stands between the words of a text is a blank in it."""
_WORD = regex(rb"\w+")


class Searched:
    """The bytes of a file: each literal is looked for once, whoever asks."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._found: dict[bytes, bool] = {}

    def holds(self, literal: bytes) -> bool:
        """True if the bytes hold a literal."""
        found = self._found.get(literal)
        if found is None:
            word = _longest_word(literal)
            found = word in self._words and (word == literal or literal in self._content)
            self._found[literal] = found
        return found

    def matches(self, pattern: bytes) -> bool:
        """True if a regular expression matches somewhere in the bytes."""
        return re.search(pattern, self._content) is not None

    @cached_property
    def _words(self) -> bytes:
        """Each word once: a fifth of a program, and most literals are not in there."""
        return b" ".join({*self._content.translate(_BETWEEN_WORDS).split()})


@lru_cache(maxsize=1024)
def _longest_word(literal: bytes) -> bytes:
    """The longest part of a literal that is a part of one word."""
    return max(_WORD.findall(literal), key=len, default=b"")
