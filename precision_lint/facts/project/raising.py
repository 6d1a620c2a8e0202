"""Statements that certainly raise: what comes after them does not run.

They read a name that nothing binds, or one that a module of the project does not have, or call a
function or a class of the project with arguments that it does not take.
"""

from __future__ import annotations

import ast
import re
from typing import TypeAlias

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import (
    PLAIN_BASES,
    Named,
    named,
    own_module,
    scope_of,
)
from precision_lint.source.python.arguments import fits
from precision_lint.source.python.evaluated import evaluated
from precision_lint.source.python.nesting import blocks_around
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Binding
from precision_lint.source.python.statements import DEFINITIONS, Loop, With, own_nodes, statements
from precision_lint.source.python.syntax import innermost_name
from precision_lint.source.python.undefined import shows_all_names, undefined_names

_CALLING_INIT = PLAIN_BASES | {"Dataset"}
"""Bases of other packages: a call of a class below them calls its `__init__`."""

_DEEPEST = 4
"""Bases of bases, and calls of calls, that are followed."""

Raising: TypeAlias = ast.Name | ast.Attribute | ast.Call
"""What raises `NameError`, `AttributeError` or `TypeError`."""


def raising_before(offset: int, file: ParsedPython, project: Recording) -> Raising | None:
    """What raises before control comes to a place, or to the function or class around it."""
    for block, before in blocks_around(offset, file):
        for statement in block[:before]:
            if (found := raising_in(statement, file, project)) is not None:
                return found
    return None


def raising_after(offset: int, file: ParsedPython, project: Recording) -> Raising | None:
    """What raises after a place, before control comes to a loop or enters a region.

    A program that ends so computes with nothing that is chosen at the place.
    """
    for block, before in reversed([*blocks_around(offset, file)]):
        if before < len(block) and isinstance(block[before], DEFINITIONS):
            return None
        for statement in block[before + 1 :]:
            if isinstance(statement, DEFINITIONS):
                continue
            if any(isinstance(each, Loop | With) for each in statements([statement])):
                return None
            if (found := raising_in(statement, file, project)) is not None:
                return found
    return None


def raising_in(
    statement: ast.stmt, file: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> Raising | None:
    """What raises of that which a statement evaluates whenever control comes to it.

    `depth` functions that call each other are followed.
    """
    key = ("raising in", statement, depth)
    return file.fact(key, lambda: _raising_in(statement, file, project, depth))


def _raising_in(
    statement: ast.stmt, file: ParsedPython, project: Recording, depth: int
) -> Raising | None:
    undefined = frozenset() if project.is_alone else undefined_names(file)
    for node in evaluated(statement):
        match node:
            case ast.Name() if node in undefined:
                return node
            case ast.Attribute(value=ast.Name()) if is_missing(node, file, project):
                return node
            case ast.Call() if misfits(node, file, project) or (
                depth and _raises(node, file, project, depth - 1)
            ):
                return node
    return None


def _raises(call: ast.Call, file: ParsedPython, project: Recording, depth: int) -> bool:
    """True for a call of a function of the project that raises before it can return."""
    if not isinstance(call.func, ast.Name):
        return False
    match named(call.func, file, project):
        case Named(ast.FunctionDef(decorator_list=[]) as function, home):
            key = ("raises", function, depth)
            return home.fact(key, lambda: _always_raises(function, home, project, depth))
    return False


def _always_raises(
    function: ast.FunctionDef, home: ParsedPython, project: Recording, depth: int
) -> bool:
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(function)):
        return False
    for statement in function.body:
        if raising_in(statement, home, project, depth) is not None:
            return True
        if any(isinstance(each, ast.Return) for each in statements([statement])):
            return False
    return False


def is_missing(node: ast.Attribute, file: ParsedPython, project: Recording) -> bool:
    """True for `module.name` where the module is a file of the project that has no such name."""
    if not isinstance(node.value, ast.Name) or node.attr.startswith("__"):
        return False
    _, bindings = scope_of(node.value, file).lookup(node.value.id)
    match bindings:
        case [Binding(qualified=str() as module)]:
            home = own_module(module, file, project)
            if home is None or not shows_all_names(home) or project.assigning(node.attr):
                return False
            return re.search(rf"\b{node.attr}\b", home.text.text) is None
    return False


def misfits(call: ast.Call, file: ParsedPython, project: Recording) -> bool:
    """True for a call of a function or class of the project that does not take its arguments."""
    if not isinstance(call.func, ast.Name):
        return False
    match named(call.func, file, project):
        case Named(ast.ClassDef() as owner, home):
            made_by = _initialiser(owner, home, project, _DEEPEST)
            return made_by is not None and not fits(call, made_by.args, bound=1)
        case Named(ast.FunctionDef() | ast.AsyncFunctionDef() as function):
            return not function.decorator_list and not fits(call, function.args)
    return False


def _initialiser(
    owner: ast.ClassDef, home: ParsedPython, project: Recording, depth: int
) -> ast.FunctionDef | None:
    """The method that gets the arguments of a call of a class; None where it may be another one."""
    methods = {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
    if owner.decorator_list or owner.keywords or "__new__" in methods or not depth:
        return None
    if own := methods.get("__init__"):
        is_plain = all(
            innermost_name(base) in _CALLING_INIT
            or (isinstance(base, ast.Name) and _is_plain(base, home, project, depth))
            for base in owner.bases
        )
        return own if is_plain and not own.decorator_list else None
    match owner.bases:
        case [ast.Name() as base]:
            found = named(base, home, project)
            if found is not None and isinstance(found.node, ast.ClassDef):
                return _initialiser(found.node, found.file, project, depth - 1)
    return None


def _is_plain(base: ast.Name, home: ParsedPython, project: Recording, depth: int) -> bool:
    """True for a base of the project whose classes are made as usual."""
    found = named(base, home, project)
    return (
        found is not None
        and isinstance(found.node, ast.ClassDef)
        and _initialiser(found.node, found.file, project, depth - 1) is not None
    )
