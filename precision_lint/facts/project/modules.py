"""The Python files of a project: parsed once, found by import, and by what they import."""

from __future__ import annotations

import gc
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from precision_lint.model.trace import apart
from precision_lint.project import disk

if TYPE_CHECKING:
    from precision_lint.facts.project.records import Records
    from precision_lint.project.files import Project
    from precision_lint.source.python.parse import ParsedPython
    from precision_lint.source.text.errors import Unparsable
    from precision_lint.source.text.text import SourceText

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([^\n#(]+(?:\([^)]{0,9999}\))?)", re.MULTILINE)
_MODULES = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]{0,9999}\)|[^\n]*)"
    rb"|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_USED = re.compile(
    rb"(def |self\.|\.)(\w+)"
    rb"(?:([(\[])|[ \t]*=(?!=)|(\.(?:bfloat16|half)\(|\.to\([^()\n]*(?:dtype|torch\.)))"
)
"""A word that is defined, called, assigned or cast: what leads to it, and what follows."""
_WORD = re.compile(rb"\w+")
_OF_TENSORS = (b"torch", b"tensor", b"model", b"lightning", b"accelerate", b"CfgNode")
"""A file that mentions none of them passes no tensors, and declares no settings of yacs."""

LARGEST = 1_000_000
"""Bytes; larger Python files are generated tables and not useful."""

_DEEPEST = 100
"""Parts of a dotted name; no package is nested as deep, and each part is a folder to look into."""

_KEPT = 5_000_000
"""Characters of the files whose trees are kept; a tree takes thirty times as many bytes."""

_MOST_DROPPED = 50_000_000
"""Characters of the files whose trees are dropped before garbage is collected."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What parsing a text gave: a file, or why there is none."""

    text: SourceText
    parsed: ParsedPython | None
    problem: Unparsable | None

    @property
    def size(self) -> int:
        return len(self.text.text)


class ParsedModules:
    """The Python files that were parsed last: whoever asks for one gets the same tree.

    A run over more than `_KEPT` characters may parse a file again, and holds no more trees.
    """

    def __init__(self) -> None:
        self._read: OrderedDict[Path, _Read] = OrderedDict()
        self._size = 0
        self._dropped: WeakSet[ParsedPython] = WeakSet()
        """The files whose trees are no longer kept; the file being checked may still use them."""
        self._uncollected = 0
        """Characters of the files whose trees were dropped since garbage was collected."""
        self._lock = Lock()

    def parse(self, text: SourceText, *, is_on_disk: bool) -> ParsedPython:
        """Parse a text, unless that was done; it is kept for others if it is what is on the disk.

        Raises:
            Unparsable: see `parse_python`.
        """
        read = self._kept(text.path)
        if read is None or read.text != text:
            read = _parsed(text)
            if is_on_disk:
                self._keep(read)
        return _given(read)

    def read(self, path: Path) -> ParsedPython:
        """The file on the disk.

        Raises:
            OSError, UnicodeError, LookupError: it cannot be read, or is no text.
            Unparsable: see `parse_python`.
        """
        read = self._kept(path)
        if read is None:
            from precision_lint.source.text.text import decode_python

            read = _parsed(decode_python(path, disk.read(path, disk.ANY_SIZE)))
            self._keep(read)
        return _given(read)

    def at(self, path: Path, largest: int = LARGEST) -> ParsedPython | None:
        """The file on the disk; None if it cannot be parsed, or has more than `largest` bytes."""
        from precision_lint.source.text.errors import Unparsable

        try:
            return self.read(path) if disk.size(path) <= largest else None
        except (OSError, UnicodeError, LookupError, Unparsable):
            return None

    def free_dropped(self) -> None:
        """Free the trees that were dropped: nobody uses them from now on.

        Some of their nodes may be a part of cycles, which are looked for after many of them.
        """
        with self._lock:
            dropped, self._dropped = self._dropped, WeakSet()
        for parsed in dropped:
            parsed.forget()
        if self._uncollected > _MOST_DROPPED:
            gc.collect()
            self._uncollected = 0

    def _kept(self, path: Path) -> _Read | None:
        with self._lock:
            if path in self._read:
                self._read.move_to_end(path)
            return self._read.get(path)

    def _keep(self, read: _Read) -> None:
        if read.size > LARGEST:
            return
        with self._lock:
            replaced = self._read.pop(read.text.path, None)
            self._read[read.text.path] = read
            self._size += read.size - (replaced.size if replaced else 0)
            while self._size > _KEPT:
                dropped = self._read.popitem(last=False)[1]
                self._size -= dropped.size
                self._uncollected += dropped.size
                if dropped.parsed is not None:
                    self._dropped.add(dropped.parsed)


