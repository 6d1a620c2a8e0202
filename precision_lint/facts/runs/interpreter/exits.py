"""Which statements of a file may leave the block that they are in."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence, Set

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Leaving, blocks
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_LEAVING = Leaving | ast.If | ast.With | ast.AsyncWith
"""The statements of which it is looked at whether they leave their block."""


@frozen(eq=False)
class Exits:
    """The nodes that hold a statement of a kind at any depth, or are one."""

    leaving: Set[ast.AST]
    """`return`, `raise`, `break` or `continue`."""
    returning: Set[ast.AST]
    ending: Set[ast.AST]
    """`return` or `raise`."""
    before: Mapping[ast.AST, Sequence[ast.stmt]]
    """What may leave a block before one of its statements."""
    generators: Set[ast.AST]
    """The functions that yield."""


@fact
def exits(file: ParsedPython) -> Exits:
    """What may leave a block in a file."""
    syntax = syntax_tree(file)
    leaving: set[ast.AST] = set()
    returning: set[ast.AST] = set()
    ending: set[ast.AST] = set()
    generators: set[ast.AST] = set()
    for node in file.nodes:
        if isinstance(node, Leaving):
            _mark(node, leaving, syntax)
            if isinstance(node, ast.Return):
                _mark(node, returning, syntax)
            if isinstance(node, ast.Return | ast.Raise):
                _mark(node, ending, syntax)
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            generators.update(filter(None, [syntax.function(node)]))
    return Exits(leaving, returning, ending, _before(leaving), generators)


def _before(leaving: Set[ast.AST]) -> Mapping[ast.AST, Sequence[ast.stmt]]:
    before: dict[ast.AST, Sequence[ast.stmt]] = {}
    for node in leaving:
        for block in blocks(node) if isinstance(node, ast.stmt) else ():
            found: list[ast.stmt] = []
            for statement in block.body:
                if found:
                    before[statement] = tuple(found)
                if isinstance(statement, _LEAVING) and statement in leaving:
                    found.append(statement)
    return before


def _mark(node: ast.AST, marked: set[ast.AST], syntax: SyntaxTree) -> None:
    """Adds a node and what it stands in."""
    marked.add(node)
    for parent in syntax.around(node):
        if parent in marked:
            return
        marked.add(parent)
