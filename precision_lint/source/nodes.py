"""LibCST nodes by source span, without the price of a metadata provider.

LibCST's PositionProvider costs twice the parse (2.9 s/MB against 0.9). One pass of code generation
that only keeps offsets is enough: the generated code *is* the source, so the length of what has
been generated so far is the offset of the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import libcst as cst
from libcst._nodes.internal import CodegenState  # what libcst.metadata extends, too

from precision_lint.finding import Span
from precision_lint.source.text import SourceText

NodeT = TypeVar("NodeT", bound=cst.CSTNode)


class _Offsets(CodegenState):
    """Code generation that remembers where each node's syntax starts and ends."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(
            default_indent=module.default_indent, default_newline=module.default_newline
        )
        self.offset = 0
        self.spans: dict[tuple[Span, type[cst.CSTNode]], cst.CSTNode] = {}
        self.extents: dict[int, Span] = {}
        self._starts: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def pop_trailing_newline(self) -> None:
        if self.tokens:
            self.offset -= len(self.tokens.pop())

    def add_indent_tokens(self) -> None:
        self.offset += sum(map(len, self.indent_tokens))

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.extents[id(node)] = Span(self._starts.pop(), self.offset)

    @contextmanager
    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Iterator[None]:
        start = self.offset
        yield
        self.spans.setdefault((Span(start, self.offset), type(node)), node)


class NodeIndex:
    """The LibCST tree of one file, addressed by span."""

    def __init__(self, module: cst.Module | None, offsets: _Offsets | None) -> None:
        self._module = module  # the extents go by identity: the nodes must live
        self._offsets = offsets

    @classmethod
    def parse(cls, text: SourceText) -> NodeIndex:
        """Parse `text`; the index is empty if LibCST cannot, or does not reproduce the source."""
        try:
            module = cst.parse_module(text.text)
        except (cst.ParserSyntaxError, RecursionError):
            return cls(None, None)
        state = _Offsets(module)
        try:
            module._codegen(state)
        except RecursionError:
            return cls(None, None)
        if state.offset != len(text.text):
            return cls(None, None)
        return cls(module, state)

    def find(self, span: Span, kind: type[NodeT]) -> NodeT | None:
        """The node of type `kind` at exactly `span`, its own parentheses left out."""
        node = self._offsets.spans.get((span, kind)) if self._offsets else None
        return node if isinstance(node, kind) else None

    def extent(self, node: cst.CSTNode) -> Span:
        """The span of a node of this tree, parentheses included."""
        assert self._offsets is not None
        return self._offsets.extents[id(node)]
