"""Whether a place of a program is reached in one run, as far as its conditions are known."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.runs.questions import Questions
from precision_lint.facts.runs.reachable import is_main
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FUNCTIONS, FunctionDefinition, Leaving
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_CALLS = 8
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
    if isinstance(function, FunctionDefinition) and hops:
        owner = function
        state = evaluator.reaches_function(
            owner, lambda: _called(owner, file, evaluator, syntax, hops)
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
        if isinstance(inner, ast.stmt):
            yield from _left_before(inner, file, evaluator, syntax)
        match parent:
            case ast.If() if is_main(parent):
                yield file is evaluator.run.program.files[0]
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


def _left_before(
    statement: ast.stmt, file: ParsedPython, evaluator: Questions, syntax: SyntaxTree
) -> Iterator[bool | None]:
    """Whether `if …: return` before a statement lets it run."""
    for other in syntax.block(statement):
        if other is statement:
            return
        if isinstance(other, ast.If) and isinstance(other.body[-1], Leaving):
            holds = evaluator.truth(other.test, file)
            if holds or (holds is None and isinstance(other.body[-1], ast.Return)):
                yield None if holds is None else False


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
    if isinstance(owner, ast.ClassDef) and name == "__init__":
        name = owner.name
    calls = evaluator.run.program.calls_of(name, file)
    if name.startswith("__") or not calls or len(calls) > _MOST_CALLS:
        return True if not calls else None
    states = [reached(call, where, evaluator, hops - 1) for where, call in calls]
    if True in states:
        return True
    return False if all(state is False for state in states) else None
