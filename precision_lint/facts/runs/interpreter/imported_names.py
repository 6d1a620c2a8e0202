"""Where a name that a file imports is assigned in the project: `from utils import DTYPES`; where
the class is that it names.
"""

from __future__ import annotations

import ast

from precision_lint.facts.project.facts import Recording
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 3
"""Modules that hand a name on to each other."""


def assigning(name: str, file: ParsedPython, project: Recording) -> tuple[ParsedPython, str] | None:
    """The file that assigns what another one imports, and its name there."""
    return _assigning(syntax_tree(file).names.get(name, ""), file, project)


def assigning_member(
    node: ast.Attribute, file: ParsedPython, project: Recording
) -> tuple[ParsedPython, str] | None:
    """The same for a member of a module: `config.USE_AMP` after `import config`."""
    syntax = syntax_tree(file)
    root = (dotted(node) or "").partition(".")[0]
    if root not in syntax.names or syntax.stores(syntax.function(node) or syntax.tree, root):
        return None
    return _assigning(qualified(node, syntax.names), file, project)


def _assigning(
    whole: str, file: ParsedPython, project: Recording
) -> tuple[ParsedPython, str] | None:
    for _ in range(_MOST_HOPS):
        module, _, name = whole.rpartition(".")
        path = project.locate(file.text.path, module) if module else None
        home = project.module(path) if path is not None else None
        if home is None:
            return None
        if syntax_tree(home).stores(syntax_tree(home).tree, name):
            return home, name
        file, whole = home, syntax_tree(home).names.get(name, "")
    return None


def class_named(name: str, file: ParsedPython, project: Recording) -> str:
    """The name of the class that a name of a file stands for; empty for anything else."""
    for _ in range(_MOST_HOPS):
        if any(isinstance(each, ast.ClassDef) and each.name == name for each in file.tree.body):
            return name
        module, _, name = syntax_tree(file).names.get(name, "").rpartition(".")
        path = project.locate(file.text.path, module) if module else None
        home = project.module(path) if path is not None else None
        if home is None:
            return ""
        file = home
    return ""
