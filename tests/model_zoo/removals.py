"""Casts in model code: where they are, and the file without one of them.

A *site* is a call that chooses a floating dtype: `.to(x.dtype)`, `.float()`, `.type_as(y)`, an
argument `dtype=` of torch, the argument of `torch.finfo`. Its removal is an edit of the text, so
that the record of what a removal does needs positions only, and no source.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.model_zoo.facts import Span

NAMED = {"float", "half", "bfloat16", "double"}
"""Methods that are a cast by their name."""

_TAKES_DTYPE = {
    "softmax", "log_softmax", "cumsum", "cumprod", "sum", "mean", "prod", "norm", "new_zeros",
    "new_ones", "new_full", "new_empty", "new_tensor",
}  # fmt: skip
"""Methods of a tensor with an argument `dtype`."""

_LIBRARIES = ("torch.", "nn.functional.", "F.")
_OTHER_KINDS = re.compile(r"torch\.(?:u?int\d*|long|short|bool|complex\d*)\Z")
"""dtypes that are no choice of a precision."""


@dataclass(frozen=True, slots=True)
class Site:
    """A call that chooses a dtype, and the edit that takes the choice away."""

    kind: str
    call: Span
    removed: Span
    inserted: str = ""

    @property
    def rows(self) -> range:
        """The rows of the call, from 1."""
        return range(self.call[0], self.call[2] + 1)


def sites(source: str) -> list[Site]:
    """The sites of a file, in order."""
    lines = source.encode().splitlines(keepends=True)
    found = [
        site
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        for site in _sites(node, lines)
    ]
    return sorted(found, key=lambda site: site.removed)


def without(source: str, removed: Span, inserted: str = "") -> str:
    """The source with an edit."""
    lines = source.encode().splitlines(keepends=True)
    row, column, end_row, end_column = removed
    before = b"".join(lines[: row - 1]) + lines[row - 1][:column]
    after = lines[end_row - 1][end_column:] + b"".join(lines[end_row:])
    return (before + inserted.encode() + after).decode()


def original_row(row: int, removed: Span) -> int:
    """The row, in the file as it was, of a row in the edited file."""
    return row + removed[2] - removed[0] if row > removed[0] else row


def _sites(call: ast.Call, lines: list[bytes]) -> Iterator[Site]:
    arguments = sorted((*call.args, *call.keywords), key=lambda each: _span(each)[:2])
    chosen = [each for each in arguments if _chooses(each)]
    match call.func:
        case ast.Attribute(attr=name) if name in NAMED and not arguments:
            yield Site(name, _span(call), _suffix(call, lines))
        case ast.Attribute(attr="type_as"):
            yield Site("type_as", _span(call), _suffix(call, lines))
        case ast.Attribute(attr="to" | "type" as name) if chosen and len(chosen) == len(arguments):
            yield Site(name, _span(call), _suffix(call, lines))
        case ast.Attribute(attr="to") if chosen:
            yield Site("to", _span(call), _argument(arguments, chosen[0]))
        case ast.Attribute() if ast.unparse(call.func) == "torch.finfo" and chosen:
            if ast.unparse(call.args[0]) != "torch.float32":
                yield Site("finfo", _span(call), _span(call.args[0]), "torch.float32")
        case ast.Attribute(attr=name) if name in _TAKES_DTYPE or ast.unparse(call.func).startswith(
            _LIBRARIES
        ):
            for each in chosen:
                if isinstance(each, ast.keyword) and each.arg == "dtype":
                    yield Site("dtype=", _span(call), _argument(arguments, each))


def _chooses(argument: ast.expr | ast.keyword) -> bool:
    """True for an argument that is a floating dtype, as far as its form says."""
    if isinstance(argument, ast.keyword):
        return argument.arg == "dtype" and not _OTHER_KINDS.match(ast.unparse(argument.value))
    match argument:
        case ast.Attribute(value=ast.Name(id="torch")):
            said = ast.unparse(argument)
            return "float" in said or said in {"torch.half", "torch.double"}
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name.endswith("dtype")
    return False


def _suffix(call: ast.Call, lines: list[bytes]) -> Span:
    """From the dot of a method to the end of its call."""
    assert isinstance(call.func, ast.Attribute)
    row, column = call.func.end_lineno or 0, call.func.end_col_offset or 0
    column -= len(call.func.attr)
    while (dot := lines[row - 1][:column].rstrip()) == b"":
        row, column = row - 1, len(lines[row - 2])
    assert dot.endswith(b".")
    return (row, len(dot) - 1, *_span(call)[2:])


def _argument(arguments: list[ast.expr | ast.keyword], argument: ast.expr | ast.keyword) -> Span:
    """An argument with the comma that it needs no more."""
    position = arguments.index(argument)
    start, end = _span(argument)[:2], _span(argument)[2:]
    if position:
        start = _span(arguments[position - 1])[2:]
    elif len(arguments) > 1:
        end = _span(arguments[1])[:2]
    return (*start, *end)


def _span(node: ast.expr | ast.keyword) -> Span:
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
