"""What a statement certainly evaluates before control leaves it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from precision_lint.source.python.nodes import children, walk
from precision_lint.source.python.statements import (
    DEFINITIONS,
    FUNCTIONS,
    Loop,
    TryStar,
    TypeAlias,
    blocks,
    is_leaving,
)
from precision_lint.source.python.syntax import (
    innermost_name,
    is_main,
    parameters,
    with_defaults,
)


def evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes that a statement evaluates whenever control comes to it.

    Of a compound statement those of its head: the test of `if` and `while`, the iterable of `for`,
    the first context of `with`, the decorators, defaults and bases of a definition, and what the
    body of a class evaluates. Of `a and b` and `a if b else c` what is evaluated first. Of a list
    that a comprehension makes without conditions also its element, as `passed` goes into loops.
    Annotations are left out: see `of_annotations`.
    """
    pending: list[ast.AST] = [*_heads(statement)][::-1]
    while pending:
        node = pending.pop()
        yield node
        pending += [*_below(node)][::-1]


def of_annotations(statement: ast.stmt) -> Iterator[ast.AST]:
    """The annotations of a function, which Python evaluates with it, unless they are postponed.

    Many files postpone them, and so does Python 3.14.
    """
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        given = (each.annotation for each in parameters(statement.args))
        for each in (*given, statement.returns):
            if each is not None:
                yield from walk(each)


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
        case TypeAlias():
            return  # evaluated when its value is read
        case _ if not blocks(statement):
            yield from children(statement)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first):
            yield first
        case ast.Compare(left=left, comparators=[first, *_]):
            yield from (left, first)
        case ast.ListComp(elt=element, generators=[ast.comprehension(iter=first, ifs=[])]):
            yield from (first, element)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield node.generators[0].iter
        case _ if not isinstance(node, FUNCTIONS):
            yield from children(node)


def passed(body: Sequence[ast.stmt], may_swallow: Callable[[ast.expr], bool]) -> list[ast.stmt]:
    """The statements that each run comes to which goes through a body, up to its first loop.

    It goes into `with`, unless a context may swallow what is raised, and at least once into the
    loop. Of a branch only the test is evaluated, but for `if __name__ == "__main__":`. What comes
    after a branch that may leave the body is left out.
    """
    found: list[ast.stmt] = []
    _pass(body, found, may_swallow)
    return found


def _pass(
    body: Sequence[ast.stmt], found: list[ast.stmt], may_swallow: Callable[[ast.expr], bool]
) -> bool:
    """Adds what a run comes to; False if the rest of the body is not to be added."""
    for statement in body:
        found.append(statement)
        is_through = _pass(_entered(statement, may_swallow), found, may_swallow)
        ends = is_leaving(statement) or _may_leave(statement)
        if ends or not is_through or isinstance(statement, Loop):
            return False
    return True


def _entered(statement: ast.stmt, may_swallow: Callable[[ast.expr], bool]) -> Sequence[ast.stmt]:
    """The statements inside of a statement that a run comes to, and whose errors it lets out."""
    match statement:
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            return () if any(may_swallow(each.context_expr) for each in items) else body
        case ast.For() | ast.AsyncFor() | ast.While():
            return statement.body
        case ast.If() if is_main(statement):
            return statement.body
        case ast.Try(handlers=[]) | TryStar(handlers=[]):
            # `return` in `finally` swallows what is raised.
            ends = any(map(_may_leave, statement.finalbody))
            return () if ends else [*statement.body, *statement.finalbody]
    return ()


def _may_leave(statement: ast.stmt, *, is_in_loop: bool = False) -> bool:
    """True if a run may leave the body around a statement there, but for an error."""
    match statement:
        case ast.Raise(exc=raised):
            return raised is not None and innermost_name(raised) == "SystemExit"
        case ast.Break() | ast.Continue():
            return not is_in_loop
        case _ if is_leaving(statement):
            return True
        case _ if isinstance(statement, DEFINITIONS):
            return False
    is_in_loop = is_in_loop or isinstance(statement, Loop)
    inside = (each for block in blocks(statement) for each in block.body)
    return any(_may_leave(each, is_in_loop=is_in_loop) for each in inside)
