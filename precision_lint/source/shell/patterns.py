"""Which arm of a `case` runs, where who starts the script says what it is about.

`case "$1" in train) … ;; eval) … ;; esac` has one arm that runs in `bash run.sh train`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from precision_lint.source.shell.words import UNKNOWN, Literal, RawWord, Text

_MAGIC = frozenset("*?[")


@dataclass(slots=True)
class Arms:
    """The arms of one `case`, in the order in which a shell tries them."""

    subject: str
    is_decided: bool = False
    """One of the arms before certainly runs."""
    is_open: bool = False
    """One of them may run, or goes on in the next one."""

    def runs(self, pattern: Sequence[RawWord]) -> bool | None:
        """True if the arm with a pattern certainly runs, None if it may."""
        if self.is_decided:
            return False
        fits = [_fits(self.subject, word) for word in pattern]
        if not any(fits):
            found = None if None in fits else False
            self.is_open |= found is None
            return found
        if True not in fits or self.is_open:
            self.is_open = True
            return None
        self.is_decided = True
        return True


def said_by(text: Text, given: range) -> str | None:
    """What a word is that somebody has given as a whole, at some offsets; None for any other."""
    is_given = bool(text.chars) and all(origin in given for origin in text.origins)
    return text.chars if is_given and UNKNOWN not in text.chars else None


def _fits(subject: str, pattern: RawWord) -> bool | None:
    """None where that depends on what is not known."""
    found = ""
    for part in pattern.parts:
        if not isinstance(part, Literal):
            return None
        text = part.text.chars
        if part.quoted:
            text = "".join(f"[{char}]" if char in _MAGIC else char for char in text)
        elif "[" in text or "\\" in text or "(" in text:
            return None
        found += text
    return fnmatchcase(subject, found)
