"""Where a name that a file imports is assigned in the project: `from utils import DTYPES`."""

from __future__ import annotations

from precision_lint.facts.project.facts import Recording
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 3
"""Modules that hand a name on to each other."""


def assigning(name: str, file: ParsedPython, project: Recording) -> tuple[ParsedPython, str] | None:
    """The file that assigns what another one imports, and its name there."""
    for _ in range(_MOST_HOPS):
        module, _, name = syntax_tree(file).names.get(name, "").rpartition(".")
        path = project.locate(file.text.path, module) if module else None
        home = project.module(path) if path is not None else None
        if home is None:
            return None
        if syntax_tree(home).stores(syntax_tree(home).tree, name):
            return home, name
        file = home
    return None
