"""The commands that a project installs, with the module that each starts: `[project.scripts]` in
pyproject.toml, `console_scripts` in setup.cfg and setup.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.project import disk

_SECTION = regex(
    r"\[(?:project|tool\.poetry)\.scripts\]([^\[]{0,20000})"
    r"|\bconsole_scripts[\"']?[ \t]*[:=][ \t]*"
    r"(?:\[([^\]]{0,20000})|([^\n]*\n?(?:[ \t]+[^\n]*\n|\n)*))"
)
"""Whatever follows a heading matches, so that no character is read twice."""
_SCRIPT = regex(
    r"""(?<![\w.-])([\w.-]+)["']?[ \t]*=[ \t]*["']?"""
    r"""([A-Za-z_][\w.]*)(?::([A-Za-z_]\w*)[\w.]*)?["']?[ \t]*(?=[,\n\r#\[]|$)"""
)
"""`name = "package.module:function"`."""
_NAMES = ("pyproject.toml", "setup.cfg", "setup.py")
_SOURCES = ("", "src", "lib", "python")
_MOST_FOLDERS = 20


def own_commands(project: Recording) -> Mapping[str, Path]:
    """The modules of a project by the commands that start them."""
    return {command: path for command, path, _ in _entries(project)}


def functions_called(module: Path, project: Recording) -> frozenset[str]:
    """The functions of a module that commands of the project call."""
    return frozenset(name for _, path, name in _entries(project) if path == module and name)


def _entries(project: Recording) -> tuple[tuple[str, Path, str], ...]:
    """The commands, each with its module and the function of it that is called."""
    return project.config_files.once(("own commands",), lambda: tuple(_found(project)))


def _found(project: Recording) -> Iterator[tuple[str, Path, str]]:
    for folder in _folders(project):
        for name in _NAMES:
            for match in _SECTION.finditer(project.config_files.text(folder / name)):
                declared = match[1] or match[2] or match[3] or ""
                for command, module, function in _SCRIPT.findall(declared):
                    if (found := _module(module, folder)) is not None:
                        yield command, found, function


def _folders(project: Recording) -> Iterable[Path]:
    """The folders of the packages of a project."""
    files = (path for path in project.config_files.project.files if path.name in _NAMES)
    own = (path.parent for path in files if not project.is_test(path))
    return dict.fromkeys((project.root, *islice(own, _MOST_FOLDERS)))


def _module(name: str, folder: Path) -> Path | None:
    inside = name.replace(".", "/")
    for source in _SOURCES:
        for end in (f"{inside}.py", f"{inside}/__init__.py"):
            if disk.is_file(path := folder / source / end):
                return path
    return None
