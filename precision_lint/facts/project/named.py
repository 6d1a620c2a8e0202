"""The function or class of the project that a name stands for."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from typing import NamedTuple

from precision_lint.facts.project.facts import Recording
from precision_lint.model.memo import fact
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Reference, Scope, scopes_in
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import qualified

PLAIN_BASES = frozenset({"ABC", "Function", "Generic", "Module", "Protocol", "object"})
"""Bases of other packages: below them, objects are made as usual, and only torch calls methods."""

LIBRARY_BASES = frozenset(
    {"abc", "lightning", "pytorch_lightning", "torch", "torchvision", "transformers", "typing"}
)
"""Packages below whose classes objects are made as usual: a call calls `__init__`."""

_MOST_MODULES = 10
"""Modules of the project that are read for what a file takes of them, one attribute at a time."""

_LIBRARIES = sys.stdlib_module_names | {
    *("accelerate", "clip", "datasets", "evaluate", "peft", "timm", "tokenizers", "transformers"),
}
"""Modules that a project may have a file named like."""

_OF_ALL = frozenset({"builtins", "__main__"})
"""Modules whose names every file may read, and that of the program, whichever it is."""


class Named(NamedTuple):
    """A function or class at the top level of a file."""

    node: Definition
    file: ParsedPython


def named(name: ast.Name, file: ParsedPython, project: Recording) -> Named | None:
    """What a name stands for, if nothing but one definition or import binds it."""
    scope, bindings = scope_of(name, file).lookup(name.id)
    match bindings:
        case [binding] if binding.qualified is not None:
            return imported_from(binding.qualified, file, project)
        case [_] if scope is scopes_in(file).all[0]:
            return top_level(name.id, file, project)
    return None


def scope_of(name: ast.Name, file: ParsedPython) -> Scope:
    """The scope in which a name is read."""
    return _references(file)[name].scope


def imported_from(qualified: str, file: ParsedPython, project: Recording) -> Named | None:
    """What `module.name` is, where a file of the project defines it itself."""
    module, dot, name = qualified.rpartition(".")
    if not dot:
        return None  # a module
    if not module.strip("."):
        module = f"{module}."
    home = own_module(module, file, project)
    return None if home is None else top_level(name, home, project)


def own_module(module: str, file: ParsedPython, project: Recording) -> ParsedPython | None:
    """The file of the project that a file imports as a module; None where it may be another one.

    That may be a library of the same name, or, in a folder from which a program is started, another
    file.
    """
    path = project.locate(file.text.path, module)
    if not module.startswith("."):
        first = module.partition(".")[0]
        if first in _LIBRARIES or project.version_of(first):
            return None
        from_root = project.locate(project.root / file.text.path.name, module)
        if from_root not in {None, path}:
            return None
    return None if path is None else project.module(path)


def imported_module(module: str, file: ParsedPython, project: Recording) -> ParsedPython | None:
    """The file that `module` of `module.name` is; None in a file that imports too many."""

    def count() -> int:
        modules = {*imported_names(file).values()}
        return sum(project.locate(file.text.path, each) is not None for each in modules)

    is_small = file.fact("imported modules", count) <= _MOST_MODULES
    return own_module(module, file, project) if is_small else None


def top_level(name: str, file: ParsedPython, project: Recording) -> Named | None:
    """The definition of a name at the top level of a file, if nothing else gives it the name."""
    bound = scopes_in(file).all[0].bindings.get(name, ())
    node = _definitions(file).get(name)
    if node is None or len(bound) > 1 or is_set_from_outside(name, file, project):
        return None
    return Named(node, file)


def is_set_from_outside(name: str, home: ParsedPython, project: Recording) -> bool:
    """True if a file assigns a name of a module, `worker.args = args`, or of all modules."""
    for path in project.assigning(name):
        user = project.module(path)
        if user is None:
            return True
        for node in user.nodes_of(ast.Attribute):
            if node.attr == name and isinstance(node.ctx, ast.Store):
                module = qualified(node.value, imported_names(user))
                if module in _OF_ALL or (module and project.locate(path, module) == home.text.path):
                    return True
    return False


@fact
def _definitions(file: ParsedPython) -> Mapping[str, Definition]:
    return {node.name: node for node in file.tree.body if isinstance(node, Definition)}


@fact
def _references(file: ParsedPython) -> Mapping[ast.Name, Reference]:
    return {each.root: each for each in scopes_in(file).references}
