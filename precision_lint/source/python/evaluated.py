"""What a statement certainly evaluates before control leaves it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.source.python.nodes import children
from precision_lint.source.python.statements import FUNCTIONS, blocks
from precision_lint.source.python.syntax import with_defaults


def evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes that a statement evaluates whenever control comes to it.

    Of a compound statement those of its head: the test of `if` and `while`, the iterable of `for`,
    the first context of `with`, the decorators, defaults and bases of a definition, and what the
    body of a class evaluates. Of `a and b`, `a if b else c` and comprehensions what is evaluated
    first. Annotations are left out: many files postpone them, and so does Python 3.14.
    """
    pending: list[ast.AST] = [*_heads(statement)][::-1]
    while pending:
        node = pending.pop()
        yield node
        pending += [*_below(node)][::-1]


def _heads(statement: ast.stmt) -> Iterator[ast.AST]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from statement.decorator_list
            yield from (each for _, each in with_defaults(statement.args) if each is not None)
        case ast.ClassDef():
            yield from (*statement.decorator_list, *statement.bases)
            for inner in statement.body:
                yield from _heads(inner)
        case ast.If(test=first) | ast.While(test=first) | ast.Assert(test=first):
            yield first
        case ast.For(iter=first) | ast.AsyncFor(iter=first) | ast.Match(subject=first):
            yield first
        case ast.With(items=[item, *_]) | ast.AsyncWith(items=[item, *_]):
            yield item.context_expr
        case ast.AnnAssign(value=ast.expr() as value):
            yield value
        case _ if not blocks(statement):
            yield from children(statement)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first):
            yield first
        case ast.Compare(left=left, comparators=[first, *_]):
            yield from (left, first)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield node.generators[0].iter
        case _ if not isinstance(node, FUNCTIONS):
            yield from children(node)
