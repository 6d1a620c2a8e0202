"""TOML to settings: `tomllib` decides what is valid, tree-sitter says where it stands."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.config.settings_tree import (
    EXPANDED,
    MAX_DEPTH,
    Entry,
    Mapping,
    Opaque,
    Scalar,
    Sequence,
    Value,
    scalar,
)
from precision_lint.source.config.tree_sitter import Syntax
from precision_lint.source.text.errors import Unparsable, unparsable
from precision_lint.source.text.text import SourceText

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# tomllib needs quadratic memory for a long dotted key.
_KEY_PART = r"""\.[ \t]*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\w-]+)[ \t]*"""
_LONG_KEY = regex(f"(?:{_KEY_PART}){{{MAX_DEPTH}}}", re.ASCII)
_PLACE = regex(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@lru_cache(maxsize=1)
def _language() -> Language:
    import tree_sitter_toml
    from tree_sitter import Language

    return Language(tree_sitter_toml.language())


def parse(text: SourceText) -> tuple[Value, ...]:
    """The file's one table.

    Raises:
        Unparsable: the file is not valid TOML, or nested too deeply.
    """
    if key := _LONG_KEY.search(text.text):
        raise _too_deep(text, key.start())
    try:
        tomllib.loads(_filled(text))
    except tomllib.TOMLDecodeError as error:
        raise _invalid(text, str(error)) from None
    except RecursionError:
        raise _too_deep(text, 0) from None
    except ValueError as error:  # an integer of thousands of digits
        raise unparsable(text, str(error), 0) from None
    return (_Reader(text).document(),)


def _filled(text: SourceText) -> str:
    """The text with numbers for what a script puts there."""
    return text.text.replace(EXPANDED, "1")


def _invalid(text: SourceText, message: str) -> Unparsable:
    offset = len(text.text)
    if (place := _PLACE.search(message)) and place[1]:
        offset = text.offset(min(int(place[1]), len(text.line_starts)), int(place[2]))
    return unparsable(text, _PLACE.sub("", message), offset)


def _too_deep(text: SourceText, offset: int) -> Unparsable:
    return Unparsable(f"nested more than {MAX_DEPTH} levels deep", *text.position(offset))


@dataclass(slots=True)
class _Member:
    key: Scalar | Opaque
    span: Span
    content: Value | _Table | list[_Table]


@dataclass(slots=True)
class _Table:
    """A table while its members still arrive, from headers and dotted keys all over the file."""

    span: Span
    flow: bool = False
    members: dict[str, _Member] = field(default_factory=dict)

    def freeze(self) -> Mapping:
        entries = tuple(_freeze(member) for member in self.members.values())
        return Mapping(self.span, entries, self.flow)


def _freeze(member: _Member) -> Entry:
    match member.content:
        case _Table() as table:
            value: Value = table.freeze()
        case [*tables]:
            value = Sequence(member.span, tuple(table.freeze() for table in tables))
        case value:
            pass
    return Entry(member.key, value, member.span)


class _Reader:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.syntax = Syntax(_filled(text), _language())

    def document(self) -> Mapping:
        root = _Table(Span(0, len(self.text.text)))
        for node in self.syntax.root.named_children:
            match node.type:
                case "pair":
                    self.pair(node, root, 0)
                case "table" | "table_array_element":
                    self.table(node, root)
        return root.freeze()

    def table(self, node: Node, root: _Table) -> None:
        header, *pairs = (child for child in node.named_children if child.type != "comment")
        keys, span = self.keys(header), self.syntax.span(header)
        table = self.descend(root, keys[:-1], span)
        if node.type == "table_array_element":
            element = _Table(self.syntax.span(node))
            member = table.members.setdefault(_text(keys[-1]), _Member(keys[-1], span, []))
            assert isinstance(member.content, list)
            member.content.append(element)
            table = element
        else:
            table = self.descend(table, keys[-1:], span)
            table.span = self.syntax.span(node)
        for pair in pairs:
            self.pair(pair, table, len(keys))

    def pair(self, node: Node, table: _Table, depth: int) -> None:
        # A comment after the value is a child of the pair, too.
        key, value = (child for child in node.named_children if child.type != "comment")
        keys = self.keys(key)
        span = Span(self.syntax.span(key).start, self.syntax.span(value).end)
        table = self.descend(table, keys[:-1], span)
        content = self.value(value, depth + len(keys))
        table.members[_text(keys[-1])] = _Member(keys[-1], span, content)

    def descend(self, table: _Table, keys: list[Scalar | Opaque], span: Span) -> _Table:
        for key in keys:
            member = table.members.setdefault(_text(key), _Member(key, span, _Table(span)))
            content = member.content
            inner = content[-1] if isinstance(content, list) else content
            assert isinstance(inner, _Table)
            table = inner
        return table

    def keys(self, node: Node) -> list[Scalar | Opaque]:
        """The parts of a dotted key; the grammar nests them to the left."""
        parts: list[Node] = []
        while node.type == "dotted_key":
            node, part = node.named_children
            parts.append(part)
        return [self.key(part) for part in (node, *reversed(parts))]

    def key(self, node: Node) -> Scalar | Opaque:
        span = self.syntax.span(node)
        raw = self.text[span]
        return scalar(span, _loads(raw) if raw[0] in "\"'" else raw)

    def value(self, node: Node, depth: int) -> Value | _Table:
        span = self.syntax.span(node)
        if depth > MAX_DEPTH:
            raise _too_deep(self.text, span.start)
        match node.type:
            case "inline_table":
                table = _Table(span, flow=True)
                for child in node.named_children:
                    if child.type == "pair":
                        self.pair(child, table, depth + 1)
                return table
            case "array":
                items = (child for child in node.named_children if child.type != "comment")
                return Sequence(span, tuple(self.item(item, depth + 1) for item in items))
            case _:
                written = self.text[span]
                is_known = EXPANDED not in written or written[0] in "\"'"
                return scalar(span, _loads(written)) if is_known else Opaque(span)

    def item(self, node: Node, depth: int) -> Value:
        value = self.value(node, depth)
        return value.freeze() if isinstance(value, _Table) else value


def _text(key: Scalar | Opaque) -> str:
    literal = key.content if isinstance(key, Opaque) else key
    assert isinstance(literal, Scalar)
    return str(literal.value)


def _loads(literal: str) -> object:
    return tomllib.loads(f"v = {literal}")["v"]
