"""Whether a place of a program is reached in one run, as far as its conditions are known."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from precision_lint.facts.runs.interpreter.exits import exits
from precision_lint.facts.runs.interpreter.questions import Questions
from precision_lint.facts.runs.interpreter.reachable import CALLED, is_main
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    FUNCTIONS,
    FunctionDefinition,
)
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_CALLS = 16
_MOST_HOPS = 3


def reached(
    node: ast.AST, file: ParsedPython, evaluator: Questions, hops: int = _MOST_HOPS
) -> bool | None:
    """Whether the conditions around a node, and around the calls of its function, hold.

    None if a condition is not known. Loops and callbacks are taken to run.
    """
    syntax = syntax_tree(file)
    found: list[bool | None] = []
    for state in _conditions(node, file, evaluator, syntax):
        if state is False:
            return False
        found.append(state)
    function = syntax.function(node)
    if isinstance(function, ast.Lambda):
        state = reached(function, file, evaluator, hops)
        return False if state is False else None if None in found else state
    if isinstance(function, FunctionDefinition) and hops:
        owner = function
        state = evaluator.reaches_function(
            owner, file, hops, lambda: _called(owner, file, evaluator, syntax, hops)
        )
        if state is False:
            return False
        found.append(state)
    return None if None in found else True


def _conditions(
    node: ast.AST, file: ParsedPython, evaluator: Questions, syntax: SyntaxTree
) -> Iterator[bool | None]:
    """Whether each condition holds that decides about a node in its function."""
    inner = node
    for parent in syntax.around(node):
        if isinstance(inner, ast.stmt) and isinstance(parent, ast.stmt):
            for statement in exits(file).before.get(inner, ()):
                leaves = _leaves(statement, file, evaluator)
                yield leaves if leaves is None else not leaves
        match parent:
            case ast.If() if is_main(parent):
                yield file is evaluator.program.files[0]
            case ast.If(test=test, body=body) if inner is not test:
                holds = evaluator.truth(test, file)
                yield holds if holds is None else holds is (inner in body)
            case ast.IfExp(test=test, body=one) if inner is not test:
                holds = evaluator.truth(test, file)
                yield holds if holds is None else holds is (inner is one)
            case ast.BoolOp(op=op, values=values):
                for value in values[: values.index(inner)] if inner in values else ():
                    holds = evaluator.truth(value, file)
                    yield holds if holds is None else holds is isinstance(op, ast.And)
            case ast.ExceptHandler() | ast.match_case():
                yield None
        if isinstance(parent, FUNCTIONS):
            return
        inner = parent


def _leaves(statement: ast.stmt, file: ParsedPython, evaluator: Questions) -> bool | None:
    """Whether a statement leaves its block; None if that is not known.

    A condition that is not known and only raises is taken to check something that holds.
    """
    match statement:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.If(test=test, body=body, orelse=orelse):
            if statement not in exits(file).leaving:
                return False
            holds = evaluator.truth(test, file)
            if holds is not None:
                return _any(body if holds else orelse, file, evaluator)
            ways = {_any(body, file, evaluator), _any(orelse, file, evaluator)}
            if ways == {True}:
                return True
            return None if statement in exits(file).returning else False
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return _any(body, file, evaluator)
    return False


def _any(body: Sequence[ast.stmt], file: ParsedPython, evaluator: Questions) -> bool | None:
    states = {_leaves(statement, file, evaluator) for statement in body}
    return True if True in states else None if None in states else False


def _called(
    function: FunctionDefinition,
    file: ParsedPython,
    evaluator: Questions,
    syntax: SyntaxTree,
    hops: int,
) -> bool | None:
    """Whether a function is called; one that nothing is seen to call may be a callback."""
    owner = syntax.parent(function)
    name = function.name
    made: bool | None = True
    if isinstance(owner, ast.ClassDef):
        made = _made(owner, file, evaluator, hops)
        if made is False:
            return False
        name = owner.name if name == "__init__" else name
    found = _any_called(name, file, evaluator, hops)
    return found if made or found is False else None


def _any_called(name: str, file: ParsedPython, evaluator: Questions, hops: int) -> bool | None:
    calls = evaluator.program.calls_of(name, file)
    if name.startswith("__") or not calls or len(calls) > _MOST_CALLS:
        return True if not calls else None
    state = _any_of([reached(call, where, evaluator, hops - 1) for where, call in calls])
    return None if state is False and name in CALLED else state  # libraries call it as well


def _made(owner: ast.ClassDef, home: ParsedPython, evaluator: Questions, hops: int) -> bool | None:
    """Whether a class is used that a condition chooses: `(AMP if args.amp else Plain)(model)`.

    One that no other extends is not used where none of its calls is reached.
    """
    files = evaluator.program.files
    chosen = [(node, file) for file in files for node in _chosen(file).get(owner.name, ())]
    if len(chosen) > _MOST_CALLS or hops < 1:
        return None if chosen else True
    if any(owner.name in _bases(file) for file in files):
        return None if chosen else True
    calls = [(call, file) for file, call in evaluator.program.calls_of(owner.name, home)]
    if not chosen and not 0 < len(calls) <= _MOST_CALLS:
        return True
    state = _any_of([reached(node, file, evaluator, hops - 1) for node, file in (*chosen, *calls)])
    return state if chosen or state is False else True


def _any_of(states: Sequence[bool | None]) -> bool | None:
    if True in states:
        return True
    return False if all(state is False for state in states) else None


@fact
def _chosen(file: ParsedPython) -> Mapping[str, list[ast.expr]]:
    """The names that are one of two in a conditional expression."""
    found: dict[str, list[ast.expr]] = {}
    for node in file.nodes:
        if isinstance(node, ast.IfExp):
            for branch in (node.body, node.orelse):
                if isinstance(branch, ast.Name | ast.Attribute):
                    found.setdefault(last_name(branch), []).append(branch)
    return found


@fact
def _bases(file: ParsedPython) -> frozenset[str]:
    """The classes that others in a file extend."""
    return frozenset(
        last_name(base)
        for node in file.nodes
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    )
