"""Which file of a project a module is, by the names in its folders.

Every import of every file is looked up, so paths are plain strings here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from precision_lint.project import disk

_DEEPEST = 100
"""Parts of a dotted name; no package is nested as deep, and each part is a folder to look into."""


class ModuleFiles:
    """The files of the modules below a root; folders are listed once."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._below = os.path.join(self._root, "")
        self._located: dict[tuple[str, str], Path | None] = {}
        self._paths: dict[str, Path] = {}
        self._listed: dict[str, frozenset[str]] = {}

    def share(self, paths: Iterable[Path]) -> None:
        """Give these objects for their files: who compares paths need not look into them."""
        self._paths.update((str(path), path) for path in paths)

    def locate(self, folder: Path, name: str) -> Path | None:
        """The file of the module that a file in `folder` calls `name`; relative names have dots.

        An absolute name is searched in the folders from the importer's own up to the project
        root, and in the `src` beside each, which covers scripts, packages and `src` layouts.
        """
        return self.located(str(folder), name)

    def located(self, folder: str, name: str) -> Path | None:
        """The same for a folder by its name."""
        key = (folder, name)
        if key not in self._located:
            found = self._locate(folder, name)
            self._located[key] = None if found is None else self._path(found)
        return self._located[key]

    def names_in(self, folder: Path) -> frozenset[str]:
        """What a folder of the project contains; nothing if there is none."""
        return self._names_in(str(folder))

    def _path(self, name: str) -> Path:
        if name not in self._paths:
            self._paths[name] = Path(name)
        return self._paths[name]

    def _locate(self, folder: str, name: str) -> str | None:
        stripped = name.lstrip(".")
        parts = [part for part in stripped.split(".") if part]
        if len(parts) > _DEEPEST:
            return None
        if os.sep in stripped or "/" in stripped:  # no name of a module, and whose parts may be any
            parts = [*Path(*parts).parts]
        dots = len(name) - len(stripped)
        if dots:
            for _ in range(dots - 1):
                folder = os.path.dirname(folder)
            return self._module_file(folder, parts)
        for around in self._around(folder):
            for base in (around, *self._sources_in(around)):
                if not parts or self._is_named_in(base, parts[0]):
                    found = self._module_file(base, parts)
                    if found is not None:
                        return found
        return self._module_file(self._root, ["src", *parts])

    def _around(self, folder: str) -> Iterator[str]:
        """A folder and those around it up to the root; of one elsewhere, only itself."""
        yield folder
        while folder.startswith(self._below):
            folder = os.path.dirname(folder)
            yield folder

    def _sources_in(self, folder: str) -> Iterator[str]:
        """The `src` of a folder, from which its scripts import."""
        if "src" in self._names_in(folder):
            yield os.path.join(folder, "src")

    def _is_named_in(self, folder: str, first: str) -> bool:
        """False for most names, those of libraries: nothing in a folder is called so."""
        names = self._names_in(folder)
        return first in names or f"{first}.py" in names

    def _module_file(self, folder: str, parts: list[str]) -> str | None:
        """`a/b.py` or `a/b/__init__.py` for the parts `a` and `b`; of none, the folder's own."""
        path = os.path.join(folder, *parts)
        parent, last = os.path.split(path)
        names = self._names_in(parent)
        if last and f"{last}.py" in names:
            return f"{path}.py"
        is_package = last in names and "__init__.py" in self._names_in(path)
        return f"{path}{os.sep}__init__.py" if is_package else None

    def _names_in(self, folder: str) -> frozenset[str]:
        """What a folder contains; nothing if it cannot be read.

        The folder above says whether there is such a folder at all.
        """
        if folder not in self._listed:
            parent, last = os.path.split(folder)
            is_there = not folder.startswith(self._below) or last in self._names_in(parent)
            self._listed[folder] = disk.names_in(self._path(folder)) if is_there else frozenset()
        return self._listed[folder]
