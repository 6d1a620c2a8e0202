"""The condition under which a call of a file is made, as far as its own function says."""

from __future__ import annotations

import ast

from precision_lint.facts.runs.interpreter.reaching import Condition
from precision_lint.model.finding import Span
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FUNCTIONS
from precision_lint.source.python.syntax import is_main
from precision_lint.source.python.syntax_tree import syntax_tree


def condition_of(span: Span, file: ParsedPython) -> str:
    """The nearest condition around the call at a place; empty if there is none in its function."""
    call = next((each for each in file.nodes_of(ast.Call) if file.span_of(each) == span), None)
    inner: ast.AST | None = call
    for parent in syntax_tree(file).around(call) if call is not None else ():
        match parent:
            case ast.If() if is_main(parent):
                return ""
            case ast.If(test=test, body=body) if inner is not test:
                return Condition(test, inner in body, file, None).shown
            case ast.IfExp(test=test, body=body) if inner is not test:
                return Condition(test, inner is body, file, None).shown
        if isinstance(parent, FUNCTIONS):
            return ""
        inner = parent
    return ""
