"""Which names `from module import *` may give, by the text of the module.

Some packages import hundreds of modules with stars, and most of the names that are looked up in
them are in none. The text of the modules shows that: no file is parsed for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.project.module_files import ModuleFiles
from precision_lint.facts.project.reaching import MOST_LINKED, Numbers, Reaching
from precision_lint.facts.project.records import Records
from precision_lint.model.regex import regex

_TOP = regex(
    rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"
    rb"|((?:from|import|if|try|elif|else|except|finally|with|for|while|match)\b"
    rb"[^\n]*(?:\n(?:[ \t)][^\n]*)?)*"
    rb"|[\w(\[][^\n]*=[^\n]*))",
    re.MULTILINE,
)
"""A definition at the top level of a module, or another statement that may bind names there."""
_BINDING = regex(
    rb"\b(?:from|import)[ \t][^\n(]*(?:\((?:[^)#]|#[^\n]*)*\))?"
    rb"|\b(?:def|class)[ \t]+\w+"
    rb"|\bas[ \t]+[^\n:]+"
    rb"|\bfor[ \t][^\n]+?[ \t]in\b"
    rb"|(?:^|[:;])(?:[ \t]*[\w*(\[][\w.,*:\[\]() \t]*=(?!=))+",
    re.MULTILINE,
)
"""What binds names in such a statement: all of its words count, which are more than are bound."""
_STARRED = regex(rb"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*\(?[ \t]*\*", re.MULTILINE)
_ALL = regex(rb"^__all__[ \t]*=[ \t]*(?:\[[^\]]*\]|\([^)]*\))[ \t]*$", re.MULTILINE)
_WORD = regex(rb"[^\W\d]\w*")


def names_at_top(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the modules that a file imports with a star, and of the names that it gives.

    These are the ones in its `__all__`, where it writes that out.
    """
    starred = {b"*" + name for name in _STARRED.findall(content)}
    written = _ALL.findall(content) if content.count(b"__all__") == 1 else []
    words = {word for text in written for word in _WORD.findall(text)} or _bound(content)
    hidden = b"__" if b"__all__" in content else b"_"
    words = {word for word in words if not word.startswith(hidden)}
    lines = (b"", *sorted(starred), *sorted(words), b"")
    return b"\n".join(lines).decode("ascii")


def _bound(content: bytes) -> set[bytes]:
    """The names that the top level of a module may bind."""
    found: set[bytes] = set()
    for name, statement in _TOP.findall(content):
        found.update(
            _WORD.findall(b" ".join(_BINDING.findall(statement))) if statement else (name,)
        )
    return found


class Starred:
    """What modules give by `import *`."""

    def __init__(self, records: Records, files: ModuleFiles, numbers: Numbers) -> None:
        self._records = records
        self._files = files
        self._numbers = numbers
        self._reached = Reaching(numbers, self._starred_by)
        self._offered: dict[Path, frozenset[str] | None] = {}
        """The names that a module may give; None for one that may give any."""

    def offers(self, path: Path, name: str) -> bool:
        """True if a module may bind a name, or import it with a star from one that may."""
        if path not in self._offered:
            self._offered[path] = self._names(path)
        offered = self._offered[path]
        return offered is None or name in offered or not name.isascii()

    def _names(self, path: Path) -> frozenset[str] | None:
        reached = self._reached({self._numbers.of(path)})
        if len(reached) >= MOST_LINKED:
            return None
        lines = (self._of(self._numbers.paths[number]).split("\n") for number in reached)
        return frozenset[str]().union(*lines)

    def _of(self, path: Path) -> str:
        return self._records.of("top", path)

    def _starred_by(self, path: Path) -> Iterator[Path]:
        for line in self._of(path).split("\n"):
            if line.startswith("*"):
                found = self._files.located(str(path.parent), line[1:])
                if found is not None:
                    yield found
