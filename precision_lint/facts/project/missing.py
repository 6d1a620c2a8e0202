"""Imports that certainly raise: the module, or the name in it, is part of the project and missing.

Somebody may still have what a checkout lacks: what git ignores, submodules, generated and compiled
modules, and what a page says how to get. Nothing is certain of those.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from precision_lint.facts.project.imports import Imports
from precision_lint.facts.project.records import Records
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.discovery import is_ignored
from precision_lint.project.files import Project
from precision_lint.source.python.imports import Import, base_of
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import is_leaving

_COMPILED = (".so", ".pyd", ".pyx", ".pyi", ".pyc", ".c", ".cpp", ".cu", ".proto", ".in")
_GENERATED = regex(r"_?version|\w+_pb2(?:_grpc)?|_?generated|_C")
_MAKING_NAMES = (
    r"(?m)\b(?:globals|locals|vars|setattr|exec)\(|__getattr__|__dict__|\bsys\.modules\b"
    r"|^[ \t]*from[^\n]*\bimport[ \t]*\(?[ \t]*\*"
)
"""How a module may get names that its text does not show."""
_FOUND_OTHERWISE = r"\bsys\.(?:modules\[|meta_path|path_hooks)|\b__path__\b|\bextend_path\("
"""How a program changes what import statements find."""
_SEARCHED = regex(rb"\bsys\.path\.\w+\(([^\n]*)|\bsys\.path\b[^\n]*=([^\n]*)|\bPYTHONPATH=(\S+)")
_TEXT = regex(rb"""["']([^"'\n]*)["']""")
_PARTS = regex(rb"\$\{?\w*[^/:]*|[\w.-]+|[~*]")


class Missing(NamedTuple):
    """An import statement that raises, and why."""

    node: Import
    why: str


def certain_imports(tree: ast.Module) -> Iterator[Import]:
    """The imports that run whenever a module is imported or started, in their order."""
    for node in tree.body:
        if isinstance(node, Import):
            yield node
        elif is_leaving(node):
            return


def folders_searched(content: bytes) -> str:
    """The record of the parts of paths that a file adds to where modules are looked for."""
    found: set[bytes] = set()
    for code, assigned, variable in _SEARCHED.findall(content):
        for text in [variable] if variable else _TEXT.findall(code or assigned):
            found.update(_PARTS.findall(text))
            if text.startswith((b"/", b"~")):
                found.add(b"/")
    return "\n".join(sorted(each.decode("latin-1") for each in found))


class MissingImports:
    """The imports of the files of a project that certainly raise."""

    def __init__(
        self,
        project: Project,
        imports: Imports,
        records: Records,
        parsed: Callable[[Path], ParsedPython | None],
        programs_with: Callable[[Path], frozenset[Path]],
    ) -> None:
        self._project = project
        self._imports = imports
        self._records = records
        self._parsed = parsed
        self._bases: dict[tuple[Path, str], Path | None] = {}
        self._programs_with = programs_with
        """The programs that come to a file by imports, which may be the file itself."""

    def in_file(self, path: Path) -> Missing | None:
        """The first import of a file that names what is not there."""
        if not self._may_miss(path) or (file := self._parsed(path)) is None:
            return None
        every = (self._of(node, path) for node in certain_imports(file.tree))
        first = next(filter(None, every), None)
        return None if first is None or self._finds_otherwise(path) else first

    def is_own(self, path: Path, name: str) -> bool:
        """True if a module that a file imports is of the project, and no library of this name.

        So it is if it is next to all programs that come to the file, or in the same package as the
        file, or if the file imports another module of the package that is there, or one that is
        next to the package. Without an `__init__.py`, some file has to import what is there.
        """
        if name.startswith("."):
            return True
        first, _, _ = name.partition(".")
        base = self._base(path, first)
        if base is None or first in sys.stdlib_module_names or self._project.version_of(first):
            return False
        if self._project.is_secondary(base / first / "__init__.py"):
            return False
        others = {
            each
            for each in self._imports.own_names(path)
            if each.startswith(f"{first}.") and self._imports.locate(path.parent, each) is not None
        }
        programs = self._programs_with(path)
        # Without an `__init__.py`, parts of a package may be elsewhere.
        is_regular = "__init__.py" in self._imports.names_in(base / first)
        if programs and all(each.parent == base for each in programs):
            is_module = f"{first}.py" in self._imports.names_in(base)
            return is_regular or is_module or bool(others) or self._is_used_beside(base, first)
        is_of_root = base in {self._project.root, self._project.root / "src"}
        is_inside = is_of_root and is_regular and path.is_relative_to(base / first)
        return (
            (is_inside and path not in programs)
            or bool(others - {name})
            or (is_regular and self._imports_from(base, first, path))
        )

    def _is_used_beside(self, base: Path, first: str) -> bool:
        """True if a file next to a package imports a module of it that is there."""
        names = self._imports.names_in(base / first)
        modules = (base / first / each for each in names if each.endswith(".py"))
        return any(
            importer.parent == base
            for module in modules
            for importer in self._imports.importers(module)
        )

    def _imports_from(self, base: Path, first: str, path: Path) -> bool:
        """True if a file in another folder imports a module that is next to a package."""
        return path.parent != base and any(
            own != first and self._base(path, own) == base
            for own in {each.partition(".")[0] for each in self._imports.own_names(path)}
            if own and not self._project.version_of(own)
        )

    def _may_miss(self, path: Path) -> bool:
        """False for most files: what they import is there. An import under `try` counts, too."""
        for name in self._imports.own_names(path):
            first, _, _ = name.partition(".")
            if first and self._base(path, first) is None:
                continue  # a library
            if self._imports.locate(path.parent, name) is None:
                module, last = _split(name)
                if self._lacks(module, last, path) if module else self._is_missing(name, path):
                    return True
        return False

    def _of(self, node: Import, path: Path) -> Missing | None:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
            names = []
        else:
            modules = [base_of(node)]
            names = [alias.name for alias in node.names if alias.name != "*"]
        for module in modules:
            if self._is_missing(module, path):
                return Missing(node, f"the project has no module `{module}`")
            for name in names:
                if self._lacks(module, name, path):
                    return Missing(node, f"`{module}` has no `{name}`")
        return None

    def _is_missing(self, module: str, path: Path) -> bool:
        """True if a module is certainly not there."""
        parts = _parts(module)
        if not parts or self._imports.locate(path.parent, module) is not None:
            return False
        folder = self._folder(module, path, parts[0])
        if folder is None:
            return False
        is_relative = module.startswith(".")
        for depth, part in enumerate(parts):
            names = self._imports.names_in(folder)
            if f"{part}.py" in names:
                return False  # a module, and no package
            if part not in names or not disk.is_folder(folder / part):
                # A file alone may be an excerpt of a project.
                own = path.name if folder == path.parent else ""
                is_package = any(each.endswith(".py") and each != own for each in names)
                return (
                    (is_relative or depth > 0)
                    and is_package
                    and self.is_own(path, module)
                    and self._is_nowhere(folder, parts[: depth + 1], module)
                )
            folder /= part
        return False

    def _lacks(self, module: str, name: str, path: Path) -> bool:
        """True if a module is there and has certainly no such name."""
        found = self._imports.locate(path.parent, module)
        parts = [*_parts(module), name]
        if found is None:  # a folder without `__init__.py`
            joiner = "" if module.endswith(".") else "."
            return len(parts) > 1 and self._is_missing(f"{module}{joiner}{name}", path)
        if self._imports.offers(found, name) or not self._is_without(found, name):
            return False
        if self._imports.assigning(name) or not self.is_own(path, module):
            return False
        alike = [] if module.startswith(".") else self._called(parts[:-1])
        if not all(self._is_without(each, name) for each in alike):
            return False
        return found.stem != "__init__" or self._is_nowhere(found.parent, parts, module)

    def _is_without(self, module: Path, name: str) -> bool:
        """True if the text of a module shows all of its names, and this one is none of them."""
        return not (
            self._records.of("has word", module, name)
            or self._records.of("matches", module, _MAKING_NAMES)
        )

    def _is_nowhere(self, folder: Path, parts: list[str], module: str) -> bool:
        """True if a module is not in a folder, and nothing says how it may come there.

        Some systems do not distinguish `UNet` and `unet`.
        """
        last = parts[-1]
        names = {each.lower() for each in self._imports.names_in(folder)}
        compiled = {each.partition(".")[0] for each in names if each.endswith(_COMPILED)}
        if _GENERATED.fullmatch(last) or last.lower() in {*names, *compiled}:
            return False
        root, path = self._project.root, folder / last
        return not (
            f"{last}.py".lower() in names
            or any(path.is_relative_to(root / each) for each in self._submodules)
            or (not module.startswith(".") and self._may_be_elsewhere(parts))
            or self._is_mentioned(parts)
            or is_ignored(path, root)
            or is_ignored(path.with_name(f"{last}.py"), root)
        )

    def _may_be_elsewhere(self, parts: list[str]) -> bool:
        """True if another folder may have the module, where a program looks for it."""
        return bool(self._submodules or self._called(parts)) or self._searches_elsewhere

    def _called(self, parts: list[str]) -> list[Path]:
        """The files of the project that a module of a name may be."""
        end = tuple(parts)
        return [
            path
            for path in self._by_last_name.get(parts[-1], ())
            if _dotted(path)[-len(end) :] == end
        ]

    @cached_property
    def _by_last_name(self) -> Mapping[str, Sequence[Path]]:
        found: dict[str, list[Path]] = {}
        for path in self._project.python_files:
            found.setdefault(_dotted(path)[-1], []).append(path)
        return found

    def _is_mentioned(self, parts: list[str]) -> bool:
        """True if a page or a script names the file: it may say where it comes from."""
        name = re.escape(parts[-1])
        pattern = rf"\b{name}\.py\b"
        if len(parts) > 1:
            pattern += rf"|\b{re.escape(parts[-2])}/{name}\b"
        others = (each for each in self._project.files if each.suffix not in {".py", ".ipynb"})
        return any(
            self._records.of("matches", each, pattern) for each in (*others, *self._project.pages)
        )

    @cached_property
    def _submodules(self) -> tuple[str, ...]:
        """The folders of other repositories in this one."""
        try:
            content = disk.read(self._project.root / ".gitmodules")
        except OSError:
            return ()
        found = re.findall(rb"(?m)^\s*path\s*=\s*(.+?)\s*$", content)
        return tuple(each.decode("utf-8", "replace") for each in found)

    def _finds_otherwise(self, path: Path) -> bool:
        """True if a program of a file may give modules to imports that are no files of theirs."""
        return any(self._imports.are_linked(each, path) for each in self._changing_imports)

    @cached_property
    def _changing_imports(self) -> Sequence[Path]:
        return [
            each
            for each in self._project.python_files
            if not self._project.is_test(each)
            and self._records.of("matches", each, _FOUND_OTHERWISE)
        ]

    @cached_property
    def _searches_elsewhere(self) -> bool:
        """True if modules are looked for in folders that the project does not have."""
        folders = {part for folder in self._imports.folders for part in folder.parts}
        known = {"", ".", "..", *folders, *self._project.root.parts[1:]}
        return any(
            part not in known and not part.startswith("$")
            for each in dict.fromkeys((*self._project.files, *self._project.pages))
            for part in self._records.of("searched", each).split("\n")
        )

    def _folder(self, module: str, path: Path, first: str) -> Path | None:
        """The folder in which the first part of a name is looked for."""
        dots = len(module) - len(module.lstrip("."))
        if not dots:
            return self._base(path, first)
        folder = path.parents[dots - 1] if dots <= len(path.parents) else None
        return folder if folder and folder.is_relative_to(self._project.root) else None

    def _base(self, path: Path, first: str) -> Path | None:
        """The folder around a file in which a package or a module of a name is."""
        key = path.parent, first
        if key not in self._bases:
            root = self._project.root
            around = [each for each in path.parents if each.is_relative_to(root)]
            found = (each for each in (*around, root / "src") if self._has(each, first))
            self._bases[key] = next(found, None)
        return self._bases[key]

    def _has(self, folder: Path, name: str) -> bool:
        """True if a module or a package of a name is in a folder."""
        names = self._imports.names_in(folder)
        return f"{name}.py" in names or (name in names and self._has_code(folder / name))

    def _has_code(self, folder: Path) -> bool:
        inside = folder.relative_to(self._project.root)
        return any(each.is_relative_to(inside) for each in self._imports.folders)


def _split(name: str) -> tuple[str, str]:
    """The module and the name of `module.name`; relative names keep their dots."""
    dots = len(name) - len(name.lstrip("."))
    module, _, last = name[dots:].rpartition(".")
    return name[:dots] + module, last


def _parts(module: str) -> list[str]:
    return [part for part in module.split(".") if part]


def _dotted(path: Path) -> tuple[str, ...]:
    """The names of the folders of a module and its own, as an import may write them."""
    return path.parts[:-1] if path.stem == "__init__" else (*path.parts[:-1], path.stem)
