"""The function of the project that a call runs, where it can be no other one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import (
    LIBRARY_BASES,
    PLAIN_BASES,
    Named,
    imported_module,
    named,
    scope_of,
    top_level,
)
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Binding
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import innermost_name, positional_parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_DEEPEST = 4
"""Bases of bases that are followed."""

_CALLING_ALIKE = frozenset(
    {"no_grad", "inference_mode", "enable_grad", "record", "staticmethod", "classmethod", "compile"}
)
"""Decorators that leave the parameters of a function as they are."""


class Callee(NamedTuple):
    """A function, and how many of its parameters the call does not give itself, like `self`."""

    function: ast.FunctionDef
    file: ParsedPython
    bound: int

    def of_class(self) -> Callee:
        """The method as `Class.method(…)` calls it, where the call gives `self`, too."""
        is_of_class = "classmethod" in _decorators(self.function)
        return self if is_of_class else self._replace(bound=0)


def callee(call: ast.Call, file: ParsedPython, project: Recording) -> Callee | None:
    """What a call runs: a function, the initialiser of a class, or a method."""
    match call.func:
        case ast.Name("cls") as name if (owner := class_of_self(name, file)) is not None:
            return None if has_class_below(owner, project) else initialiser(owner, file, project)
        case ast.Name() as name:
            found = named(name, file, project)
            return None if found is None else _of(found, project)
        case ast.Attribute(value=ast.Name() as owner, attr=attribute):
            return _of_attribute(owner, attribute, file, project)
    return None


def _of(found: Named, project: Recording) -> Callee | None:
    match found.node:
        case ast.ClassDef() as owner:
            return initialiser(owner, found.file, project)
        case ast.FunctionDef() as function if _is_called_alike(function):
            return Callee(function, found.file, 0)
    return None


def _is_called_alike(function: ast.FunctionDef) -> bool:
    return _decorators(function) <= _CALLING_ALIKE


def _decorators(function: FunctionDefinition) -> set[str]:
    return {innermost_name(each) for each in function.decorator_list}


def _of_attribute(
    owner: ast.Name, attribute: str, file: ParsedPython, project: Recording
) -> Callee | None:
    """What `module.name(…)`, `Class.name(…)`, `self.name(…)` or `made.name(…)` calls."""
    kind = named(owner, file, project)
    if kind is not None and isinstance(kind.node, ast.ClassDef):
        found = method(kind.node, attribute, kind.file, project, is_exact=True)
        return None if found is None else found.of_class()
    _, bindings = scope_of(owner, file).lookup(owner.id)
    match bindings:
        case [Binding(qualified=str() as module)]:
            home = imported_module(module, file, project)
            defined = None if home is None else top_level(attribute, home)
            return None if defined is None else _of(defined, project)
        case [Binding()]:
            around = class_of_self(owner, file)
            if around is not None:
                return method(around, attribute, file, project, is_exact=False)
            made = made_of(owner, file, project)
            if made is not None:
                return method(made.node, attribute, made.file, project, is_exact=True)
    return None


def class_of_self(name: ast.Name, file: ParsedPython) -> ast.ClassDef | None:
    """The class around a method whose first parameter a name is."""
    syntax = syntax_tree(file)
    function = syntax.function(name)
    while isinstance(function, FunctionDefinition):
        parameters = positional_parameters(function.args)
        owner = syntax.body(function)
        if isinstance(owner, ast.ClassDef) and parameters and parameters[0].arg == name.id:
            is_static = any(
                innermost_name(each) == "staticmethod" for each in function.decorator_list
            )
            return None if is_static else owner
        if any(each.arg == name.id for each in parameters):
            return None
        function = syntax.function(function)
    return None


def made_of(name: ast.Name, file: ParsedPython, project: Recording) -> Named | None:
    """The class of the project that `name = Class(…)` makes an object of, the only assignment."""
    _, bindings = scope_of(name, file).lookup(name.id)
    match bindings:
        case [Binding(at=at)] if at.field == "targets":
            match at.node:
                case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name() as made)):
                    found = named(made, file, project)
                    if found is not None and isinstance(found.node, ast.ClassDef):
                        return found
    return None


def method(
    owner: ast.AST, name: str, file: ParsedPython, project: Recording, *, is_exact: bool
) -> Callee | None:
    """The method of a class by a name; of a class below it, if the object may be of one, too."""
    if not isinstance(owner, ast.ClassDef) or name.startswith("__") or project.assigning(name):
        return None
    if not is_exact and has_class_below(owner, project):
        return None
    for kind, home in lineage(owner, file, project):
        if syntax_tree(home).attribute_stores(kind).get(name):
            return None
        found = [
            each
            for each in kind.body
            if isinstance(each, FunctionDefinition | ast.ClassDef) and each.name == name
        ]
        match found:
            case []:
                continue
            case [ast.FunctionDef() as function] if _is_called_alike(function):
                return Callee(function, home, 0 if "staticmethod" in _decorators(function) else 1)
            case _:
                return None
    return None


def lineage(
    owner: ast.ClassDef, file: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> Iterator[tuple[ast.ClassDef, ParsedPython]]:
    """A class and its bases in the project, as far as single bases lead."""
    yield owner, file
    match owner.bases:
        case [ast.Name() as base] if depth:
            found = named(base, file, project)
            if found is not None and isinstance(found.node, ast.ClassDef):
                yield from lineage(found.node, found.file, project, depth - 1)


def has_class_below(owner: ast.ClassDef, project: Recording, *, mixed: bool = False) -> bool:
    """True if a class of the project has one as a base, by its name; `mixed`: next to others."""
    name = re.escape(owner.name.encode())
    alone = rb"(?![ \t]*%b[ \t]*\))" % name if mixed else b""
    below = rb"(?m)^[ \t]*class[ \t]+\w+\(%b[^)]*\b%b\b" % (alone, name)
    renamed = rb"\bimport\b[^\n]*\b%b[ \t]+as\b" % name
    return any(map(project.python_source_matches, (below, renamed)))


def initialiser(
    owner: ast.ClassDef, home: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> Callee | None:
    """The method that gets the arguments of a call of a class; None where it may be another one."""
    methods = {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
    if owner.decorator_list or owner.keywords or "__new__" in methods or not depth:
        return None
    if own := methods.get("__init__"):
        is_plain = all(_is_plain(base, home, project, depth) for base in owner.bases)
        return Callee(own, home, 1) if is_plain and not own.decorator_list else None
    match owner.bases:
        case [ast.Name() as base]:
            found = named(base, home, project)
            if found is not None and isinstance(found.node, ast.ClassDef):
                return initialiser(found.node, found.file, project, depth - 1)
    return None


def _is_plain(base: ast.expr, home: ParsedPython, project: Recording, depth: int) -> bool:
    """True for a base below which a call of a class calls its `__init__`."""
    if innermost_name(base) in PLAIN_BASES or _is_of_library(base, home):
        return True
    found = named(base, home, project) if isinstance(base, ast.Name) else None
    return (
        found is not None
        and isinstance(found.node, ast.ClassDef)
        and initialiser(found.node, found.file, project, depth - 1) is not None
    )


def _is_of_library(base: ast.expr, home: ParsedPython) -> bool:
    while isinstance(base, ast.Attribute | ast.Subscript):
        base = base.value
    qualified = imported_names(home).get(base.id, "") if isinstance(base, ast.Name) else ""
    return qualified.partition(".")[0] in LIBRARY_BASES
