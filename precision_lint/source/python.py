"""A Python file: its `ast` for the facts, its LibCST nodes for the rules."""

from __future__ import annotations

import ast
import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from precision_lint.finding import Span
from precision_lint.project import Project
from precision_lint.source.errors import Unparsable
from precision_lint.source.file import File
from precision_lint.source.text import SourceText

if TYPE_CHECKING:
    import libcst as cst

    from precision_lint.source.nodes import NodeIndex

NodeT = TypeVar("NodeT", bound="cst.CSTNode")


@dataclass(frozen=True)
class PythonFile(File):
    """A parsed Python file.

    Facts come from the fast `ast`; the slow LibCST tree is built when a rule first asks for a node.
    """

    tree: ast.Module

    def span_of(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> Span:
        """The span of an `ast` node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(
            self.text.offset_of_utf8(node.lineno, node.col_offset),
            self.text.offset_of_utf8(node.end_lineno, node.end_col_offset),
        )

    @cached_property
    def nodes(self) -> NodeIndex:
        """LibCST nodes by span. Importing and parsing happen here, and only here.

        Raises:
            libcst.ParserSyntaxError: `ast` accepts the file but LibCST does not know its syntax.
        """
        from precision_lint.source.nodes import NodeIndex

        return NodeIndex.parse(self.text)

    def node(self, span: Span, kind: type[NodeT]) -> NodeT | None:
        """The LibCST node of type `kind` at exactly `span`; None if LibCST cannot parse the file.

        A fix is built from nodes, so where there is no node there is a finding without a fix.
        """
        return self.nodes.find(span, kind)


def parse_python(text: SourceText, project: Project) -> PythonFile:
    """Parse a Python file without importing or executing it.

    Raises:
        Unparsable: it is not Python that this interpreter knows, or nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            # Invalid escapes and the like are another linter's business.
            warnings.simplefilter("ignore")
            tree = compile(
                text.text,
                str(text.path),
                "exec",
                ast.PyCF_ONLY_AST,
                dont_inherit=True,
            )
    except SyntaxError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        problem = f"{error.msg} (read with Python {version})"
        raise Unparsable(problem, error.lineno or 1, error.offset or 1) from None
    except ValueError as error:  # a null byte, before Python 3.12
        raise Unparsable(str(error), 1, 1) from None
    except (RecursionError, MemoryError):
        raise Unparsable("nested too deeply", 1, 1) from None
    assert isinstance(tree, ast.Module)
    return PythonFile(text, project, tree)
