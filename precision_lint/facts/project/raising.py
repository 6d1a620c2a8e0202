"""Statements that certainly raise: what comes after them does not run.

They read a name that nothing binds, one that a module of the project does not have, or an attribute
that nothing gives to `self`, or call a function or a class of the project with arguments that it
does not take. So does a call of what raises in each run before it has computed anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from precision_lint.facts.project.attributes import has_no_such_attribute
from precision_lint.facts.project.callees import callee
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import (
    Named,
    imported_module,
    is_set_from_outside,
    named,
    scope_of,
)
from precision_lint.facts.project.swallowing import may_swallow
from precision_lint.source.python.arguments import fits
from precision_lint.source.python.evaluated import evaluated, of_annotations, passed
from precision_lint.source.python.nesting import blocks_around
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Binding
from precision_lint.source.python.statements import Loop, own_nodes, own_statements
from precision_lint.source.python.syntax import callee_name, innermost_name
from precision_lint.source.python.undefined import shows_all_names, undefined_names

_DEEPEST = 5
"""Calls of calls that are followed."""

_STARTING = frozenset({"spawn", "launch", "start_processes", "notebook_launcher"})
"""What starts the function that it is given first, and raises what that raises."""

_COMPUTING = frozenset({"backward", "fit", "generate"})
"""What computes with a model, by name."""

Raising: TypeAlias = ast.Name | ast.Attribute | ast.Call
"""What raises `NameError`, `AttributeError` or `TypeError`."""


def raising_before(offset: int, file: ParsedPython, project: Recording) -> Raising | None:
    """What raises before control comes to a place, or to the function or class around it."""
    for block, before in blocks_around(offset, file):
        for statement in block[:before]:
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
    for node in of_annotations(statement):
        if isinstance(node, ast.Name) and _is_unbound(node, file, project):
            return node
    for node in evaluated(statement):
        match node:
            case ast.Name() if _is_unbound(node, file, project):
                return node
            case ast.Attribute(value=ast.Name()) if is_missing(
                node, file, project
            ) or has_no_such_attribute(node, file, project):
                return node
            case ast.Call() if misfits(node, file, project) or (
                depth and _raises(node, file, project, depth - 1)
            ):
                return node
    return None


def _is_unbound(name: ast.Name, file: ParsedPython, project: Recording) -> bool:
    if project.is_alone or name not in undefined_names(file):
        return False
    return not is_set_from_outside(name.id, file, project)


def _raises(call: ast.Call, file: ParsedPython, project: Recording, depth: int) -> bool:
    """True for a call of a function of the project that raises before it can return."""
    found = callee(call, file, project)
    if found is not None:
        return never_computes(found.function, found.file, project, depth) is not None
    return callee_name(call) in _STARTING and any(
        never_computes(each.node, each.file, project, depth) is not None
        for each in _given(call, file, project)
    )


def _given(call: ast.Call, file: ParsedPython, project: Recording) -> Iterator[Named]:
    """The functions of the project that a call is given first, or by a keyword like `fn`."""
    named_ones = (each.value for each in call.keywords if each.arg not in {"args", "kwargs"})
    for argument in (*call.args[:1], *named_ones):
        for node in walk(argument):
            if isinstance(node, ast.Name) and (found := named(node, file, project)) is not None:
                yield found


def never_computes(
    node: ast.AST, home: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> Raising | None:
    """What raises in each run of a function or a program, before it has computed anything.

    That is up to the end of its first loop, which is taken to run, or of a call that trains. Of a
    function that may return before, the rest is not looked at.
    """
    if not isinstance(node, ast.FunctionDef | ast.Module):
        return None
    key = ("never computes", node, depth)
    return home.fact(key, lambda: _never_computes(node, home, project, depth))


def _never_computes(
    node: ast.FunctionDef | ast.Module, home: ParsedPython, project: Recording, depth: int
) -> Raising | None:
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(node)):
        return None
    swallows = partial(may_swallow, file=home, project=project)
    for statement in passed(node.body, swallows):
        if (found := raising_in(statement, home, project, depth)) is not None:
            return found
        if _computes(statement, home, project):
            return None
    return None


def _computes(statement: ast.stmt, home: ParsedPython, project: Recording) -> bool:
    """True for a call that trains, or of a function of the project that goes through a loop."""
    for node in evaluated(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="train")) if (
                "trainer" in innermost_name(owner).lower()
            ):
                return True
            case ast.Call() if callee_name(node) in _COMPUTING:
                return True
            case ast.Call() if (found := callee(node, home, project)) is not None:
                if any(isinstance(each, Loop) for each in own_statements(found.function.body)):
                    return True
    return False


def is_missing(node: ast.Attribute, file: ParsedPython, project: Recording) -> bool:
    """True for `module.name` where the module is a file of the project that has no such name."""
    if not isinstance(node.value, ast.Name) or node.attr.startswith("__"):
        return False
    _, bindings = scope_of(node.value, file).lookup(node.value.id)
    match bindings:
        case [Binding(qualified=str() as module)]:
            home = imported_module(module, file, project)
            if home is None or not shows_all_names(home):
                return False
            if is_set_from_outside(node.attr, home, project):
                return False
            return re.search(rf"\b{node.attr}\b", home.text.text) is None
    return False


def misfits(call: ast.Call, file: ParsedPython, project: Recording) -> bool:
    """True for a call of a function or class of the project that does not take its arguments."""
    found = callee(call, file, project)
    return found is not None and not fits(call, found.function.args, bound=found.bound)
