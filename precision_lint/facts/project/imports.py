"""Which Python files of a project import which, and what is done with a word in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from precision_lint.facts.project.module_files import ModuleFiles
from precision_lint.facts.project.reaching import MOST_LINKED, Numbers, Reaching
from precision_lint.facts.project.starred import Starred
from precision_lint.model.regex import regex
from precision_lint.model.trace import apart

if TYPE_CHECKING:
    from precision_lint.facts.project.records import Records
    from precision_lint.project.files import Project

# The end of the line before is searched for more than twice as fast as `^`; no match takes it.
_IMPORT = regex(rb"\n[ \t]*(?:from|import)[ \t]+([^\n#(]+(?:\([^)]{0,9999}\))?)")
_MODULES = regex(
    rb"\n[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]{0,9999}\)|[^\n]*)"
    rb"|import[ \t]+([\w., \t]+))"
)
_NAMED = regex(
    rb"\n[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import"
    rb"(?:[ \t]*\([\w\s,]*(?:#[^\n]*\n[\w\s,]*)*\)|[ \t]+[\w., \t]*)"
)
"""An import statement, of which nothing but names is taken: or all of it stands in a string."""
_USED = regex(
    rb"(def |self\.|\.)(\w+)"
    rb"(?:([(\[])|[ \t]*=(?!=)|(\.(?:bfloat16|half)\(|\.to\([^()\n]*(?:dtype|torch\.)))"
)
"""A word that is defined, called, assigned or cast: what leads to it, and what follows."""
_WORD = regex(rb"\w+")
_OF_TENSORS = (b"torch", b"tensor", b"model", b"lightning", b"accelerate", b"CfgNode")
"""A file that mentions none of them makes no tensors, and declares no settings of yacs."""


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
            for path in imported:
                if path not in self._known and len(self._found) < MOST_LINKED:
                    self._found.append(path)
                    self._known.add(path)
        return at < len(self._found)


class Imports:
    """Which file a module of a project is, and which files import it."""

    def __init__(self, project: Project, records: Records) -> None:
        self._project = project
        self._records = records
        self._files = ModuleFiles(project.root)
        self.locate = self._files.locate
        """The file of the module that a file in a folder calls by a name."""
        self.names_in = self._files.names_in
        """What is in a folder."""
        self._imported: dict[Path, tuple[Path, ...]] = {}
        self._numbers = Numbers()
        self.offers = Starred(records, self._files, self._numbers).offers
        """Whether `import *` from a file may give a name."""
        self._reached = Reaching(self._numbers, self._imports_of)
        self._reached_back = Reaching(self._numbers, self._imported_by)
        self._reached_by_modules = Reaching(self._numbers, self._modules_importing)
        self._reached_by_packages = Reaching(self._numbers, self._imports_of_package)
        self._linked: dict[Path, frozenset[int]] = {}
        self._above: dict[Path, frozenset[Path]] = {}
        self._users: dict[Path, frozenset[Path]] = {}
        self._programs: dict[Path, Program] = {}
        self._named: dict[str, frozenset[Path]] = {}
        self._importing: dict[tuple[Path, str], tuple[list[Path], Iterator[Path]]] = {}

    def trust(self, stored: Any, changed: Container[str]) -> None:
        """Files that did not change import what they did, if the names in folders are the same.

        Raises:
            TypeError, ValueError, KeyError, IndexError: that is not what `plain` gave.
        """
        names, rows = stored
        own = {str(path): path for path in self._project.files}
        paths = [own.get(name) or Path(name) for name in names]
        known = {
            paths[number]: tuple(paths[each] for each in imported)
            for number, *imported in rows
            if names[number] not in changed
        }
        self._imported.update(known)

    def plain(self) -> list[Any]:
        """What files import, as far as somebody asked: with a number for each path."""
        numbers: dict[Path, int] = {}
        rows = [
            [numbers.setdefault(path, len(numbers)) for path in (importer, *imported)]
            for importer, imported in self._imported.items()
        ]
        return [[*map(str, numbers)], rows]

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
        stem = _stem(path)
        is_test = self._project.is_test
        tests_count = is_test(path)
        importers = {*self._importers.get(stem, ()), *self._importers.get(name, ())}
        for candidate in _in_order(importers):
            if candidate == path or (is_test(candidate) and not tests_count):
                continue
            if self._records.of("has word", candidate, name):
                yield candidate

    def are_linked(self, other: Path, path: Path) -> bool:
        """True if one of the programs that a Python file is a part of contains another one.

        These are the files that import it, by others or by themselves, and what all of them import.
        """
        if path not in self._linked:
            above = self._reached_back({self._numbers.of(path)})
            self._linked[path] = frozenset(self._reached(above))
        return self._numbers.of(other) in self._linked[path]

    def above(self, path: Path) -> frozenset[Path]:
        """A Python file, and those that import it, by others or by themselves."""
        if path not in self._above:
            found = self._reached_back({self._numbers.of(path)})
            self._above[path] = frozenset(self._numbers.paths[number] for number in found)
        return self._above[path]

    def below(self, path: Path) -> frozenset[Path]:
        """A Python file, and those that run where it is imported: packages around them, too."""
        found = self._reached({self._numbers.of(path)})
        folders = {self._numbers.paths[number].parent for number in found}
        packages = (each / "__init__.py" for folder in folders for each in self._packages(folder))
        found = self._reached({*found, *map(self._numbers.of, packages)})
        return frozenset(self._numbers.paths[number] for number in found)

    def _packages(self, folder: Path) -> Iterator[Path]:
        """A folder and those around it, as far as they are packages."""
        while folder != self._project.root and "__init__.py" in self.names_in(folder):
            yield folder
            folder = folder.parent

    def handed_on(self, path: Path) -> frozenset[Path]:
        """A Python file; of a package, also the files that it imports to hand their names on."""
        found = self._reached_by_packages({self._numbers.of(path)})
        return frozenset(self._numbers.paths[number] for number in found)

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
            own = self._numbers.of(path)
            found = self._reached_by_modules({own}) - {own}
            self._users[path] = frozenset(self._numbers.paths[number] for number in found)
        return self._users[path]

    def _imports_of_package(self, path: Path) -> Iterable[Path]:
        return self._imports_of(path) if path.stem == "__init__" else ()

    def _modules_importing(self, path: Path) -> Iterator[Path]:
        return (each for each in self._imported_by(path) if each.stem != "__init__")

    def is_imported(self, path: Path) -> bool:
        """True if a file of the project, but for tests, imports a file."""
        return any(each != path for each in self._imported_by(path))

    def importers(self, path: Path) -> list[Path]:
        """The other Python files, but for tests, that import a file by themselves."""
        return [each for each in self._imported_by(path) if each != path]

    def _imported_by(self, path: Path) -> Iterator[Path]:
        words = self._naming(_stem(path))
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
        for candidate in _in_order(set().union(*self._importers.values())):
            if not self._project.is_test(candidate):
                for path in self._imports_of(candidate):
                    found.setdefault(path, []).append(candidate)
        return found

    def _imports_of(self, path: Path) -> tuple[Path, ...]:
        """The files of the project that a file imports, by its import statements, in path order."""
        if path not in self._imported:
            folder = str(path.parent)
            found = (self._files.located(folder, name) for name in self.own_names(path))
            self._imported[path] = tuple(_in_order(filter(None, set(found))))
        return self._imported[path]

    def own_names(self, path: Path) -> list[str]:
        """The names in the imports of a file that may be modules of the project."""
        return [*filter(self._may_be_own, self._records.of("modules", path).split("\n"))]

    def _may_be_own(self, name: str) -> bool:
        """False for a module of another project: no file or folder of this one has its name."""
        return name.startswith(".") or name.partition(".")[0] in self._roots

    @cached_property
    def _roots(self) -> frozenset[str]:
        """The names that a module of the project may start with."""
        files = {path.stem for path in self._project.python_files}
        return frozenset(files.union(*(path.parts for path in self.folders)))

    @cached_property
    def folders(self) -> frozenset[Path]:
        """The folders with Python files, relative to the root."""
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
        """The Python files that may pass tensors on.

        They name them, import files of the project, or are imported by one that names them.
        """
        files = self._project.python_files
        self._files.share(files)
        naming = {path for path in files if self._names_tensors(path)}
        imported = {word for path in naming for word in self._words_of_imports(path)}
        return [
            path
            for path in files
            if path in naming
            or _stem(path) in imported
            or any(map(self._may_be_own, self._records.of("modules", path).split("\n")))
        ]

    def _names_tensors(self, path: Path) -> bool:
        return not self._records.of("imports", path).startswith(NO_TENSORS)

    def _words_of_imports(self, path: Path) -> list[str]:
        return self._records.of("imports", path).removeprefix(NO_TENSORS).split("\n")

    @cached_property
    def _importers(self) -> Mapping[str, Sequence[Path]]:
        """For each word of an import statement, the files with an import that contains it."""
        found: dict[str, list[Path]] = {}
        for path in self.of_tensors:
            for word in self._words_of_imports(path):
                found.setdefault(word, []).append(path)
        found.pop("", None)
        return found


def _stem(path: Path) -> str:
    """The last name of a module or package."""
    return path.parent.name if path.stem == "__init__" else path.stem


NO_TENSORS = "-"


def names_tensors(content: bytes) -> bool:
    """True if a Python file mentions what makes tensors."""
    return any(word in content for word in _OF_TENSORS)


def words_of_imports(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the words in the imports of a Python file, marked if it makes no tensors."""
    words = {word for line in _IMPORT.findall(b"\n" + content) for word in _WORD.findall(line)}
    mark = "" if names_tensors(content) else NO_TENSORS
    return mark + b"\n".join(sorted(words)).decode("ascii")


