"""The LibCST nodes of one expression, each with its place in the file.

A fix needs the commas, parentheses and comments of the expression that it changes, and of nothing
else. So LibCST parses that expression alone; a whole file would take it many hundred times longer.
"""

from __future__ import annotations

import ast
import warnings

import libcst as cst
from libcst._nodes.internal import CodegenState  # what libcst.metadata extends, too

from precision_lint.model.finding import Span


class Expression:
    """The concrete syntax of one expression."""

    def __init__(self, node: cst.BaseExpression, offsets: _Offsets) -> None:
        self.node = node
        self._offsets = offsets  # they go by identity: the nodes must live

    @classmethod
    def parse(cls, source: str, start: int, expected: ast.expr) -> Expression | None:
        """The expression `source`, which stands at the offset `start` without parentheses around.

        None if LibCST cannot parse it, or if it is not what the file's `ast` has there: before
        Python 3.12 the places of expressions in f-strings can be wrong.
        """
        enclosed = f"({source})"  # it may go over several lines
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes, as for the whole file
                there = ast.parse(enclosed, mode="eval").body
            if ast.dump(there) != ast.dump(expected):
                return None
            module = cst.parse_module(enclosed)
            match module.body:
                case [cst.SimpleStatementLine(body=[cst.Expr(value=node)])]:
                    node = node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])
                case _:
                    return None
            offsets = _Offsets(module, start)
            node._codegen(offsets)
        except (SyntaxError, ValueError, cst.ParserSyntaxError, RecursionError, MemoryError):
            return None
        return cls(node, offsets) if offsets.offset == start + len(source) else None

    def extent(self, node: cst.CSTNode) -> Span:
        """The span of a node of this expression, its own parentheses included."""
        return self._offsets.extents[id(node)]


class _Offsets(CodegenState):
    """Code generation that remembers where each node starts and ends.

    LibCST's PositionProvider takes twice as long as its parser. One pass that only adds up lengths
    is enough: the generated code *is* the source, so what has been generated so far is the offset.
    """

    def __init__(self, module: cst.Module, offset: int) -> None:
        super().__init__(
            default_indent=module.default_indent, default_newline=module.default_newline
        )
        self.offset = offset
        self.extents: dict[int, Span] = {}
        self._starts: list[int] = []

    def add_token(self, value: str) -> None:
        self.offset += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.extents[id(node)] = Span(self._starts.pop(), self.offset)
