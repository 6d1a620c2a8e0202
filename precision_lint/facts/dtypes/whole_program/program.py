"""The Python files of the project that a file reads from: imports followed, callers found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module, module_of
from precision_lint.model.frozen import frozen

_REEXPORTS = 8
"""How many modules a name may be handed through."""


@frozen
class Found:
    """What a name leads to: a definition, a name that the top level assigns; None: the module."""

    module: Module
    definition: Function | Class | str | None


_MOST_DEFINED = 6
"""Files that define a function, or assign an attribute, of one name; of more, it says nothing."""

_MOST_CALLING = 24
"""Files that call a method of one name."""

_MOST_MODULES = 96
"""Files that are read for the sake of one; what lies farther is unknown."""


class Program:
    """What one linted file sees of its project; files are parsed when a name leads there.

    It asks each question once: what it asked is noted for the file as long as it lives.
    """

    def __init__(self, file: PythonFile) -> None:
        self.project = file.project
        self.main = module_of(file)
        self._found: dict[tuple[Module, str], Found | None] = {}
        self._modules: dict[Path, Module | None] = {file.text.path: self.main}
        self._located: dict[tuple[Path, str], Path | None] = {}
        self._linked: dict[Path, bool] = {}
        self._importing: dict[tuple[Path, str], list[Path]] = {}
        self._offered: dict[tuple[Path, str], bool] = {}
        self._changing: dict[tuple[str, str], list[Path]] = {}

    def module(self, path: Path) -> Module | None:
        """The module at a path; None if it cannot be read."""
        if path not in self._modules:
            if len(self._modules) > _MOST_MODULES:
                return None
            parsed = self.project.module(path)
            self._modules[path] = None if parsed is None else module_of(parsed)
        return self._modules[path]

    def imported(self, module: Module, name: str) -> Module | None:
        """The project's module that an import in `module` names; relative names keep their dots."""
        path = self._locate(module, name)
        return None if path is None else self.module(path)

    def _locate(self, module: Module, name: str) -> Path | None:
        key = (module.file.text.path, name)
        if key not in self._located:
            self._located[key] = self.project.locate(*key)
        return self._located[key]

    def find(self, module: Module, name: str, hops: int = _REEXPORTS) -> Found | None:
        """What a qualified name, as imported by `module`, means in the project.

        None for what other packages define, and for what is made at run time.
        """
        key = (module, name)
        if key not in self._found:
            self._found[key] = self._find(module, name, hops)
        return self._found[key]

    def _find(self, module: Module, name: str, hops: int) -> Found | None:
        stripped = name.lstrip(".")
        dots = name[: len(name) - len(stripped)]
        parts = stripped.split(".") if stripped else []
        for count in range(len(parts), -1 if dots else 0, -1):
            target = self.imported(module, dots + ".".join(parts[:count]))
            if target is not None:
                handed_on = None
                if count == len(parts) > 0 and parts[-1] in target.top:
                    handed_on = self._handed_on(
                        module, dots + ".".join(parts[:-1]), parts[-1], hops
                    )
                return handed_on or self._member(target, parts[count:], hops)
        return None

    def _handed_on(self, module: Module, package: str, name: str, hops: int) -> Found | None:
        """What a package that says `from .name import name` gives in place of its module `name`."""
        holder = self.imported(module, package)
        if holder is None or holder is module:
            return None
        found = self.name(holder, name, hops - 1) if hops else None
        return found if found is not None and found.definition is not None else None

    def _member(self, module: Module, names: list[str], hops: int) -> Found | None:
        match names:
            case []:
                return Found(module, None)
            case [name]:
                return self.name(module, name, hops)
            case [name, attribute]:
                owner = self.name(module, name, hops)
                if owner is not None and isinstance(owner.definition, Class):
                    method = owner.definition.methods.get(attribute)
                    return None if method is None else Found(owner.module, method)
        return None

    def name(self, module: Module, name: str, hops: int = _REEXPORTS) -> Found | None:
        """What a global name of a module means: a definition, an assigned name, a module."""
        if name in module.top:
            return Found(module, module.top[name])
        if name in module.assignments:
            return Found(module, name)
        if hops == 0:
            return None
        if name in module.imports:
            return self.find(module, module.imports[name], hops - 1)
        for star in module.star_imports if self._may_get(module, name) else ():
            target = self._offering(module, star, name)
            if target is not None and target is not module:
                found = self.name(target, name, hops - 1)
                if found is not None:
                    return found
        return None

    def _may_get(self, module: Module, name: str) -> bool:
        """True if a module may get a name by `import *`: it is asked once, however many it has."""
        return module is self.main or self._offers(module.file.text.path, name)

    def _offers(self, path: Path, name: str) -> bool:
        key = (path, name)
        if key not in self._offered:
            self._offered[key] = self.project.offers(path, name)
        return self._offered[key]

    def _offering(self, module: Module, star: str, name: str) -> Module | None:
        """The module that `import *` is from; None if it cannot give the name."""
        path = self._locate(module, star)
        return self.module(path) if path is not None and self._offers(path, name) else None

    # The files of the programs that the linted file is a part of

    def calling(self, method: str) -> Iterator[Module | None]:
        """The modules that call a method of a name which one file alone defines."""
        paths = self.project.calling(method)
        if len(paths) <= _MOST_CALLING and len(self.project.defining(method)) <= _MOST_DEFINED:
            for path in filter(self._runs_with, paths):
                yield self.module(path)

    def defining(self, function: str) -> Iterator[Module]:
        """The modules that define a function of a name that few files define."""
        return self._few(self.project.defining(function))

    def assigning(self, attribute: str) -> Iterator[Module]:
        """The modules that assign an attribute of an object that is not `self`."""
        return self._few(self.project.assigning(attribute))

    def adding(self, attribute: str) -> Iterator[Module]:
        """The modules that put an item into an attribute of an object that is not `self`."""
        name = attribute.encode()
        # A pattern that begins with letters is found much faster than one with a condition first.
        pattern = rb"\.%s\.append\((?<!\bself\.%s\.append\()" % (name, name)
        return self._few(self.project.python_sources_matching(pattern))

    def reading(self, attribute: str) -> Iterator[Module]:
        """The modules that read or assign an attribute of `self`."""
        pattern = rb"self\.%s\b" % attribute.encode()
        return self._few(self.project.python_sources_matching(pattern))

    def casting(self, attribute: str) -> Iterator[Module]:
        """The modules that cast an attribute of an object that is not `self`."""
        return self._few(self.project.casting(attribute))

    def is_assigned_from_outside(self, attribute: str) -> bool:
        """True if a file that runs with this one assigns it of what is not `self`."""
        return bool(self._outside("assigning", attribute))

    def is_cast_from_outside(self, attribute: str) -> bool:
        """True if a file that runs with this one casts it in place, of what is not `self`."""
        return bool(self._outside("casting", attribute))

    def _outside(self, how: Literal["assigning", "casting"], attribute: str) -> list[Path]:
        """The files that run with this one and assign an attribute of what is not `self`."""
        key = (how, attribute)
        if key not in self._changing:
            ask = self.project.assigning if how == "assigning" else self.project.casting
            self._changing[key] = [*filter(self._runs_with, ask(attribute))]
        return self._changing[key]

    def importers(self, module: Module, name: str) -> Iterator[Module | None]:
        """The other modules that import `name` from a module; None for one too many."""
        yield from map(self.module, self._importers(module, name))

    def handing(self, module: Module, name: str) -> Iterator[Module]:
        """The other modules that import `name` from a module, and may give it to a call."""
        for path in self._importers(module, name):
            if self.project.may_hand(path, name):
                yield from filter(None, (self.module(path),))

    def _importers(self, module: Module, name: str) -> list[Path]:
        key = (module.file.text.path, name)
        if key not in self._importing:
            found = dict.fromkeys(self.project.importing(*key))
            for package in [path for path in found if path.stem == "__init__"]:
                found |= dict.fromkeys(self.project.importing(package, name))  # `import *` of it
            self._importing[key] = [*filter(self._runs_with, found)]
        return self._importing[key]

    def holding(self, pattern: bytes) -> Iterator[Module]:
        """The modules that hold what a regular expression matches, if these are few."""
        paths = self.project.python_sources_matching(pattern)
        if len(paths) <= _MOST_DEFINED:
            yield from filter(None, map(self.module, paths))

    def showing(self, name: str) -> Iterator[Module]:
        """The programs of documents that name a function or class, as modules of their own."""
        for path in self.project.documents(self.main.file.text.path, name):
            for example in self.project.examples(path):
                if name in example.text.text:
                    yield module_of(example)

    def _few(self, paths: Sequence[Path]) -> Iterator[Module]:
        if len(paths) <= _MOST_DEFINED:
            yield from filter(None, map(self.module, filter(self._runs_with, paths)))

    def _runs_with(self, path: Path) -> bool:
        if path not in self._linked:
            self._linked[path] = self.project.runs_with(path, self.main.file.text.path)
        return self._linked[path]
