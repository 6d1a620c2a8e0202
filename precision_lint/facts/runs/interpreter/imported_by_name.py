"""The modules that a program imports by a name that it makes: `import_module(f"app.{name}.train")`.

All that the name may be are part of the program, as those that an import statement names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.project import disk

_TEXT = r"""f?(["'])([\w.{}\[\]()]+)\1"""
_NAMED = re.compile(rf"\bimport_module\(\s*{_TEXT}")
_HELD = re.compile(r"\bimport_module\(\s*([A-Za-z_]\w*)\s*[,)]")
"""`import_module(path)`, after `path = f"evals.{name}.eval"`."""
_PART = re.compile(r"\{[^{}]*\}")
_MOST = 8
"""Modules that one name may mean."""


def program_of(path: Path, project: Recording, chosen: Set[str] = frozenset()) -> Iterator[Path]:
    """The files of a program, the nearest first, and those of the modules that it names. Where
    `chosen` texts tell some of them from the others, only those are part of it.
    """
    known = set()
    named: list[Path] = []
    for file in project.program(path):
        known.add(file)
        yield file
        named += _told_apart(_modules(file, project), chosen)
    for file in (each for first in named for each in project.program(first)):
        if file not in known:
            known.add(file)
            yield file


def _told_apart(modules: Sequence[Path], chosen: Set[str]) -> Sequence[Path]:
    """The modules whose folder or name is among the texts, or all if there is none."""
    parts = [frozenset((*module.parent.parts, module.stem)) for module in modules]
    shared = frozenset[str].intersection(*parts) if parts else frozenset()
    found = [
        module
        for module, own in zip(modules, parts, strict=True)
        if not chosen.isdisjoint(own - shared)
    ]
    return found or modules


def _modules(file: Path, project: Recording) -> tuple[Path, ...]:
    files = project.config_files
    return files.once(("imported by name", file), lambda: tuple(_found(file, project.root)))


def _found(file: Path, root: Path) -> Iterator[Path]:
    try:
        content = disk.read(file, disk.ANY_SIZE)
    except OSError:
        return
    if b"import_module(" not in content:
        return
    text = content.decode(errors="replace")
    variables = "|".join(sorted({*_HELD.findall(text)}))
    held = re.findall(rf"(?m)^[ \t]*(?:{variables})[ \t]*=[ \t]*{_TEXT}", text) if variables else []
    for _, name in dict.fromkeys([*_NAMED.findall(text), *held]):
        parts = _PART.sub("*", name).split(".")
        if parts[0].isidentifier() and "*" in parts[-2:]:
            yield from _matching(parts, file, root)


def _matching(parts: list[str], file: Path, root: Path) -> Iterable[Path]:
    """The modules of the nearest folder around a file that has any."""
    pattern = f"{'/'.join(parts)}.py"
    for folder in (each for each in file.parents if each == root or root in each.parents):
        found = [each for each in disk.matching(folder, pattern) if each.stem != "__init__"]
        if found:
            return found if len(found) <= _MOST else ()
    return ()
