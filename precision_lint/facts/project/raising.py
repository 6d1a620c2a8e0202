"""Statements that certainly raise: what comes after them does not run.

They read a name that nothing binds, or one that a module of the project does not have, or call a
function or a class of the project with arguments that it does not take.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeAlias

from precision_lint.facts.project.callees import callee, class_of_self, has_class_below, lineage
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import Named, imported_module, named, scope_of
from precision_lint.model.regex import regex
from precision_lint.source.python.arguments import fits
from precision_lint.source.python.evaluated import evaluated, of_annotations, passed
from precision_lint.source.python.nesting import blocks_around
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Binding
from precision_lint.source.python.statements import (
    DEFINITIONS,
    Loop,
    With,
    own_nodes,
    own_statements,
    statements,
)
from precision_lint.source.python.syntax import callee_name, innermost_name
from precision_lint.source.python.undefined import shows_all_names, undefined_names

_DEEPEST = 5
"""Calls of calls that are followed."""

_STARTING = frozenset({"spawn", "launch", "start_processes", "notebook_launcher", "Process"})
"""What starts the functions that it is given."""

_WITHOUT_ATTRIBUTES = frozenset({"ABC", "object", "Protocol", "Generic"})
"""Bases that give their objects no attributes that code reads."""

_GIVING_ATTRIBUTES = regex(r"__getattr|setattr\(|__dict__|\bvars\(self\)|__slots__|\blocals\(\)")
_NAMING_OTHERWISE = (
    rb"(?<![.\w])%b\b|\bas\b[^\n]*\.%b\b|\.%b[ \t]*(?:[^-+*/|&=!<>\n()]*[^=!<>\n()])?=[^=]"
)
"""A name that does not follow a dot, or an attribute that may be assigned."""

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
    for node in of_annotations(statement):
        if isinstance(node, ast.Name) and node in undefined:
            return node
    for node in evaluated(statement):
        match node:
            case ast.Name() if node in undefined:
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


def _raises(call: ast.Call, file: ParsedPython, project: Recording, depth: int) -> bool:
    """True for a call of a function of the project that raises before it can return."""
    found = callee(call, file, project)
    if found is not None:
        return never_ends(found.function, found.file, project, depth) is not None
    return callee_name(call) in _STARTING and any(
        never_ends(each.node, each.file, project, depth) is not None
        for each in _given(call, file, project)
    )


def _given(call: ast.Call, file: ParsedPython, project: Recording) -> Iterator[Named]:
    """The functions of the project that a call is given."""
    for argument in (*call.args, *(each.value for each in call.keywords)):
        for node in walk(argument):
            if isinstance(node, ast.Name) and (found := named(node, file, project)) is not None:
                yield found


def never_ends(
    node: ast.AST, home: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> Raising | None:
    """What raises in each run of a function or a program, before it has computed anything.

    That is up to the end of its first loop, which is taken to run, or of a call that trains. Of a
    function that may return before, the rest is not looked at.
    """
    if not isinstance(node, ast.FunctionDef | ast.Module):
        return None
    key = ("never ends", node, depth)
    return home.fact(key, lambda: _never_ends(node, home, project, depth))


def _never_ends(
    node: ast.FunctionDef | ast.Module, home: ParsedPython, project: Recording, depth: int
) -> Raising | None:
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(node)):
        return None
    for statement in passed(node.body):
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
            if home is None or not shows_all_names(home) or project.assigning(node.attr):
                return False
            return re.search(rf"\b{node.attr}\b", home.text.text) is None
    return False


def has_no_such_attribute(node: ast.Attribute, file: ParsedPython, project: Recording) -> bool:
    """True for `self.name` that no class around, and nothing else in the project, has."""
    if not (isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)):
        return False
    owner = class_of_self(node.value, file)
    if owner is None or node.attr.startswith("__") or project.is_alone:
        return False
    every = [*lineage(owner, file, project)]
    if not all(_shows_attributes(kind, home) for kind, home in every) or not any(
        isinstance(each, ast.FunctionDef) and each.name == "__init__"
        for kind, _ in every
        for each in kind.body
    ):
        return False
    last, _ = every[-1]
    others = {*map(innermost_name, last.bases)}
    if not others <= _WITHOUT_ATTRIBUTES or has_class_below(owner, project, mixed=True):
        return False
    return not project.python_source_matches(_NAMING_OTHERWISE % ((node.attr.encode(),) * 3))


def _shows_attributes(owner: ast.ClassDef, home: ParsedPython) -> bool:
    """False for a class whose objects may get attributes that no statement names."""
    first, last = owner.lineno - 1, owner.end_lineno or owner.lineno
    text = "\n".join(home.text.text.split("\n")[first:last])
    return not (owner.decorator_list or owner.keywords or _GIVING_ATTRIBUTES.search(text))


def misfits(call: ast.Call, file: ParsedPython, project: Recording) -> bool:
    """True for a call of a function or class of the project that does not take its arguments."""
    found = callee(call, file, project)
    return found is not None and not fits(call, found.function.args, bound=found.bound)
