"""The Python files of a project other than the linted one: found by import, read on demand."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from precision_lint.dtypes.definitions import Module
    from precision_lint.project import Project

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([^\n#]+)", re.MULTILINE)
_WORD = re.compile(rb"\w+")
_OF_TENSORS = (b"torch", b"tensor", b"model")
"""A file that mentions none of them passes no tensors."""

_LARGEST = 1_000_000
"""Bytes; larger Python files are generated tables and not useful."""

_KEPT = 256
"""Number of cached modules; a syntax tree takes thirty times the bytes of its source."""


class SourceTree:
    """The other Python files of a project; each is read on first use."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._modules: OrderedDict[Path, Module | None] = OrderedDict()
        self._located: dict[tuple[str, str], Path | None] = {}

    def module(self, path: Path) -> Module | None:
        """The module at a path; None if it cannot be read or parsed."""
        if path in self._modules:
            self._modules.move_to_end(path)
            return self._modules[path]
        module = self._modules[path] = self._read(path)
        if len(self._modules) > _KEPT:
            self._modules.popitem(last=False)
        return module

    def _read(self, path: Path) -> Module | None:
        from precision_lint.dtypes.definitions import Module
        from precision_lint.source.errors import Unparsable
        from precision_lint.source.python import parse_python
        from precision_lint.source.text import SourceText

        try:
            if path.stat().st_size > _LARGEST:
                return None
            text = SourceText.from_bytes(path, path.read_bytes())
            return Module(parse_python(text, self._project))
        except (OSError, UnicodeDecodeError, Unparsable):
            return None

    def locate(self, importer: Path, name: str) -> Path | None:
        """The file of the module that `importer` calls `name`; relative names keep their dots.

        An absolute name is searched in the folders from the importer's own up to the project
        root, which covers scripts, packages and `src` layouts.
        """
        key = (str(importer.parent), name)
        if key not in self._located:
            self._located[key] = self._locate(importer.parent, name)
        return self._located[key]

    def _locate(self, folder: Path, name: str) -> Path | None:
        stripped = name.lstrip(".")
        parts = stripped.split(".") if stripped else []
        dots = len(name) - len(stripped)
        root = self._project.root
        if dots:
            for _ in range(dots - 1):
                folder = folder.parent
            return _module_file(folder.joinpath(*parts))
        folders = [folder, *folder.parents] if folder.is_relative_to(root) else [folder]
        for base in folders:
            if (found := _module_file(base.joinpath(*parts))) is not None:
                return found
            if base == root:
                break
        return _module_file(root.joinpath("src", *parts))

    def importing(self, stem: str) -> Iterator[tuple[Path, bytes]]:
        """The Python files with an import that names `stem`, and their bytes, in path order."""
        for path in self._importers.get(stem.encode(), ()):
            try:
                yield path, path.read_bytes()
            except OSError:
                continue

    @cached_property
    def _importers(self) -> Mapping[bytes, list[Path]]:
        """For each word of an import statement, the files with an import that contains it."""
        found: dict[bytes, list[Path]] = {}
        for path in self._project.python_files:
            try:
                content = path.read_bytes()
            except OSError:
                continue
            if len(content) > _LARGEST or not any(word in content for word in _OF_TENSORS):
                continue
            words = {word for line in _IMPORT.findall(content) for word in _WORD.findall(line)}
            for word in words:
                found.setdefault(word, []).append(path)
        return found


def _module_file(path: Path) -> Path | None:
    """`a/b.py` or `a/b/__init__.py` for the path `a/b`."""
    for candidate in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
        if path.name and candidate.is_file():
            return candidate
    return None
