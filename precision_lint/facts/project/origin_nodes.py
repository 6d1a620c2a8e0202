"""The expression at an origin, in whichever file of the project has it."""

from __future__ import annotations

import ast

from precision_lint.facts.origin import Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.source.python.parse import ParsedPython


def origin_node(
    origin: Origin, file: ParsedPython, project: Recording
) -> tuple[ast.expr, ParsedPython] | None:
    """The expression at an origin, and its file; None if that file cannot be read.

    `file` is the one that asks: its own text need not be read once more.
    """
    is_own = origin.source.path == file.text.path
    module = file if is_own else project.module(origin.source.path)
    node = None if module is None else module.node_at(origin.span)
    return None if module is None or node is None else (node, module)
