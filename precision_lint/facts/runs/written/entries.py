"""The entry points of a project: the Python files that are started, and not only imported.

These are the files with `if __name__ == "__main__":`, the modules of console scripts, and scripts:
files that nothing imports, with a loop or the call of a main function at the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.own_commands import own_commands
from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.project import disk

_MAIN = regex(
    rb"""^if[ \t(]+(?:__name__[ \t]*==[ \t]*["']__main__["']|["']__main__["'][ \t]*==[ \t]*"""
    rb"""__name__)""",
    re.MULTILINE,
)
_STARTS = regex(rb"^(?:for|while)[ \t]|^(?:\w+\.)?(?:main|train|run|Fire|app|cli)\(", re.MULTILINE)
"""A loop, or the call of a main function, at the top of a file."""

_MOST_PROGRAMS = 12
"""Programs that share what declares an option."""
_PARSING = regex(r"^\w[\w, ]*=[ \t]*\w+\.parse_(?:known_)?args\(", re.MULTILINE)
_PARSED = regex(r"\.parse_(?:known_)?args\(|\bHfArgumentParser\(|^@\w+\.wrap\(", re.MULTILINE)
_TESTING = regex(r"\b(?:pytest|unittest)\b|^[ \t]*(?:async[ \t]+)?def[ \t]+test_", re.MULTILINE)
"""What files of tests have."""


def entry_points(paths: Iterable[Path], project: Recording) -> Iterator[Path]:
    """The files among `paths` that start something; those that only test the project do not."""
    scripts = frozenset(own_commands(project).values())
    for path in paths:
        if path.suffix != ".py" or project.is_test(path):
            continue
        if path in scripts or path.name == "__main__.py" or _is_started(path, project):
            yield path


def programs_having(path: Path, project: Recording, owners: Sequence[str] = ()) -> Iterator[Path]:
    """The programs that have the options of a file: the file itself, if it is started, and those
    that import it, or import from its package a class which has the options. Those that name such a
    class are first. A script that parses its words at its top and that nothing imports is started.
    A file with the name of a test counts if nothing else does; it parses words and has no tests.
    """
    users = [*project.users(path)]
    users += (each for each in _by_packages(path, owners, project) if each not in users)
    if names := [re.escape(each) for each in owners]:
        named = re.compile(rf"\b(?:{'|'.join(names)})\b")
        users = sorted(users, key=lambda user: not named.search(project.config_files.text(user)))
    found = [*islice(entry_points((path, *users), project), _MOST_PROGRAMS)]
    if not found and not users and _PARSING.search(project.config_files.text(path)):
        found = [path]
    if not found and _is_tool(path, project):
        found = [path]
    return iter(found)


def _by_packages(path: Path, owners: Sequence[str], project: Recording) -> Iterator[Path]:
    """The files that import a class of a file from its package, which hands it on."""
    found = (each for owner in owners for each in project.importing(path, owner))
    yield from (each for each in dict.fromkeys(found) if path in project.program(each))


def _is_tool(path: Path, project: Recording) -> bool:
    """True for a file with the name of a test that people start with words: `test_inference.py`."""
    if path.suffix != ".py" or not project.is_test(path):
        return False
    text = project.config_files.text(path)
    is_parsing = _PARSED.search(text) is not None and _TESTING.search(text) is None
    return is_parsing and _MAIN.search(text.encode()) is not None


def _is_started(path: Path, project: Recording) -> bool:
    try:
        content = disk.read(path, disk.ANY_SIZE)
    except OSError:
        return False
    if _MAIN.search(content):
        return True
    return _STARTS.search(content) is not None and not project.users(path)