def names_of_modules(path: Path, content: bytes, argument: str = "") -> str:
    """The record of the modules that a Python file imports."""
    names = {name for match in _MODULES.finditer(b"\n" + content) for name in _named(match)}
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


def may_hand(path: Path, content: bytes, argument: str) -> str:
    """The record of whether a file may give what has a name to a call: `loop(xs, name)`."""
    given = re.compile(rb"%b(?:\s|\\\n|#[^\n]*\n)*[,)]" % re.escape(argument.encode()))
    # Removing the imports takes longer, and most files end before it.
    is_given = given.search(content) and given.search(_NAMED.sub(b"", b"\n" + content))
    return "1" if is_given else ""


def _in_order(paths: Iterable[Path]) -> list[Path]:
    """The paths in their order; comparing them one by one takes many times as long."""
    return sorted(paths, key=lambda path: path.parts)


def _named(statement: re.Match[bytes]) -> Iterator[str]:
    """The modules that an import statement may mean: `a.b` and `a.b.c` of `from a.b import c`."""
    module, names, plain = (part.decode("ascii", "ignore") for part in statement.groups(b""))
    for name in plain.split(","):
        yield name.split(" as ")[0].strip()
    if module:
        yield module
        for word in re.findall(r"\w+", re.sub(r"\bas\s+\w+|#.*", "", names)):
            yield module + word if module.endswith(".") else f"{module}.{word}"
