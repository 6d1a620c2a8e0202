"""Settings in whose place a program certainly puts something else, whatever a run says."""

from __future__ import annotations

import ast
import re

from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings import holds_settings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import is_main, last_name
from precision_lint.source.python.syntax_tree import syntax_tree


def put_in_place(name: str, program: Program) -> tuple[ast.Assign, ParsedPython] | None:
    """The assignment that certainly puts something else in place of what a setting says."""
    for file, node in program.assigned.get(name, ()):
        syntax = syntax_tree(file)
        statement = syntax.parent(node)
        around = syntax.within_function(node)
        if (
            isinstance(statement, ast.Assign)
            and isinstance(node, ast.Attribute | ast.Subscript)
            and holds_settings(_root(node))
            and not any(map(_may_pass_by, around))
            and not re.search(rf"\b{re.escape(name)}\b", ast.unparse(statement.value))
        ):
            return statement, file
    return None


def _root(node: ast.expr) -> str:
    """The variable that a member is reached from: `cfg` of `cfg["training"].precision`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return last_name(node)


def _may_pass_by(around: ast.AST) -> bool:
    """True for a statement around another one whose block a run may pass by."""
    if isinstance(around, ast.If):
        return not is_main(around)
    return isinstance(around, ast.Try | ast.For | ast.While)
