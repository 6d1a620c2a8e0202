"""A parsed Python file: its `ast` for the facts, concrete syntax of expressions for the fixes."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import span_of
from precision_lint.source.text.errors import Template, Unparsable, merge_conflict
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from precision_lint.source.python.expressions import Expression

N = TypeVar("N", bound=ast.AST)

_ROW = regex(r" \(detected at line \d+\)| on line \d+$")
_TEMPLATE = regex(r"^[ \t]*\{%|\{\{ ?cookiecutter\.", re.MULTILINE)
"""What a file holds that becomes Python only when a template engine has filled it in."""
_PLACEHOLDER = regex(r"\$|\?\?|\{\{|\{%|<%")
"""What a row holds that a program replaces before it is Python."""


@frozen(eq=False, slots=False)
class ParsedPython(Memo):
    """A Python file as text and tree.

    Facts come from the fast `ast`; LibCST parses the few expressions that a fix changes.
    """

    text: SourceText
    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, level by level."""
        return walk(self.tree)

    def nodes_of(self, kind: type[N]) -> list[N]:
        """The nodes of one class, level by level: one search for all who ask."""
        return cast("list[N]", self._nodes_by_class.get(kind, []))

    @cached_property
    def _nodes_by_class(self) -> dict[type[ast.AST], list[ast.AST]]:
        found = defaultdict[type[ast.AST], list[ast.AST]](list)
        for node in self.nodes:
            found[type(node)].append(node)
        return dict(found)

    def span_of(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> Span:
        """The span of an `ast` node: the flow evaluates many of them more than once."""
        span = self._spans.get(node)
        if span is None:
            span = self._spans[node] = span_of(self.text, node)
        return span

    @cached_property
    def _spans(self) -> dict[ast.AST, Span]:
        return {}

    def rows_of(self, node: ast.stmt) -> str:
        """The text of the rows of a statement."""
        return self.text[self.text.span_of_rows(node.lineno, node.end_lineno or node.lineno)]

    def expression(self, span: Span) -> Expression | None:
        """The concrete syntax of the expression at exactly `span`; LibCST is imported here.

        None if LibCST cannot parse it. A fix is built from nodes, so where there are none there is
        a finding without a fix.
        """
        from precision_lint.source.python.expressions import Expression

        node = self.node_at(span)
        return None if node is None else Expression.parse(self.text[span], span.start, node)

    def node_at(self, span: Span) -> ast.expr | None:
        """The outermost expression at exactly `span`, which leaves parentheses around it out.

        The spans of a row are worked out once: a file can be one row that is full of findings.
        """
        row = self.text.row(span.start)
        at_row = self._expressions.setdefault(row, {})
        if not at_row:
            for node in self._expressions_by_row.get(row, ()):  # outer ones first
                at_row.setdefault(self.span_of(node), node)
        return at_row.get(span)

    @cached_property
    def _expressions(self) -> dict[int, dict[Span, ast.expr]]:
        return {}

    @cached_property
    def _expressions_by_row(self) -> dict[int, list[ast.expr]]:
        found = defaultdict[int, list[ast.expr]](list)
        for node in self.nodes:
            if isinstance(node, ast.expr):
                found[node.lineno].append(node)
        return dict(found)


ReadPython: TypeAlias = Callable[[Path, int], "ParsedPython | None"]
"""Gives the parsed file at a path; None if there is none with at most so many bytes."""


_NEWER = (
    ((3, 14), regex(r".*(?<![\w'\"])t[rR]?[\"']")),
    ((3, 12), regex(r"[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]+\w+\[")),
    ((3, 12), regex(r"[ \t]*type[ \t]+\w+(?:\[[^\]\n]*\])?[ \t]*=(?!=)")),
    ((3, 11), regex(r"[ \t]*except\*")),
)
"""Syntax that a release brought, by how its row looks."""

_MAY_BE_NEWER = regex(r"f-string|multiple exception types")
"""What this interpreter says of syntax that newer ones accept, without a row that shows it."""
_ESCAPE = regex(r"[ \t]*(?:%[A-Za-z_]|!)|.*=[ \t]*[!%][A-Za-z_]")
"""A line that only IPython reads."""
_FORMATTED = regex(r"(?<!\w)[rR]?[fFtT][rR]?[\"']")
"""A formatted string, which may hold more since 3.12: what is said of it is said of its parts."""


def _needed(row: str) -> str:
    """The release of Python that a row was written for, if it is newer than this one."""
    found = (release for release, pattern in _NEWER if pattern.match(row))
    needed = next(found, (0, 0))
    return ".".join(map(str, needed)) if needed > sys.version_info[:2] else ""


def parse_python(text: SourceText) -> ParsedPython:
    """Parse a Python file without importing or executing it.

    Raises:
        Unparsable: it is not Python that this interpreter knows, or nested too deeply.
        Template: it is Python only after substitution.
    """
    try:
        tree = _tree_of_script(text.code)
    except SyntaxError as error:
        if conflict := merge_conflict(text):
            raise conflict from None
        version = ".".join(map(str, sys.version_info[:2]))
        # The finding says its place; Python counts the rows of all cells of a notebook.
        said = _ROW.sub("", error.msg)
        needed = _needed(error.text or "")
        hint = f"; this syntax needs Python {needed}" if needed else ""
        problem = f"{said} (read with Python {version}{hint})"
        is_template = _PLACEHOLDER.search(error.text or "") or _TEMPLATE.search(text.code)
        kind = Template if is_template else Unparsable
        raise kind(problem, error.lineno or 1, error.offset or 1) from None
    except ValueError as error:  # a null byte, before Python 3.12
        raise Unparsable(str(error), 1, 1) from None
    except (RecursionError, MemoryError):
        raise Unparsable("nested too deeply", 1, 1) from None
    return ParsedPython(text, tree)


def _tree_of_script(code: str) -> ast.Module:
    """The tree of a file, or of a script whose cells IPython runs: `%load_ext` is no Python."""
    try:
        return _tree_of_any_release(code)
    except SyntaxError as error:
        if not _ESCAPE.match(error.text or ""):
            raise
    from precision_lint.source.text.notebook_magics import without_escapes

    return _tree_of_any_release(without_escapes(code))


def _tree_of_any_release(code: str) -> ast.Module:
    """The tree of code for this Python or a newer one."""
    try:
        return tree_of(code)
    except SyntaxError as error:
        newer = _newer_tree(code, error)
        if newer is None:
            raise
    return newer


def tree_of(code: str) -> ast.Module:
    with warnings.catch_warnings():
        # Invalid escapes and the like are another linter's business.
        warnings.simplefilter("ignore")
        tree = compile(
            code,
            "<source>",  # by a real name, the place of an error is looked up on the disk
            "exec",
            ast.PyCF_ONLY_AST,
            dont_inherit=True,
        )
    assert isinstance(tree, ast.Module)
    return tree


def _newer_tree(code: str, error: SyntaxError) -> ast.Module | None:
    """The tree of code for a newer Python than this one, without what this one does not know."""
    row = error.text or ""
    if not (_needed(row) or _FORMATTED.search(row) or _MAY_BE_NEWER.search(error.msg)):
        return None
    from precision_lint.source.python.newer import in_older_syntax

    older = in_older_syntax(code)
    try:
        return None if older is None else tree_of(older)
    except (SyntaxError, ValueError):
        return None
