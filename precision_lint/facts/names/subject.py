"""Whether a place is reached with a text: what the conditions around it say of that text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.scaling.scalers import conditions_around
from precision_lint.facts.context import PythonFile
from precision_lint.facts.runs.interpreter.tables import table_of
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.python.truth import implied


def is_reached_with(value: str, subject: ast.expr, call: ast.Call, file: PythonFile) -> bool:
    """True if `call` is reached where `subject` is the text, as far as conditions mention it.

    A condition that mentions the subject and cannot be decided may well be the one that turns the
    text into something else.
    """
    syntax = syntax_tree(file)
    if syntax.may_fail_on_purpose(call) or any(
        isinstance(each, ast.BoolOp | ast.Match) for each in syntax.within_function(call)
    ):
        return False
    written = ast.unparse(subject)
    for test, holds in conditions_around(call, file):
        for part, expected in implied(test, holds):
            if _probes_torch(part):
                return False
            if written in map(ast.unparse, _expressions(part)):
                is_met = _truth(part, written, value, file)
                if is_met is not expected:
                    return False
    return True


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    return (each for each in walk(node) if isinstance(each, ast.expr))


def _probes_torch(test: ast.expr) -> bool:
    """True for `hasattr(torch, name)`."""
    return any(
        isinstance(each, ast.Call) and ast.unparse(each.func) == "hasattr" for each in walk(test)
    )


def _truth(test: ast.expr, written: str, value: str, file: PythonFile) -> bool | None:
    """Whether a condition on the subject holds for the text; None if that is not known."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[other]) if ast.unparse(left) == written:
            return _compared(value, op, other, file)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, ast.Name(id=kind)]):
            return kind == "str" if ast.unparse(subject) == written else None
        case ast.Name() | ast.Attribute() | ast.Subscript() if ast.unparse(test) == written:
            return bool(value)
    return None


def _compared(value: str, op: ast.cmpop, other: ast.expr, file: PythonFile) -> bool | None:
    match op, other:
        case (ast.Is() | ast.IsNot(), ast.Constant(value=None)):
            return isinstance(op, ast.IsNot)
        case (ast.Eq() | ast.NotEq(), ast.Constant(value=constant)):
            return (constant == value) is isinstance(op, ast.Eq)
        case (ast.In() | ast.NotIn(), _):
            known = _members(other, file)
            return None if known is None else (value in known) is isinstance(op, ast.In)
    return None


def _members(node: ast.expr, file: PythonFile) -> frozenset[object] | None:
    """The elements of a display, or the keys of a table; None if not all are literals."""
    table = table_of(node, file)
    items: list[ast.expr | None]
    match node:
        case _ if table is not None:
            items = [*table.keys]
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            items = [*elements]
        case _:
            return None
    values = [item.value for item in items if isinstance(item, ast.Constant)]
    return frozenset(values) if len(values) == len(items) else None
