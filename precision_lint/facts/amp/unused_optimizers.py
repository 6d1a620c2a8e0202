"""Optimizers that a program makes and never uses."""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.source.python.syntax import is_main
from precision_lint.source.python.syntax_tree import syntax_tree


def is_unused(optimizer: Call, file: PythonFile) -> bool:
    """True for `optimizer = Adam(…)` in a function that neither steps it nor gives it to anything.

    So it is below `if __name__ == "__main__":`; another variable of a module may be read by files
    that import it.
    """
    node, syntax = file.node_at(optimizer.span), syntax_tree(file)
    match None if node is None else syntax.parent(node):
        case (
            ast.Assign(targets=[ast.Name(id=name) as target])
            | ast.AnnAssign(target=ast.Name(id=name) as target)
        ):
            scope: ast.AST | None = syntax.function(target)
            around = [each for each in syntax.around(target) if isinstance(each, ast.If)]
            if scope is None and any(map(is_main, around)):
                scope = file.tree
            return scope is not None and not syntax.reads(scope, name)
        case ast.Expr():
            return True
    return False