def _parsed(text: SourceText) -> _Read:
    from precision_lint.source.python.parse import parse_python
    from precision_lint.source.text.errors import Unparsable

    try:
        return _Read(text, parse_python(text), None)
    except Unparsable as problem:
        return _Read(text, None, problem)


def _given(read: _Read) -> ParsedPython:
    if read.parsed is not None:
        return read.parsed
    assert read.problem is not None
    raise read.problem


class Program(Iterable[Path]):
    """A Python file and those of the project that it imports, nearest first.

    Imports are followed only as far as somebody asks: most searches end near the start.
    """

    def __init__(self, path: Path, imports_of: Callable[[Path], Iterable[Path]]) -> None:
        self._found = [path]
        self._known = {path}
        self._followed = 0
        self._imports_of = imports_of

    def __iter__(self) -> Iterator[Path]:
        at = 0
        while self._reaches(at):
            yield self._found[at]
            at += 1

    def __repr__(self) -> str:
        """All of the files: what a stored result depends on."""
        return repr(tuple(self))

    def _reaches(self, at: int) -> bool:
        """Follows imports until the file at an index is known; False if there is none."""
        while at >= len(self._found) and self._followed < len(self._found):
            # Who goes through the files asked for the program, and for nothing else.
            imported = apart(lambda: self._imports_of(self._found[self._followed]))
            self._followed += 1
            for path in sorted(one for one in imported if one not in self._known):
                if len(self._found) < _MOST_LINKED:
                    self._found.append(path)
                    self._known.add(path)
        return at < len(self._found)


