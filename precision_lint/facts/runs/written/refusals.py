"""Where a program itself refuses the value of an option.

It raises, an assertion fails, or a table of the program does not have the value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.facts.runs.interpreter.tables import lookups
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_Conditions: TypeAlias = "tuple[tuple[ast.expr, bool], ...]"
_STOPPING = frozenset({"error", "exit", "fail"})
"""Functions after which a program does not go on: `parser.error`, `sys.exit`."""


@frozen
class Refusal:
    """A statement that stops a run because of an option."""

    place: Place
    shown: str


def refusals(evaluator: Evaluator, option: str) -> Iterator[Refusal]:
    """The statements that certainly stop a run because of the value of an option."""
    run = evaluator.run
    for file in run.program.files:
        for statement, tests in _stops(file):
            if not any(_mentions(test, option) for test, _ in tests):
                continue
            decided = [evaluator.truth(test, file) is holds for test, holds in tests]
            is_met = all(decided) and evaluator.reaches(statement, file)
            if is_met and may_run(statement, file, run.program):
                yield _refusal(statement, file)
        for lookup, table in lookups(file):
            is_asked = _mentions(lookup.slice, option) and _lacks(lookup, table, file, evaluator)
            is_reached = is_asked and evaluator.reaches(lookup, file)
            if is_reached and may_run(lookup, file, run.program):
                yield _refusal(lookup, file, "no such entry: {}")


def _refusal(node: ast.expr | ast.stmt, file: ParsedPython, text: str = "{}") -> Refusal:
    shown = " ".join(file.text[file.span_of(node)].split())
    return Refusal(file.text.place(file.span_of(node)), text.format(shown))


def _lacks(
    lookup: ast.Subscript, table: ast.Dict, file: ParsedPython, evaluator: Evaluator
) -> bool:
    """True if a table certainly has no entry for the key that a lookup gives."""
    known = evaluator.value(lookup.slice, file)
    if known is None or not known.is_plain:
        return False
    keys = [key.value for key in table.keys if isinstance(key, ast.Constant)]
    return len(keys) == len(table.keys) and known.value not in keys


@fact
def _stops(file: ParsedPython) -> tuple[tuple[ast.stmt, _Conditions], ...]:
    """The statements that stop a run, each with the conditions around it in its function."""
    return tuple((statement, tests) for statement, tests in _found(file) if tests)


def _found(file: ParsedPython) -> Iterator[tuple[ast.stmt, _Conditions]]:
    syntax = syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Assert(test=test):
                around = _conditions(node, syntax)
                if around is not None:
                    yield node, (*around, (test, False))
            case ast.Raise() | ast.Expr(value=ast.Call()) if _stops_run(node):
                yield node, _conditions(node, syntax) or ()


def _stops_run(node: ast.Raise | ast.Expr) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=function)):
            return last_name(function) in _STOPPING
    return True


def _conditions(node: ast.stmt, syntax: SyntaxTree) -> _Conditions | None:
    """The conditions around a statement in its function; None where others decide, too."""
    tests: list[tuple[ast.expr, bool]] = []
    inner: ast.AST = node
    for parent in syntax.within_function(node):
        if isinstance(parent, ast.If) and inner is not parent.test:
            tests.append((parent.test, inner in parent.body))
        elif isinstance(parent, ast.Try | ast.ExceptHandler | ast.For | ast.While):
            return None
        inner = parent
    return tuple(tests)


def _mentions(test: ast.expr, option: str) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr == option)
        or (isinstance(node, ast.Name) and node.id == option)
        or (isinstance(node, ast.Constant) and node.value == option)
        for node in walk(test)
    )
