"""Tree-sitter trees addressed by character offset instead of UTF-8 byte offset."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from precision_lint.model.finding import Span

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_CHUNK = 4096
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


class Syntax:
    """The concrete syntax tree of a text."""

    def __init__(self, text: str, language: Language) -> None:
        from tree_sitter import Parser

        self._utf8 = text.encode("utf-8", "surrogatepass")
        self._is_ascii = len(self._utf8) == len(text)
        self.text = text
        self.root: Node = Parser(language).parse(self._utf8).root_node

    def span(self, node: Node) -> Span:
        return Span(self._offset(node.start_byte), self._offset(node.end_byte))

    def raw(self, node: Node) -> str:
        """The text of a node."""
        return self.text[slice(*self.span(node))]

    def errors(self) -> Iterator[Node]:
        """Where the text does not fit the grammar, in source order."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            if node.is_error or node.is_missing:
                yield node
            else:
                pending.extend(child for child in reversed(node.children) if child.has_error)

    def _offset(self, byte: int) -> int:
        if self._is_ascii:
            return byte
        base = byte // _CHUNK
        return self._characters[base] + _count(self._utf8[base * _CHUNK : byte])

    @cached_property
    def _characters(self) -> list[int]:
        """How many characters start before each chunk of bytes."""
        totals = [0]
        for start in range(0, len(self._utf8), _CHUNK):
            totals.append(totals[-1] + _count(self._utf8[start : start + _CHUNK]))
        return totals


def _count(utf8: bytes) -> int:
    """The number of characters that start in a piece of UTF-8."""
    return len(utf8.translate(None, _CONTINUATION_BYTES))