class Imports:
    """Which file a module of a project is, and which files import it."""

    def __init__(self, project: Project, records: Records) -> None:
        self._project = project
        self._records = records
        self._located: dict[tuple[Path, str], Path | None] = {}
        self._imported: dict[Path, frozenset[Path]] = {}
        self._linked: dict[Path, frozenset[Path]] = {}
        self._users: dict[Path, frozenset[Path]] = {}
        self._programs: dict[Path, Program] = {}
        self._named: dict[str, frozenset[Path]] = {}
        self._listed: dict[Path, frozenset[str]] = {}
        self._importing: dict[tuple[Path, str], tuple[list[Path], Iterator[Path]]] = {}

    def locate(self, folder: Path, name: str) -> Path | None:
        """The file of the module that a file in `folder` calls `name`; relative names have dots.

        An absolute name is searched in the folders from the importer's own up to the project
        root, which covers scripts, packages and `src` layouts.
        """
        key = (folder, name)
        if key not in self._located:
            self._located[key] = self._locate(folder, name)
        return self._located[key]

    def _locate(self, folder: Path, name: str) -> Path | None:
        stripped = name.lstrip(".")
        parts = stripped.split(".") if stripped else []
        if len(parts) > _DEEPEST:
            return None
        dots = len(name) - len(stripped)
        root = self._project.root
        if dots:
            for _ in range(dots - 1):
                folder = folder.parent
            return self._module_file(folder.joinpath(*parts))
        folders = [folder, *folder.parents] if folder.is_relative_to(root) else [folder]
        for base in folders:
            if (found := self._module_file(base.joinpath(*parts))) is not None:
                return found
            if base == root:
                break
        return self._module_file(root.joinpath("src", *parts))

    def _module_file(self, path: Path) -> Path | None:
        """`a/b.py` or `a/b/__init__.py` for the path `a/b`."""
        names = self._names_in(path.parent)
        if path.name and f"{path.name}.py" in names:
            return path.with_name(f"{path.name}.py")
        is_package = path.name in names and "__init__.py" in self._names_in(path)
        return path / "__init__.py" if is_package else None

    def _names_in(self, folder: Path) -> frozenset[str]:
        """What a folder contains; nothing if it cannot be read.

        Most names are those of libraries: the folder above says that there is no such folder.
        """
        if folder not in self._listed:
            is_there = folder == self._project.root or (
                self._project.root not in folder.parents
                or folder.name in self._names_in(folder.parent)
            )
            self._listed[folder] = disk.names_in(folder) if is_there else frozenset()
        return self._listed[folder]

    def importer(self, path: Path, name: str, number: int) -> Path | None:
        """One of the files that `importing` gives; None if there are not so many."""
        key = (path, name)
        if key not in self._importing:
            self._importing[key] = [], self.importing(path, name)
        found, more = self._importing[key]
        while len(found) <= number and (one := next(more, None)) is not None:
            found.append(one)
        return found[number] if number < len(found) else None

    def importing(self, path: Path, name: str) -> Iterator[Path]:
        """The other Python files that name `name` and import the module at `path`, in path order.

        Files that import `name` from a package count as well: it may hand it on.
        Tests speak for themselves alone: what they hand over is no use that was meant.
        """
        stem = path.parent.name if path.stem == "__init__" else path.stem
        is_test = self._project.is_test
        tests_count = is_test(path)
        importers = {*self._importers.get(stem, ()), *self._importers.get(name, ())}
        for candidate in sorted(importers):
            if candidate == path or (is_test(candidate) and not tests_count):
                continue
            if self._records.of("has word", candidate, name):
                yield candidate

    def linked(self, path: Path) -> frozenset[Path]:
        """The Python files of the programs that a file is a part of.

        These are the files that import it, by others or by themselves, and what all of them import.
        """
        if path not in self._linked:
            above = _reached({path}, self._imported_by)
            self._linked[path] = frozenset(_reached(above, self._imports_of))
        return self._linked[path]

    def program(self, path: Path) -> Program:
        """A Python file and those of the project that it imports, nearest first."""
        if path not in self._programs:
            self._programs[path] = Program(path, self._imports_of)
        return self._programs[path]

    def users(self, path: Path) -> frozenset[Path]:
        """The Python files that import a file, by others or by themselves.

        A package that imports all that it contains is no user of it, and no way to another.
        """
        if path not in self._users:
            self._users[path] = frozenset(_reached({path}, self._modules_importing) - {path})
        return self._users[path]

    def _modules_importing(self, path: Path) -> Iterator[Path]:
        return (each for each in self._imported_by(path) if each.stem != "__init__")

    def is_imported(self, path: Path) -> bool:
        """True if a file of the project, but for tests, imports a file."""
        return any(each != path for each in self._imported_by(path))

    def _imported_by(self, path: Path) -> Iterator[Path]:
        stem = path.parent.name if path.stem == "__init__" else path.stem
        words = self._naming(stem)
        return (each for each in self._importers_of.get(path, ()) if each in words)

    def _naming(self, word: str) -> frozenset[Path]:
        """The files with an import that contains a word."""
        if word not in self._named:
            self._named[word] = frozenset(self._importers.get(word, ()))
        return self._named[word]

    @cached_property
    def _importers_of(self) -> Mapping[Path, Sequence[Path]]:
        """For each file, those that import it, but for tests."""
        found: dict[Path, list[Path]] = {}
        for candidate in sorted(set().union(*self._importers.values())):
            if not self._project.is_test(candidate):
                for path in self._imports_of(candidate):
                    found.setdefault(path, []).append(candidate)
        return found

    def _imports_of(self, path: Path) -> frozenset[Path]:
        """The files of the project that a file imports, by what its import statements say."""
        if path not in self._imported:
            names = self._records.of("modules", path).split("\n")
            own = (name for name in names if self._may_be_own(name))
            found = (self.locate(path.parent, name) for name in own)
            self._imported[path] = frozenset(filter(None, found))
        return self._imported[path]

    def _may_be_own(self, name: str) -> bool:
        """False for a module of another project: no file or folder of this one has its name."""
        return name.startswith(".") or name.partition(".")[0] in self._roots

    @cached_property
    def _roots(self) -> frozenset[str]:
        """The names that a module of the project may start with."""
        files = {path.stem for path in self._project.python_files}
        return frozenset(files.union(*(path.parts for path in self._folders)))

    @cached_property
    def _folders(self) -> frozenset[Path]:
        root = self._project.root
        return frozenset(path.parent.relative_to(root) for path in self._project.python_files)

    def assigning(self, attribute: str) -> Sequence[Path]:
        """The Python files, but for tests, that assign an attribute of what is not `self`."""
        return self._words["="].get(attribute, ())

    def casting(self, attribute: str) -> Sequence[Path]:
        """The Python files, but for tests, that cast an attribute of what is not `self`."""
        return self._words["c"].get(attribute, ())

    def calling(self, method: str) -> Sequence[Path]:
        """The Python files, but for tests, that call a method of this name."""
        return self._words["("].get(method, ())

    def defining(self, function: str) -> Sequence[Path]:
        """The Python files, but for tests, that define a function of this name."""
        return self._words["d"].get(function, ())

    @cached_property
    def _words(self) -> Mapping[str, Mapping[str, Sequence[Path]]]:
        """The files, but for tests, by what is done with a word in them, and by the word."""
        found: dict[str, dict[str, list[Path]]] = {"d": {}, "(": {}, "=": {}, "c": {}}
        for path in self.of_tensors:
            if not self._project.is_test(path):
                for line in self._records.of("words", path).split("\n"):
                    if line:
                        found[line[0]].setdefault(line[1:], []).append(path)
        return found

    @cached_property
    def of_tensors(self) -> Sequence[Path]:
        """The Python files that may pass tensors."""
        files = self._project.python_files
        return [path for path in files if self._records.of("imports", path) != NO_TENSORS]

    @cached_property
    def _importers(self) -> Mapping[str, Sequence[Path]]:
        """For each word of an import statement, the files with an import that contains it."""
        found: dict[str, list[Path]] = {}
        for path in self.of_tensors:
            for word in self._records.of("imports", path).split("\n"):
                found.setdefault(word, []).append(path)
        found.pop("", None)
        return found


