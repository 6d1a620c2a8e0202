"""The commands that a project installs, with the module that each starts: `[project.scripts]` in
pyproject.toml, `console_scripts` in setup.cfg and setup.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.project import disk

_SECTION = re.compile(
    r"\[(?:project|tool\.poetry)\.scripts\]([^\[]*)"
    r"|\bconsole_scripts[\"']?[ \t]*[:=][ \t]*(?:\[([^\]]*)\]|((?:[^\n]*\n)(?:[ \t]+[^\n]*\n|\n)*))"
)
_SCRIPT = re.compile(
    r"""(?<![\w.-])([\w.-]+)["']?[ \t]*=[ \t]*["']?([A-Za-z_][\w.]*)(?::[A-Za-z_][\w.]*)?["']?"""
    r"""[ \t]*(?=[,\n\r#\[]|$)"""
)
"""`name = "package.module:function"`."""
_NAMES = ("pyproject.toml", "setup.cfg", "setup.py")
_SOURCES = ("", "src", "lib", "python")
_MOST_FOLDERS = 20


def own_commands(project: Recording) -> Mapping[str, Path]:
    """The modules of a project by the commands that start them."""
    return project.config_files.once(("own commands",), lambda: dict(_found(project)))


def _found(project: Recording) -> Iterator[tuple[str, Path]]:
    for folder in _folders(project):
        for name in _NAMES:
            for match in _SECTION.finditer(project.config_files.text(folder / name)):
                for command, module in _SCRIPT.findall(match[1] or match[2] or match[3] or ""):
                    found = _module(module, folder)
                    if found is not None:
                        yield command, found


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
