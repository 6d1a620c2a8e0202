"""Which of the expressions of a choice stands in a run: of an `if`, a conditional, a table.

`torch.bfloat16 if args.bf16 else torch.float32` is `torch.bfloat16` where `args.bf16` holds. What
holds in a run is for others to say.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax_tree import SyntaxTree


@frozen
class Choosing:
    """What a run knows: whether conditions hold, and the name under which it looks in a table;
    None for what is not known.
    """

    syntax: SyntaxTree
    holds: Callable[[ast.expr], bool | None]
    key: Callable[[ast.Dict], object]

    def chosen(self, named: ast.expr) -> ast.expr | None:
        """What stands in place of an expression in this run, or what its variable is assigned."""
        inner: ast.AST = named
        around: list[tuple[ast.If, bool]] = []
        value: ast.expr = named
        statement: ast.stmt | None = None
        for parent in self.syntax.within_function(named):
            match parent:
                case ast.IfExp() | ast.Dict() if statement is None:
                    value = parent
                case ast.If(test=test, body=body) if inner is not test:
                    around.append((parent, inner in body))
            if isinstance(parent, ast.stmt) and statement is None:
                statement = parent
            inner = parent
        for branching, is_in_body in reversed(around):
            holds = self.holds(branching.test)
            if holds is None:
                return None
            if holds is not is_in_body:
                block = branching.body if holds else branching.orelse
                return self._assigned(block, _target(statement))
        return self._leaf(value)

    def _assigned(self, block: Sequence[ast.stmt], name: str | None) -> ast.expr | None:
        """What the statements of a block assign to a variable at last."""
        found: ast.expr | None = None
        for statement in block if name is not None else ():
            match statement:
                case ast.Assign(value=value) if _target(statement) == name:
                    found = self._leaf(value)
                case ast.If(test=test, body=body, orelse=orelse) if _assigns(statement, name):
                    holds = self.holds(test)
                    if holds is None:
                        return None
                    found = self._assigned(body if holds else orelse, name)
                case _ if _assigns(statement, name):
                    return None
        return found

    def _leaf(self, value: ast.expr) -> ast.expr | None:
        match value:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                holds = self.holds(test)
                return None if holds is None else self._leaf(body if holds else orelse)
            case ast.Dict(keys=keys, values=values):
                name = self.key(value)
                for key, held in zip(keys, values, strict=True):
                    if name is not None and isinstance(key, ast.Constant) and key.value == name:
                        return self._leaf(held)
                return None
        return value


def _target(statement: ast.stmt | None) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _assigns(statement: ast.stmt, name: str | None) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in walk(statement)
    )
