"""Statements that certainly raise: what comes after them does not run.

They read a name that nothing binds, or call a function or a class of the project with arguments
that it does not take.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import Named, named
from precision_lint.source.python.arguments import fits
from precision_lint.source.python.evaluated import evaluated
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import blocks
from precision_lint.source.python.syntax import innermost_name
from precision_lint.source.python.undefined import undefined_names

_PLAIN = frozenset({"ABC", "Dataset", "Function", "Generic", "Module", "Protocol", "object"})
"""Bases of other packages: a call of a class below them calls its `__init__`."""

_DEEPEST = 4
"""Bases of bases that are followed."""


def raising_before(
    offset: int, file: ParsedPython, project: Recording
) -> ast.Name | ast.Call | None:
    """What raises before control comes to a place, or to the function or class around it."""
    body: Sequence[ast.stmt] = file.tree.body
    while body:
        inside: Sequence[ast.stmt] = ()
        for statement in body:
            span = file.span_of(statement)
            if span.end > offset:
                inside = _block_with(offset, statement, file)
                break
            if (found := raising_in(statement, file, project)) is not None:
                return found
        body = inside
    return None


def _block_with(offset: int, statement: ast.stmt, file: ParsedPython) -> Sequence[ast.stmt]:
    """The block of a statement in which a place is."""
    for block in blocks(statement):
        start, end = file.span_of(block.body[0]).start, file.span_of(block.body[-1]).end
        if start <= offset < end:
            return block.body
    return ()


def raising_in(
    statement: ast.stmt, file: ParsedPython, project: Recording
) -> ast.Name | ast.Call | None:
    """What raises of that which a statement evaluates whenever control comes to it."""
    undefined = undefined_names(file)
    for node in evaluated(statement):
        match node:
            case ast.Name() if node in undefined:
                return node
            case ast.Call() if misfits(node, file, project):
                return node
    return None


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
            innermost_name(base) in _PLAIN
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
