"""JSON to settings. Comments, trailing commas, NaN and Infinity are read as their readers do."""

from __future__ import annotations

import json
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
from precision_lint.source.text.errors import MergeConflict, Template, Unparsable, unparsable
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_DECODER = json.JSONDecoder(strict=False)
# Python's json reads the words and `1e+5`, and the grammar does not; what a script puts there may
# be a number.
_NOT_A_NUMBER = regex(rf"\b(?:NaN|Infinity)\b|(?<=\d)[eE]\+(?=\d)|{EXPANDED}+")
_PLACEHOLDER = regex(r'\{\{|\{%|<%|"\s*:\s*(?:\$|[A-Z][A-Z0-9_]+\b)')


@lru_cache(maxsize=1)
def _language() -> Language:
    import tree_sitter_json
    from tree_sitter import Language

    return Language(tree_sitter_json.language())


def parse(text: SourceText) -> tuple[tuple[Value, ...], Unparsable | None]:
    """The values of a file (several in JSON Lines), and the first defect if it is not valid.

    What can be read of a broken file is read.

    Raises:
        Template: the file is valid only after substitution.
        MergeConflict: the file holds both sides of a merge.
        Unparsable: it is nested too deeply.
    """
    masked = _NOT_A_NUMBER.sub(lambda match: "1" * len(match.group()), text.text)
    reader = _Reader(text, Syntax(masked, _language()))
    root = reader.syntax.root
    documents = tuple(reader.value(child, 0) for child in root.named_children if _is_value(child))
    for error in reader.syntax.errors():
        if not _is_trailing_comma(error):
            offset = reader.syntax.span(error).start
            defect = unparsable(text, "invalid JSON", offset, _PLACEHOLDER)
            if isinstance(defect, Template | MergeConflict):
                raise defect
            return documents, defect
    return documents, None


def _is_value(node: Node) -> bool:
    return node.is_named and not (node.is_error or node.is_missing or node.is_extra)


class _Reader:
    def __init__(self, text: SourceText, syntax: Syntax) -> None:
        self.text = text
        self.syntax = syntax

    def value(self, node: Node, depth: int) -> Value:
        span = self.syntax.span(node)
        if depth > MAX_DEPTH:
            position = self.text.position(span.start)
            raise Unparsable(f"nested more than {MAX_DEPTH} levels deep", *position)
        match node.type:
            case "object":
                pairs = (child for child in node.named_children if child.type == "pair")
                entries = tuple(self.entry(pair, depth + 1) for pair in pairs)
                return Mapping(span, entries, flow=True)
            case "array":
                items = (child for child in node.named_children if _is_value(child))
                return Sequence(span, tuple(self.value(item, depth + 1) for item in items))
            case _:
                return self.literal(span)

    def entry(self, pair: Node, depth: int) -> Entry:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        assert key is not None
        name = self.literal(self.syntax.span(key))
        span = self.syntax.span(pair)
        # Next to an error the grammar guesses, and what it takes for the value may be no value.
        if value is None or any(child.is_error for child in pair.children):
            return Entry(name, Opaque(Span(name.span.end, span.end)), span)
        return Entry(name, self.value(value, depth), span)

    def literal(self, span: Span) -> Scalar | Opaque:
        try:
            return scalar(span, _DECODER.decode(self.text[span]))
        except (ValueError, RecursionError):
            return Opaque(span)


def _is_trailing_comma(error: Node) -> bool:
    """True for a comma before a closing bracket, and for the element that the parser adds."""
    before, after = error.prev_sibling, error.next_sibling
    while before is not None and before.type == "comment":
        before = before.prev_sibling
    while after is not None and after.type == "comment":
        after = after.next_sibling
    if error.is_missing:
        return before is not None and after is not None and (before.type, after.type) == (",", "]")
    alone = error.child_count == 1 and error.children[0].type == ","
    return alone and after is not None and after.type in ("}", "]")