NO_TENSORS = "-"


def words_of_imports(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the words in the imports of a Python file, if it may pass tensors."""
    if not any(word in content for word in _OF_TENSORS):
        return NO_TENSORS
    words = {word for line in _IMPORT.findall(content) for word in _WORD.findall(line)}
    return b"\n".join(sorted(words)).decode("ascii")


def names_of_modules(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the modules that a Python file imports."""
    names = {name for match in _MODULES.finditer(content) for name in _named(match)}
    return "\n".join(sorted(names))


def words_in_use(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the words that a Python file defines, calls, assigns and casts."""
    found = set()
    for lead, word, bracket, cast in set(_USED.findall(content)):
        match lead, bracket, cast:
            case b"def ", _, _:
                found.add(b"d" + word)
            case _, b"(", _:
                found.add(b"(" + word)
            case b".", b"", b"":
                found.add(b"=" + word)
            case b".", b"", _:
                found.add(b"c" + word)
    return b"\n".join(sorted(found)).decode("ascii")


def has_word(path: Path, content: bytes, argument: str) -> str:
    """The record of whether a file contains a word."""
    text = argument.encode()
    # The plain search first: it is many times faster, and most files end there.
    is_there = text in content and re.search(rb"\b%b\b" % text, content) is not None
    return "1" if is_there else ""


def _reached(start: Iterable[Path], following: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """The files that are reached from some, themselves included."""
    found = set(start)
    pending = sorted(found)
    while pending and len(found) < _MOST_LINKED:
        new = set(following(pending.pop())) - found
        found |= new
        pending += sorted(new)
    return found


_MOST_LINKED = 2_000


def _named(statement: re.Match[bytes]) -> Iterator[str]:
    """The modules that an import statement may mean: `a.b` and `a.b.c` of `from a.b import c`."""
    module, names, plain = (part.decode("ascii", "ignore") for part in statement.groups(b""))
    for name in plain.split(","):
        yield name.split(" as ")[0].strip()
    if module:
        yield module
        for word in re.findall(r"\w+", re.sub(r"\bas\s+\w+|#.*", "", names)):
            yield module + word if module.endswith(".") else f"{module}.{word}"
