"""Contexts that may swallow what is raised in them."""

from __future__ import annotations

import ast
import re

from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import (
    Definition,
    FunctionDefinition,
    Try,
    own_statements,
)
from precision_lint.source.python.syntax import innermost_name

_OF_LIBRARIES = regex(r"suppress|ignored|raises|assertRaises(?:Regex)?|catch")
"""`contextlib.suppress`, `pytest.raises`, `logger.catch`."""
_LEAVING = frozenset({"__exit__", "__aexit__"})


def may_swallow(context: ast.expr, project: Recording) -> bool:
    """True for `suppress(OSError)`, and for a context that the project defines and that does so."""
    name = innermost_name(context)
    if _OF_LIBRARIES.fullmatch(name) is not None:
        return True
    pattern = rb"\b(?:def|class)[ \t]+%b\b" % re.escape(name).encode()
    for path in project.python_sources_matching(pattern) if name else ():
        module = project.module(path)
        if module is None or any(
            _swallows(each)
            for each in module.nodes
            if isinstance(each, Definition) and each.name == name
        ):
            return True
    return False


def _swallows(node: Definition) -> bool:
    """True for a generator that yields in `try`, and a class whose `__exit__` may return true."""
    if isinstance(node, FunctionDefinition):
        return any(
            isinstance(inner, ast.Yield)
            for each in own_statements(node.body)
            if isinstance(each, Try) and each.handlers
            for statement in each.body
            for inner in walk(statement)
        )
    return any(
        isinstance(each, ast.Return) and not _is_false(each.value)
        for method in node.body
        if isinstance(method, FunctionDefinition) and method.name in _LEAVING
        for each in own_statements(method.body)
    )


def _is_false(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and not value.value)
