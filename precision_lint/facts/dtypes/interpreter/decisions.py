"""Whether a condition certainly holds, by the constants that variables hold.

A call that leaves `output_type="pil"` at its default never takes the branch of another type.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from precision_lint.facts.dtypes.domain.values import Constant, Dtype, Tensor, Value
from precision_lint.facts.dtypes.interpreter.test_runs import is_of_run
from precision_lint.model.dtypes import ALIASES
from precision_lint.source.python.truth import truth

Known = Mapping[str, Value]
"""What is known of variables."""

_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Is: lambda left, right: _is_same(left, right),
    ast.IsNot: lambda left, right: not _is_same(left, right),
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda left, right: operator.contains(right, left),
    ast.NotIn: lambda left, right: not operator.contains(right, left),
}  # fmt: skip


def _is_same(left: object, right: object) -> bool:
    """`is` between constants: 1 equals True, and is not True."""
    return type(left) is type(right) and left == right


def decided(test: ast.expr, env: Known) -> bool | None:
    """Whether a condition holds; None if its variables are more than constants."""
    return truth(test, lambda part: _holds(part, env))


def _holds(part: ast.expr, env: Known) -> bool | None:
    match part:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(left, op, right, env)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]):
            return _is_of(env.get(name), kinds, env)
    return next((bool(value) for value in _constant(part, env)), None)


_BUILTINS = {
    each.__name__: each for each in (str, bytes, bool, int, float, slice, tuple, list, dict)
}


def _is_of(held: Value | None, kinds: ast.expr, env: Known) -> bool | None:
    """Whether a constant is an object of built-in classes; None for other values and classes."""
    names = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    classes = [
        _BUILTINS.get(each.id)
        for each in names
        if isinstance(each, ast.Name) and each.id not in env
    ]
    known = tuple(each for each in classes if each is not None)
    if not isinstance(held, Constant) or len(known) < len(names):
        return None
    return isinstance(held.value, known)


def surely_given(name: str) -> str:
    """A path that is known while a variable holds what a call certainly gives: it is not None.

    It ends where the variable is assigned, as all paths of its name do.
    """
    return f"{name}. is given"


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, env: Known) -> bool | None:
    match left, op, right:
        case ast.Name(id=name), ast.Is() | ast.IsNot(), ast.Constant(value=None) if (
            surely_given(name) in env
        ):
            return isinstance(op, ast.IsNot)
    for one in _constant(left, env):
        for other in _constant(right, env):
            try:
                return bool(_OPERATORS[type(op)](one, other))
            except TypeError:  # the program raises it as well
                return None
    return None


class _DtypeName(NamedTuple):
    """A dtype of torch, which equals no string."""

    name: str


def _in_run(held: Dtype | Tensor) -> Iterator[_DtypeName]:
    """The name of a dtype that the run of a test decides, if it is one alone."""
    if is_of_run(held) and len(held.dtypes) == 1:
        yield from map(_DtypeName, held.dtypes)


def kept_attribute(node: ast.AST) -> str:
    """An attribute of a name, where it keeps one value: `self:half`; empty for other expressions.

    `self.half` is the path of what a body leaves in it, which calls may change.
    """
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return f"{name}:{attribute}"
    return ""


def _constant(node: ast.expr, env: Known) -> Iterator[object]:
    """The value of a literal, of a display of them, or of a variable; nothing if it is unknown.

    Of a dtype, it is the name: where the run of a test decides it, and of `torch.bfloat16`.
    """
    match node:
        case ast.Constant(value=value):
            yield value
        case ast.Name(id=name):
            held = env.get(name)
            if isinstance(held, Constant):
                yield held.value
            elif isinstance(held, Dtype):
                yield from _in_run(held)
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in ALIASES:
            yield _DtypeName(ALIASES[name])
        case ast.Attribute() if isinstance(held := env.get(kept_attribute(node)), Constant):
            yield held.value
        case ast.Attribute(value=ast.Name(id=name), attr="dtype"):
            held = env.get(name)
            if isinstance(held, Tensor):
                yield from _in_run(held)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            values = [value for item in items for value in _constant(item, env)]
            if len(values) == len(items):
                yield tuple(values)
