"""What code reads where it chooses: keys of tables, values that conditions compare, settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.vocabulary import names_bfloat16, names_float16
from precision_lint.model.dtypes import BFLOAT16, FLOAT16
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import SyntaxTree
from precision_lint.source.python.truth import connected, opposite


@frozen
class Otherwise:
    """Any name of a dtype but those that a condition compares: what leads into its `else`."""

    dtype: str
    but: frozenset[str]

    def allows(self, name: object) -> bool:
        named = {BFLOAT16: names_bfloat16, FLOAT16: names_float16}.get(self.dtype)
        return named is not None and named(name) and str(name).casefold() not in self.but


Chosen: TypeAlias = "str | bool | Otherwise"
"""The value that chooses: a name, that a switch is on, or a name that is left."""

_UNCHANGING = frozenset({"lower", "upper", "strip", "casefold"})
"""Methods of a name that leave it the same name."""


def compared(test: ast.expr) -> Iterator[tuple[ast.expr, Chosen]]:
    """What a condition compares, with a value for which it holds."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(name))]):
            yield left, name
        case ast.Compare(
            left=left,
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=names) | ast.List(elts=names) | ast.Set(elts=names)],
        ):
            for each in names:
                match each:
                    case ast.Constant(value=str(name)):
                        yield left, name
        case ast.BoolOp(values=values):
            for each in values:
                yield from compared(each)
        case ast.Name() | ast.Attribute():
            yield test, True


def left_to(dtype: str, test: ast.expr) -> Iterator[tuple[ast.expr, Chosen]]:
    """What a condition compares, with the names of a dtype for which it does not hold.

    `name == "bf16"` leaves `fp16` to the `else`, if that is where float16 is named. A switch is
    off there.
    """
    match test:
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[ast.Constant(value=str(name))]):
            yield left, name
            return
        case ast.Name() | ast.Attribute():
            yield test, False
            return
        case ast.BoolOp(op=ast.Or(), values=values):
            parts = values
        case _:
            parts = [test]
    found = [list(compared(part)) for part in parts]
    read = {ast.unparse(left) for each in found for left, _ in each}
    names = [name for each in found for _, name in each]
    if len(read) == 1 and all(found) and all(isinstance(name, str) for name in names):
        but = frozenset(str(name).casefold() for name in names)
        yield found[0][0][0], Otherwise(dtype, but)


def holds_with(
    asked: ast.expr, value: Chosen, test: ast.expr, syntax: SyntaxTree, hops: int
) -> bool | None:
    """Whether a condition holds if an expression has a value; None if that does not decide it."""
    if isinstance(value, bool) and ast.unparse(test) == ast.unparse(asked):
        return value
    match test:
        case ast.Name() if hops and ast.unparse(test) != ast.unparse(asked):
            held = binding(test, syntax)
            if isinstance(held, list) and len(held) == 1:
                return holds_with(asked, value, held[0], syntax, hops - 1)
        case ast.BoolOp(op=op, values=values):
            return connected(op, (holds_with(asked, value, one, syntax, hops) for one in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return opposite(holds_with(asked, value, operand, syntax, hops))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if ast.unparse(bare(left)) != ast.unparse(bare(asked)):
                return None
            is_one = _is_one_of(value, right)
            return opposite(is_one) if isinstance(op, ast.NotEq | ast.NotIn) else is_one
    return None


def _is_one_of(value: Chosen, right: ast.expr) -> bool | None:
    """Whether a name is one that is written out; None for names that are left, if one may be it."""
    match right:
        case ast.Constant(value=str(name)):
            names = [name]
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if all(
            isinstance(item, ast.Constant) for item in items
        ):
            names = [str(item.value) for item in items if isinstance(item, ast.Constant)]
        case _:
            return None
    match value:
        case Otherwise():
            return None if any(map(value.allows, names)) else False
        case str():
            return value.casefold() in {name.casefold() for name in names}
    return None


def key_of_lookup(table: ast.AST, syntax: SyntaxTree) -> ast.expr | None:
    """`name` in `table[name]` and `table.get(name)`."""
    match syntax.parent(table):
        case ast.Subscript(value=value, slice=key) if value is table:
            return key
        case ast.Attribute(attr="get" | "pop") as method:
            match syntax.parent(method):
                case ast.Call(func=function, args=[key, *_]) if function is method:
                    return key
    return None


def bare(node: ast.expr) -> ast.expr:
    """A name without what leaves it the same: `str(name).lower()`."""
    while True:
        match node:
            case ast.Call(func=ast.Name(id="str"), args=[inner]):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if (
                method in _UNCHANGING
            ):
                node = inner
            case _:
                return node


def setting_path(node: ast.expr) -> tuple[str, ...] | None:
    """The names that lead to a setting: (model, dtype) for `cfg.model.dtype`, `args["dtype"]`."""
    names: list[str] = []
    while True:
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                names.append(key)
                node = inner
            case ast.Call(
                func=ast.Attribute(value=inner, attr="get"), args=[ast.Constant(value=str(key)), *_]
            ):
                names.append(key)
                node = inner
            case ast.Call(
                func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(key)), *_]
            ):
                names.append(key)
                node = inner
            case _:
                break
    start = dotted(node)
    if start is None:
        return None
    path = (*start.split("."), *reversed(names))
    holder = next((number for number, name in enumerate(path[:-1]) if holds_settings(name)), None)
    return None if holder is None else path[holder + 1 :]
