"""A file's syntax tree with what surrounds each node, and who reads and binds its names."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from math import inf
from operator import attrgetter

from precision_lint.model.finding import Span
from precision_lint.model.memo import Memo, fact
from precision_lint.model.regex import regex
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.nodes import children, walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    FUNCTIONS,
    AnyFunction,
    TryStar,
    With,
    blocks,
)
from precision_lint.source.python.syntax import callee_name, last_name

_EXPECTS_FAILURE = regex(r"raises|warns|assertRaises|assertWarns|assertLogs|suppress")

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)

Scope = AnyFunction | ast.Module


@fact
def calls_by_span(file: ParsedPython) -> Mapping[Span, ast.Call]:
    """The calls of a file, outer ones first."""
    return {file.span_of(node): node for node in file.nodes_of(ast.Call)}


def argument_at(span: Span, call: ast.Call, file: ParsedPython) -> ast.expr | None:
    """The argument of a call at exactly `span`."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return next((each for each in given if file.span_of(each) == span), None)


class SyntaxTree(Memo):
    """A file's tree with what surrounds each node."""

    def __init__(self, file: ParsedPython) -> None:
        self._file = file
        self.tree = file.tree
        self.names = imported_names(file)
        self._stores: dict[tuple[Scope, str], list[ast.Name]] = {}
        self._reads: dict[ast.AST, dict[str, list[ast.AST]]] = {}
        self._parents: dict[ast.AST, ast.AST] = {}

    @property
    def nodes(self) -> list[ast.AST]:
        return self._file.nodes

    @property
    def every_call(self) -> list[ast.Call]:
        return self._file.nodes_of(ast.Call)

    @cached_property
    def _last_rows(self) -> list[int]:
        return [each.end_lineno or each.lineno for each in self.tree.body]

    @cached_property
    def _calls(self) -> Mapping[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for node in self.every_call:
            found.setdefault(last_name(node.func), []).append(node)
        return found

    def attribute_stores(self, owner: ast.ClassDef) -> Mapping[str, list[ast.Attribute]]:
        """Where a class assigns attributes, by their names."""

        def compute() -> Mapping[str, list[ast.Attribute]]:
            found: dict[str, list[ast.Attribute]] = {}
            for each in walk(owner):
                if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                    found.setdefault(each.attr, []).append(each)
            return found

        return self.fact(("attribute stores", owner), compute)

    def parent(self, node: ast.AST) -> ast.AST | None:
        found = self._parents.get(node)
        if found is None and node is not self.tree:
            self._find_parents(getattr(node, "lineno", None))
            found = self._parents.get(node)
        return found

    def _find_parents(self, row: int | None) -> None:
        """Find the parents of the nodes of what the top level has at a row, or of all nodes.

        Most files are asked about few of their functions and classes.
        """
        body = self.tree.body
        if row is not None:
            first = bisect_left(self._last_rows, row)
            end = next((at for at in range(first + 1, len(body)) if body[at].lineno > row), None)
            body = body[first:end]
        for statement in body:
            if statement in self._parents:
                continue
            self._parents[statement] = self.tree
            below: list[ast.AST] = [statement]
            for node in below:  # it grows meanwhile
                inner = children(node)
                below += inner
                for child in inner:
                    self._parents[child] = node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, innermost first."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    def within_function(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in up to its function, which comes last if there is one."""
        for parent in self.around(node):
            yield parent
            if isinstance(parent, FUNCTIONS):
                return

    def function(self, node: ast.AST) -> AnyFunction | None:
        """The function whose body a node runs in: not the one that it decorates."""
        inner = node
        for parent in self.around(node):
            if isinstance(parent, FUNCTIONS) and _runs_in(inner, parent):
                return parent
            inner = parent
        return None

    def body(self, node: ast.AST) -> AnyFunction | ast.ClassDef | ast.Module:
        """The function, class or module in whose body a node stands: see `own_nodes`."""
        inner = node
        for parent in self.around(node):
            if isinstance(parent, ast.ClassDef) and inner in parent.body:
                return parent
            if isinstance(parent, FUNCTIONS) and _runs_in(inner, parent):
                return parent
            inner = parent
        return self.tree

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which a statement stands."""
        parent = self.parent(statement)
        found = [parent.body] if isinstance(parent, ast.Module) else []
        if isinstance(parent, ast.ExceptHandler | ast.match_case):
            found = [parent.body]
        elif isinstance(parent, ast.stmt):
            found = [block.body for block in blocks(parent)]
        return next((block for block in found if statement in block), [])

    def calls(self, name: str) -> list[ast.Call]:
        """The calls whose callee ends in a name."""
        return self._calls.get(name, [])

    def reads(self, scope: ast.AST, name: str) -> list[ast.AST]:
        """Where a scope, or what is nested in it, reads, deletes or declares a name."""
        if scope not in self._reads:
            found: dict[str, list[ast.AST]] = {}
            self._reads[scope] = found
            for node in walk(scope):
                match node:
                    case ast.Name(id=read, ctx=ast.Load() | ast.Del()):
                        found.setdefault(read, []).append(node)
                    case ast.Global(names=declared) | ast.Nonlocal(names=declared):
                        for each in declared:
                            found.setdefault(each, []).append(node)
        return self._reads[scope].get(name, [])

    def is_declared_global(self, scope: ast.AST, name: str) -> bool:
        """True if a scope, or what is nested in it, has `global name`."""
        return any(isinstance(each, ast.Global) for each in self.reads(scope, name))

    def stores(self, scope: Scope, name: str) -> list[ast.Name]:
        """Where a scope itself binds or deletes a name, the last place first."""
        if (scope, name) not in self._stores:
            first, last = _rows(scope)
            self._stores[scope, name] = [
                node
                for node in self._stored.get(name, ())
                if first <= node.lineno <= last and self.body(node) is scope
            ]
        return self._stores[scope, name]

    @cached_property
    def _stored(self) -> Mapping[str, list[ast.Name]]:
        """Where the file binds or deletes names, the last places first."""
        found: dict[str, list[ast.Name]] = {}
        names = [node for node in self._file.nodes_of(ast.Name) if type(node.ctx) is not ast.Load]
        for node in sorted(names, key=_PLACE, reverse=True):
            found.setdefault(node.id, []).append(node)
        return found

    def may_fail_on_purpose(self, node: ast.AST) -> bool:
        """Whether a node is a probe: in `try:`, or where a test expects an error or a warning."""
        inner = node
        for parent in self.around(node):
            match parent:
                case ast.Try(body=body, handlers=[_, *_]) | TryStar(body=body) if (
                    isinstance(inner, _SIMPLE) and inner in body
                ):
                    return True
                case ast.With() | ast.AsyncWith() if _expects_failure(parent):
                    return True
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    return False
            inner = parent
        return False

    def is_expected_to_fail(self, node: ast.AST) -> bool:
        """Whether a test expects an error or a warning where a node is: `pytest.raises(…)`."""
        for parent in self.around(node):
            match parent:
                case ast.With() | ast.AsyncWith() if _expects_failure(parent):
                    return True
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    return False
        return False


_PLACE: Callable[[ast.expr], tuple[int, int]] = attrgetter("lineno", "col_offset")


def _rows(scope: Scope) -> tuple[int, float]:
    """The first and the last row of a scope."""
    if isinstance(scope, ast.Module):
        return 1, inf
    return scope.lineno, scope.end_lineno or inf


def _expects_failure(block: With) -> bool:
    opened = [each.context_expr for each in block.items]
    calls = [each for each in opened if isinstance(each, ast.Call)]
    return any(_EXPECTS_FAILURE.search(callee_name(call)) for call in calls)


def _runs_in(node: ast.AST, function: AnyFunction) -> bool:
    """Decorators, defaults and annotations are evaluated outside of the function."""
    return node is function.body or (isinstance(function.body, list) and node in function.body)


@fact
def syntax_tree(file: ParsedPython) -> SyntaxTree:
    """The file's tree, made once for all the rules that look at it."""
    return SyntaxTree(file)
