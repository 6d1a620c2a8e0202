"""Modules whose import raises, and those that only such modules and programs lead to.

A program that imports one of them at its top level stops there, whatever its options are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from precision_lint.facts.project.imports import Imports
from precision_lint.facts.project.missing import MissingImports, certain_imports
from precision_lint.facts.project.records import Records
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.project.files import Project
from precision_lint.source.python.imports import Import, base_of
from precision_lint.source.python.parse import ParsedPython

_MOST = 400
"""Files that a file imports by others; a larger project has somebody who runs it."""


@frozen
class Stop:
    """Where a file stops, whenever it is imported or started."""

    end: int
    """What comes after this offset does not run."""
    related: Related
    """The import that raises, there or in a module that is imported, and why."""


class Stopping:
    """The files of a project that stop at their imports."""

    def __init__(
        self,
        project: Project,
        imports: Imports,
        records: Records,
        parsed: Callable[[Path], ParsedPython | None],
        is_program: Callable[[Path], bool],
    ) -> None:
        self._project = project
        self._imports = imports
        self._parsed = parsed
        self._is_program = is_program
        self._examined: set[Path] = set()
        self._stops: dict[Path, Stop] = {}
        """Where files stop: those that miss something, and those that import them."""
        self._missing = MissingImports(project, imports, records, parsed, self.programs_with)

    def programs_with(self, path: Path) -> frozenset[Path]:
        """The programs that come to a file by imports, which may be the file itself."""
        return self._imports.above(path) & self._programs

    @cached_property
    def _programs(self) -> frozenset[Path]:
        return frozenset(filter(self._is_program, self._project.python_files))

    def of(self, path: Path) -> Stop | None:
        """Where a file stops; None if it may run to its end."""
        self._examine(path)
        return self._stops.get(path)

    def leading_to(self, path: Path) -> Stop | None:
        """Where a program stops that leads to a file, if all of them stop before; or None."""
        stops = [*map(self.of, sorted(self.programs_with(path)))]
        return stops[0] if stops and not self._comes_to(path) else None

    def _comes_to(self, path: Path) -> bool:
        """True if a program imports a file, by modules that do not stop or by itself."""
        pending, seen = [path], {path}
        while pending:
            each = pending.pop()
            if each in self._programs:
                return True
            new = set(self._imports.importers(each)).difference(seen, self._stops)
            seen |= new
            pending += new
        return False

    def _examine(self, path: Path) -> None:
        """Looks for what a file and all that it imports miss: those that import them stop, too."""
        pending: list[Path] = []
        below = self._imports.below(path)
        for each in sorted(below - self._examined) if len(below) <= _MOST else ():
            self._examined.add(each)
            missing = self._missing.in_file(each)
            if missing is not None and each not in self._stops:
                self._stops[each] = self._stop(each, missing.node, missing.why)
                pending.append(each)
        while pending:
            broken = pending.pop()
            for importer in self._importing(broken):
                if importer not in self._stops:
                    end = self._end_of_import(importer, broken)
                    if end is not None:
                        self._stops[importer] = Stop(end, self._stops[broken].related)
                        pending.append(importer)

    def _importing(self, broken: Path) -> Iterable[Path]:
        """The files that import one; of a package, also those that import what is in it."""
        yield from self._imports.importers(broken)
        if broken.stem == "__init__":
            for each in self._project.python_files:
                if each.is_relative_to(broken.parent) and each != broken:
                    importers = self._imports.importers(each)
                    yield from (one for one in importers if not one.is_relative_to(broken.parent))

    def _end_of_import(self, importer: Path, broken: Path) -> int | None:
        """The end of the statement by which a file certainly imports one that stops."""
        file = self._parsed(importer)
        if file is not None:
            for node in certain_imports(file.tree):
                for module in _modules(node):
                    if self._leads_to(importer, module, broken) and (
                        self._missing.is_own(importer, module)
                    ):
                        return file.span_of(node).end
        return None

    def _leads_to(self, importer: Path, module: str, broken: Path) -> bool:
        """True if a file imports one by a name, or a module in the package that it is."""
        found = self._imports.locate(importer.parent, module)
        if found == broken:
            return True
        is_inside = found is not None and found.is_relative_to(broken.parent)
        return broken.stem == "__init__" and is_inside

    def _stop(self, path: Path, node: Import, why: str) -> Stop:
        file = self._parsed(path)
        assert file is not None
        span = file.span_of(node)
        return Stop(span.end, Related(file.text.place(span), f"no run comes here: {why}"))


def _modules(node: Import) -> list[str]:
    """The modules that a statement imports: `a` and `a.b` of `from a import b`, if `a.b` is one."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = base_of(node)
    joiner = "" if base.endswith(".") else "."
    return [base, *(f"{base}{joiner}{alias.name}" for alias in node.names)]
