"""The programs that the documents of a project show: callers of what the project offers.

A page, a notebook or a docstring counts if a program in it names bfloat16: with other dtypes, what
callers may give is the same without it. Its record holds the modules that such programs import,
and their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.facts.project.imports import names_of_modules
from precision_lint.model.regex import regex
from precision_lint.project import disk

if TYPE_CHECKING:
    from precision_lint.facts.project.imports import Imports
    from precision_lint.facts.project.records import Records
    from precision_lint.project.files import Project
    from precision_lint.source.python.examples import Example

LARGEST = 4 << 20
"""Bytes of a document; notebooks hold images."""

_MOST = 8
"""Documents that are asked about one name: their examples are much alike."""

_BFLOAT16 = regex(r"bfloat16|\bbf16\b", re.IGNORECASE)
_WORDS = (b"bfloat16", b"bf16", b"BF16", b"BFLOAT16")
_SHOWING = (b">>>", b"```", b"~~~", b"code-block::", b"code::", b"nbformat")
_BUILT = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_NAME = regex(rb"[A-Za-z_]\w*")


class Documents:
    """The documents of a project with programs in bfloat16."""

    def __init__(self, project: Project, records: Records, imports: Imports) -> None:
        self._project = project
        self._records = records
        self._imports = imports
        self._programs: dict[Path, tuple[Example, ...]] = {}
        self._imported: dict[Path, frozenset[Path]] = {}

    def naming(self, path: Path, name: str) -> tuple[Path, ...]:
        """The documents with a program that a file is a part of, and that names `name`."""
        named = self._by_word.get(name, ())
        if not named:
            return ()
        above = self._imports.above(path)
        running = (each for each in named if not above.isdisjoint(self._imported_by(each)))
        return tuple(islice(running, _MOST))

    def programs(self, path: Path) -> tuple[Example, ...]:
        """The programs in bfloat16 that a document shows."""
        if path not in self._programs:
            try:
                content = disk.read(path, LARGEST)
            except OSError:
                content = b""
            self._programs[path] = tuple(programs_in(path, content))
        return self._programs[path]

    def _imported_by(self, path: Path) -> frozenset[Path]:
        """The files of its project that the programs of a document import.

        A checkout of another project imports that one, and not what has the same name here.
        """
        if path not in self._imported:
            modules = self._records.of("shown", path).partition("\n")[0].split()
            located = (self._imports.locate(path.parent, name) for name in modules)
            home = self._home(path)
            own = {each for each in located if each is not None and each.is_relative_to(home)}
            self._imported[path] = frozenset().union(*map(self._imports.handed_on, own))
        return self._imported[path]

    def _home(self, path: Path) -> Path:
        """The folder of the project that a document belongs to: the nearest one that is built."""
        root = self._project.root
        around = (folder for folder in path.parents if folder.is_relative_to(root))
        return next((each for each in around if not _BUILT.isdisjoint(disk.names_in(each))), root)

    @cached_property
    def _by_word(self) -> Mapping[str, Sequence[Path]]:
        """The documents by the words of their programs, those nearest to the root first."""
        found: dict[str, list[Path]] = {}
        own = (path for path in self._candidates if not self._project.is_secondary(path))
        for path in sorted(own, key=lambda path: (len(path.parts), str(path))):
            for word in self._records.of("shown", path).partition("\n")[2].split():
                found.setdefault(word, []).append(path)
        return found

    @property
    def _candidates(self) -> Iterator[Path]:
        yield from self._project.pages
        for path in self._project.files:
            if path.suffix == ".ipynb" or (
                path.suffix == ".py" and self._records.of("evidence", path)
            ):
                yield path


def programs_in(path: Path, content: bytes) -> Iterator[Example]:
    """The programs in bfloat16 that some bytes show."""
    if not all(any(word in content for word in words) for words in (_WORDS, _SHOWING)):
        return
    from precision_lint.source.python.examples import examples
    from precision_lint.source.text.text import SourceText

    try:
        text = SourceText.from_bytes(path, content)
    except (UnicodeDecodeError, LookupError):
        return
    yield from examples(text, _BFLOAT16)


def words_shown(path: Path, content: bytes, argument: str = "") -> str:
    """The record of a document: the modules that its programs import, and all of their words."""
    modules: set[str] = set()
    words: set[bytes] = set()
    for example in programs_in(path, content):
        code = example.text.text.encode("utf-8", "replace")
        modules.update(names_of_modules(path, code).split("\n"))
        words.update(_NAME.findall(code))
    if not words:
        return ""
    return " ".join(sorted(modules)) + "\n" + b" ".join(sorted(words)).decode("ascii", "ignore")
