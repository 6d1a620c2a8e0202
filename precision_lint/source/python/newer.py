"""Syntax that is newer than the Python that runs the linter, written as the older grammar has it.

LibCST knows the grammars of newer releases, `ast` that of this interpreter only. What `ast` lacks
is covered with spaces, so that everything else keeps its place: type parameters, the word `type` of
an alias, all but the first of the exceptions of `except A, B`. Quotes in a formatted string with
the same quotes become the other ones; one with other new syntax is left out. The older text is only
parsed: what is reported and changed is the file itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_Place = Callable[["cst.CSTNode"], tuple[int, int]]
_Cover = tuple[int, int, str]
"""Where a text begins and ends, and what stands for it."""


def in_older_syntax(code: str) -> str | None:
    """The code in the grammar of this interpreter, with everything in its place; None if not so."""
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    try:
        wrapper = MetadataWrapper(cst.parse_module(code), unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    rows = code.split("\n")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)

    def place(node: cst.CSTNode) -> tuple[int, int]:
        found = positions[node]
        first, last = found.start, found.end
        return starts[first.line - 1] + first.column, starts[last.line - 1] + last.column

    try:
        covers = sorted(_covers(wrapper.module, code, place), reverse=True)
    except _NoSuchSyntax:
        return None
    for start, end, new in covers:
        code = code[:start] + new + code[end:]
    return code


def _covers(node: cst.CSTNode, code: str, place: _Place) -> Iterator[_Cover]:
    """What stands for the newer syntax in a node, and in what is below it."""
    import libcst as cst

    match node:
        case cst.TypeParameters():
            start, end = place(node)
            yield start, end, _blank(code[start:end])
            return
        case cst.TypeAlias():
            start, _ = place(node)
            end, _ = place(node.name)  # a statement of its own, so that the indentation stays
            yield start, end, "0" + " " * (end - start - 2) + ";"
        case cst.FormattedString() | cst.TemplatedString():
            start, end = place(node)
            text = _formatted(code[start:end], node)
            if text != code[start:end]:
                yield start, end, text
            return
        case cst.ExceptHandler(type=cst.Tuple(lpar=[]) as several):
            _, first = place(several.elements[0].value)
            _, end = place(several)
            yield first, end, _blank(code[first:end])
        case cst.ExceptStarHandler() if sys.version_info < (3, 11):
            star = code.index("*", place(node)[0])
            yield star, star + 1, " "
    for child in node.children:
        yield from _covers(child, code, place)


def _formatted(text: str, node: cst.FormattedString | cst.TemplatedString) -> str:
    """A formatted string that this interpreter can parse.

    Raises:
        _NoSuchSyntax: it has a row without characters.
    """
    prefix = node.start.replace("t", "f").replace("T", "f")
    content = text[len(prefix) : len(text) - len(node.end)]
    mark = node.end[0]
    other = content.replace(mark, "'" if mark == '"' else '"')
    for each in (content, other):
        with suppress(SyntaxError, ValueError):
            ast.parse(f"({prefix}{each}{node.end})", mode="eval")
            return f"{prefix}{each}{node.end}"
    if not all(text[2:].split("\n")):  # no place for the backslash that goes on
        raise _NoSuchSyntax
    return '""' + _blank(text[2:])


class _NoSuchSyntax(Exception):
    """Something cannot be written in the older grammar at the same place."""


def _blank(text: str) -> str:
    """Spaces, with a backslash before each line end: the statement goes on."""
    rows = ["".join(map(_cover, row)) for row in text.split("\n")]
    return "\n".join([*(f"{row[:-1]}\\" for row in rows[:-1]), rows[-1]])


def _cover(character: str) -> str:
    """Spaces in place of a character: `ast` counts the bytes of a row."""
    return " " * len(character.encode("utf-8", "surrogatepass"))
