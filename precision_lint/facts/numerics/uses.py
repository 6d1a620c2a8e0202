"""Where a value goes inside of its function, followed by the names that hold what is made of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.nodes import children, walk
from precision_lint.source.python.statements import FunctionDefinition, Loop, own_nodes
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree

_MOST_ROUNDS = 6
"""Assignments that lead from one name to the next."""

_ABOUT = frozenset({"shape", "dtype", "device", "ndim"})


def used_by(
    made: ast.expr,
    names: frozenset[str],
    syntax: SyntaxTree,
    accepts: Callable[[ast.Call], bool] = lambda call: True,
) -> ast.Call | None:
    """The first call, of a function or method of these names, that works with what is made.

    It comes after the value is made, or in the next iteration of a loop around both.
    """

    def is_use(node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and callee_name(node) in names and accepts(node)

    found = first_use(made, is_use, syntax)
    return found if isinstance(found, ast.Call) else None


def first_use(
    made: ast.expr, is_use: Callable[[ast.expr], bool], syntax: SyntaxTree
) -> ast.expr | None:
    """The first expression of a kind that works with what is made, as in `used_by`.

    What follows in the same iteration comes before what the next one does.
    """
    own = own_nodes(syntax.body(made))
    kind = [node for node in own if isinstance(node, ast.expr) and is_use(node)]
    held = holders(made, syntax) if kind else set()
    uses = [
        node
        for node in kind
        if _may_follow(node, made, syntax)
        and mentions(node, made, held - _rebound(node, made, held, syntax))
    ]
    return min(uses, key=lambda use: (_end(use) < _end(made), _place(use)), default=None)


def _rebound(use: ast.expr, made: ast.expr, held: set[str], syntax: SyntaxTree) -> set[str]:
    """The names that hold something else at a use: the last assignment on every way gave it."""
    last: dict[str, ast.expr] = {}
    around = {use, *syntax.within_function(use)}
    parents, start = around, _end(made)
    if _end(use) < start:  # in the next iteration, of which the beginning counts
        start = (0, 0)
        loops = {one for one in syntax.within_function(made) if isinstance(one, Loop)}
        parents = {each for each in around if not loops.isdisjoint((each, *syntax.around(each)))}
    for block in (block for parent in parents for block in _blocks(parent)):
        for statement in block if not around.isdisjoint(block) else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                    start < _place(statement) < _place(use)
                ):
                    if name not in last or _place(last[name]) < _place(value):
                        last[name] = value
    return {name for name, value in last.items() if not mentions(value, made, held)}


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block


def _may_follow(use: ast.expr, made: ast.expr, syntax: SyntaxTree) -> bool:
    if _end(use) >= _end(made):
        return True
    loops = {one for one in syntax.within_function(made) if isinstance(one, Loop)}
    return not loops.isdisjoint(syntax.within_function(use))


def _place(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def holders(made: ast.expr, syntax: SyntaxTree) -> set[str]:
    """The names and attributes of its function that hold what is made of a value."""
    return _followed(lambda value, held: mentions(value, made, held), made, syntax)


def holders_of_names(names: set[str], place: ast.AST, syntax: SyntaxTree) -> set[str]:
    """Some names, and those that hold what the function of a place makes of what they hold."""
    return names | _followed(lambda value, held: reads_any(value, names | held), place, syntax)


def _followed(
    is_made_of: Callable[[ast.expr, set[str]], bool], place: ast.AST, syntax: SyntaxTree
) -> set[str]:
    bound = [each for node in own_nodes(syntax.body(place)) for each in _bound_by(node)]
    held: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        before = len(held)
        for target, value in bound:
            if is_made_of(value, held):
                held |= {*names_of(target)}
        if len(held) == before:
            break
    return held


def _bound_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a node binds or adds to, and to what: lists hold what is appended, loops take it out."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
        ):
            yield target, value
        case ast.Call(func=ast.Attribute(value=owner, attr="append" | "extend"), args=[value]):
            yield owner, value
        case (
            ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated)
        ):
            yield from _taken_out(target, iterated)


def _taken_out(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    match target, iterated:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=parts):
            for inner, part in zip(targets, parts, strict=False):
                yield from _taken_out(inner, part)
        case ast.Tuple(elts=[_, inner]), ast.Call(func=ast.Name(id="enumerate"), args=[whole, *_]):
            yield from _taken_out(inner, whole)
        case ((ast.Name() | ast.Attribute()), (ast.Name() | ast.Attribute() | ast.Subscript())):
            yield target, iterated


def names_of(target: ast.expr) -> Iterator[str]:
    """The names and attributes that an assignment to a target binds."""
    match target:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from names_of(item)
        case ast.Name() | ast.Attribute() if (path := dotted(target)) is not None:
            yield path


_SELECTING = frozenset(
    {"cat", "concat", "concatenate", "stack", "hstack", "vstack"}
    | {"cpu", "detach", "clone", "contiguous", "to"}
    | {"squeeze", "unsqueeze", "view", "reshape", "flatten", "transpose", "permute", "t"}
)
"""Functions and methods that hand numbers on as they are."""


def returned_to(made: ast.expr, syntax: SyntaxTree) -> Iterator[ast.Call]:
    """The calls in the file that get a value: its function returns it, or some of its numbers.

    A function is called by its name, and a method of `self` in its class.
    """
    body = syntax.body(made)
    if not isinstance(body, FunctionDefinition) or not is_returned(made, syntax):
        return
    owner = enclosing_class(made, syntax)
    for call in syntax.calls(body.name):
        match call.func:
            case ast.Name() if owner is None:
                yield call
            case ast.Attribute(value=ast.Name(id="self")) if owner is not None:
                if enclosing_class(call, syntax) is owner:
                    yield call


def is_returned(made: ast.expr, syntax: SyntaxTree) -> bool:
    """True for a value that its function returns, or some of its numbers."""
    held = _followed(lambda value, held: _hands_on(value, made, held), made, syntax)
    returned = (node.value for node in own_nodes(syntax.body(made)) if isinstance(node, ast.Return))
    return any(value is not None and _hands_on(value, made, held) for value in returned)


def _hands_on(node: ast.expr, made: ast.expr, held: set[str]) -> bool:
    """True for a value, some of its numbers, and what joins it with others."""
    if node is made or (isinstance(node, ast.Name | ast.Attribute) and dotted(node) in held):
        return True
    match node:
        case ast.Subscript(value=value):
            return _hands_on(value, made, held)
        case ast.Call(func=ast.Attribute(value=owner), args=given) if (
            callee_name(node) in _SELECTING
        ):
            parts = [owner]
            for each in given[:1]:
                parts += each.elts if isinstance(each, ast.List | ast.Tuple) else [each]
            return any(_hands_on(each, made, held) for each in parts)
    return False


def reads_any(node: ast.AST, names: set[str]) -> bool:
    """True if one of the names or attributes stands in an expression."""
    return any(
        isinstance(inner, ast.Name | ast.Attribute) and dotted(inner) in names
        for inner in walk(node)
    )


def mentions(node: ast.expr, made: ast.expr, held: set[str]) -> bool:
    """True if an expression works with the value; what asks for its shape or dtype does not."""
    if isinstance(node, ast.Compare) or (isinstance(node, ast.Attribute) and node.attr in _ABOUT):
        return False
    if node is made:
        return True
    if isinstance(node, ast.Name | ast.Attribute) and dotted(node) in held:
        return True
    given = (each.value if isinstance(each, ast.keyword) else each for each in children(node))
    return any(mentions(each, made, held) for each in given if isinstance(each, ast.expr))
