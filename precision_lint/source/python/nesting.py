"""The blocks of statements around a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import blocks


def blocks_around(offset: int, file: ParsedPython) -> Iterator[tuple[Sequence[ast.stmt], int]]:
    """The blocks around a place, the outermost first, each with how many statements end before."""
    body: Sequence[ast.stmt] = file.tree.body
    while body:
        before = next(
            (index for index, each in enumerate(body) if offset < file.span_of(each).end), len(body)
        )
        yield body, before
        around = body[before : before + 1]
        inside = (block.body for each in around for block in blocks(each))
        body = next((each for each in inside if _is_in(offset, each, file)), ())


def _is_in(offset: int, body: Sequence[ast.stmt], file: ParsedPython) -> bool:
    return file.span_of(body[0]).start <= offset < file.span_of(body[-1]).end
