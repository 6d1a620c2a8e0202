"""The modules that a program imports by a name that it makes: `import_module(f"app.{name}.train")`.

All that the name may be are part of the program, as those that an import statement names.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.module_names import ANY, imported_names
from precision_lint.model.regex import regex
from precision_lint.project import disk

_IN_TABLE = regex(
    rb"""[:=,\[(][ \t\r\n]*["']([A-Za-z_][A-Za-z0-9_]{0,80}"""
    rb"""(?:\.[A-Za-z_][A-Za-z0-9_]{0,80}){2,12})["']"""
)
"""`"mamba": "src.models.mamba.MambaModel"`: a text among others that may be the path of a class."""
_MOST = 8
"""Modules that one name may mean, where one of them is chosen."""
_MOST_EACH = 200
"""Modules of one folder that are all imported."""


def program_of(path: Path, project: Recording, chosen: Set[str] = frozenset()) -> Iterator[Path]:
    """The files of a program, the nearest first: those that it imports by statements, those that it
    imports by name, and those that the packages around them import. Where `chosen` texts tell some
    modules from the others, only those are part of it.
    """
    found = {*project.program(path)}
    yield from project.program(path)
    for file in imported_by_name(path, project, chosen):
        found.add(file)
        yield file
    own = _packages(path, project)  # a script that is started by its path imports none of them
    around = (each for file in [*found] for each in _packages(file, project) if each not in own)
    yield from _further(around, found, project, chosen)


def imported_by_name(
    path: Path, project: Recording, chosen: Set[str] = frozenset()
) -> Iterator[Path]:
    """What a program imports by the names of modules that it makes, and what those import."""
    known = {*project.program(path)}
    named = (each for file in project.program(path) for each in _named(file, project, chosen))
    yield from _further(named, known, project, chosen)


def _further(
    first: Iterable[Path], known: Set[Path], project: Recording, chosen: Set[str]
) -> Iterator[Path]:
    """Modules and what they import, but for what is known."""
    pending, found = deque(first), {*known}
    while pending:
        module = pending.popleft()
        for file in project.program(module) if module not in found else ():
            if file not in found:
                found.add(file)
                yield file
                pending += _named(file, project, chosen)


def _named(file: Path, project: Recording, chosen: Set[str]) -> Sequence[Path]:
    return _told_apart(_modules(file, project), chosen)


def _packages(path: Path, project: Recording) -> tuple[Path, ...]:
    """The files of the packages around a module, the nearest first."""
    return project.config_files.once(
        ("packages around", path.parent), lambda: tuple(_found_packages(path.parent, project.root))
    )


def _found_packages(folder: Path, root: Path) -> Iterator[Path]:
    while folder != root and root in folder.parents:
        package = folder / "__init__.py"
        if not disk.is_file(package):
            return
        yield package
        folder = folder.parent


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
    return files.once(("imported by name", file), lambda: tuple(_found(file, project)))


def _found(file: Path, project: Recording) -> Iterator[Path]:
    try:
        content = disk.read(file, disk.ANY_SIZE)
    except OSError:
        return
    for path in dict.fromkeys(_IN_TABLE.findall(content)):
        yield from _located(path.decode("ascii"), file, project)
    parsed = project.module(file) if b"import_module(" in content else None
    for name in imported_names(parsed) if parsed is not None else ():
        parts = name.pattern.split(".")
        most = _MOST_EACH if name.is_each else _MOST
        if parts[0] == "" and len(parts) > 1:  # below the package of the file itself
            yield from _matching(parts[1:], (file.parent,), most)
        elif parts[0].isidentifier() and len(parts) > 1 and {*parts[:-2]}.isdisjoint({ANY}):
            around = [
                each
                for each in file.parents
                if each == project.root or project.root in each.parents
            ]
            yield from _matching(parts, around, most)


def _located(path: str, file: Path, project: Recording) -> Iterator[Path]:
    """The module of a class that a table names by its path."""
    module = path.rpartition(".")[0].replace(".", "/")
    for folder in file.parents:
        if folder != project.root and project.root not in folder.parents:
            return
        for found in (folder / f"{module}.py", folder / module / "__init__.py"):
            if disk.is_file(found):
                yield found
                return


def _matching(parts: Sequence[str], folders: Iterable[Path], most: int) -> Iterable[Path]:
    """The modules of the first folder that has any."""
    for folder in folders:
        module = disk.matching(folder, f"{'/'.join(parts)}.py")
        package = disk.matching(folder, f"{'/'.join(parts)}/__init__.py")
        found = [
            each for each in (*module, *package) if each.stem != "__init__" or parts[-1] != ANY
        ]
        if found:
            return found if len(found) <= most else ()
    return ()
