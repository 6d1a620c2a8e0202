"""Contexts that may swallow what is raised in them."""

from __future__ import annotations

import ast
import re

from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    Definition,
    FunctionDefinition,
    Try,
    own_statements,
)
from precision_lint.source.python.syntax import innermost_name
from precision_lint.source.python.syntax_tree import syntax_tree

_OF_LIBRARIES = regex(r"suppress|ignored|raises|assertRaises(?:Regex)?|catch|(?:Async)?ExitStack")
"""`contextlib.suppress`, `pytest.raises`, `logger.catch`."""
_DEEPEST = 4
"""Bases of bases that are followed."""
_LEAVING = frozenset({"__exit__", "__aexit__"})


def may_swallow(context: ast.expr, file: ParsedPython, project: Recording) -> bool:
    """True for `suppress(OSError)`, and for a context that the project defines and that does so."""
    made = binding(context, syntax_tree(file)) if isinstance(context, ast.Name) else None
    contexts = made if isinstance(made, list) else [context]
    return any(_is_swallowing(innermost_name(each), project, _DEEPEST) for each in contexts)


def _is_swallowing(name: str, project: Recording, depth: int) -> bool:
    if _OF_LIBRARIES.fullmatch(name) is not None:
        return True
    pattern = rb"\b(?:def|class)[ \t]+%b\b" % re.escape(name).encode()
    for path in project.python_sources_matching(pattern) if name else ():
        module = project.module(path)
        if module is None or any(
            _swallows(each, project, depth)
            for each in module.nodes
            if isinstance(each, Definition) and each.name == name
        ):
            return True
    return False


def _swallows(node: Definition, project: Recording, depth: int) -> bool:
    """True for a generator that yields in `try`, and a class whose `__exit__` may return true."""
    if isinstance(node, FunctionDefinition):
        return any(
            isinstance(inner, ast.Yield)
            for each in own_statements(node.body)
            if isinstance(each, Try) and each.handlers
            for statement in each.body
            for inner in walk(statement)
        )
    methods = [
        each for each in node.body if isinstance(each, FunctionDefinition) and each.name in _LEAVING
    ]
    if not methods and depth:
        bases = map(innermost_name, node.bases)
        return any(_is_swallowing(base, project, depth - 1) for base in bases)
    return any(
        isinstance(each, ast.Return) and not _is_false(each.value)
        for method in methods
        for each in own_statements(method.body)
    )


def _is_false(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and not value.value)
