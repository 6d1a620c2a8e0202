"""The code of a file, without what only people read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.text.comments import comments
from precision_lint.source.text.notebook import NotebookText


@fact
def code_of(file: ParsedPython) -> str:
    """The text of a file with blanks for comments and docstrings, so that offsets stay."""
    text, pieces, end = file.text.text, list[str](), 0
    for start, stop in sorted(_remarks(file)):
        pieces += [text[end:start], " " * (stop - start)]
        end = stop
    return "".join([*pieces, text[end:]])


def _remarks(file: ParsedPython) -> Iterator[Span]:
    """The comments, and the statements that are nothing but a text."""
    yield from comments(file.text, "notebook" if isinstance(file.text, NotebookText) else "python")
    for node in file.nodes_of(ast.Expr):
        match node.value:
            case ast.Constant(value=str()):
                yield file.span_of(node)
