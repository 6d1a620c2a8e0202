"""What a branch knows: `if x.dtype == torch.bfloat16`, `isinstance(x, np.ndarray)` …"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from precision_lint.dtypes.environment import Environment, bind
from precision_lint.dtypes.values import (
    FLOAT8,
    FLOATING,
    FOREIGN,
    SOME_TENSOR,
    UNKNOWN,
    Dtype,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from precision_lint.dtypes.expressions import Evaluator

_ORDINARY = FLOATING - FLOAT8 - {"bfloat16"}


def narrowed(evaluate: Evaluator, test: ast.expr, env: Environment, holds: bool) -> Environment:
    """The environment of the branch where `test` is true (or false)."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return narrowed(evaluate, operand, env, not holds)
        case ast.BoolOp(op=ast.And(), values=values) if holds:
            for value in values:
                env = narrowed(evaluate, value, env, True)
            return env
        case ast.BoolOp(op=ast.And(), values=values) if not holds:
            # `if on_gpu and x.dtype == torch.bfloat16: x = x.float()`: whoever asks for the dtype
            # has thought of it, so behind the `if` it counts as dealt with. Nothing follows from
            # `x.dtype != ...` there: another condition may have failed.
            for value in values:
                match value:
                    case ast.Compare(
                        left=ast.Attribute(attr="dtype"), ops=[ast.Eq() | ast.Is() | ast.In()]
                    ):
                        env = narrowed(evaluate, value, env, False)
            return env
        case ast.BoolOp(op=ast.Or(), values=values) if not holds:
            for value in values:
                env = narrowed(evaluate, value, env, False)
            return env
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kind]):
            return _by_class(evaluate, subject, evaluate(kind, env), env, holds)
        case ast.Compare(
            left=ast.Attribute(value=subject, attr="dtype"), ops=[operator], comparators=[other]
        ):
            given = evaluate(other, env)
            match operator:
                case ast.Eq() | ast.Is() | ast.In():
                    return _by_dtype(evaluate, subject, given, env, holds)
                case ast.NotEq() | ast.IsNot() | ast.NotIn():
                    return _by_dtype(evaluate, subject, given, env, not holds)
    return env


def _by_dtype(
    evaluate: Evaluator, subject: ast.expr, given: Value, env: Environment, equal: bool
) -> Environment:
    dtypes = _dtypes_of(given)
    current = evaluate(subject, env)
    if not dtypes or not isinstance(current, Tensor | Unknown):
        return env
    if equal:
        origin = given.origin if isinstance(given, Dtype) else None
        return _with(evaluate, subject, Tensor(dtypes, origin=origin), env)
    known = current if isinstance(current, Tensor) else SOME_TENSOR
    if known.chosen:
        return _with(evaluate, subject, Tensor((_ORDINARY | known.dtypes) - dtypes), env)
    rest = Tensor(known.dtypes - dtypes, partial=known.partial)
    return _with(evaluate, subject, rest if rest.dtypes or rest.partial else SOME_TENSOR, env)


def _dtypes_of(given: Value) -> frozenset[str]:
    match given:
        case Dtype(dtypes=dtypes, chosen=False, partial=False):
            return dtypes
        case Sequence(items=tuple(items)) if all(isinstance(item, Dtype) for item in items):
            return frozenset[str]().union(*map(_dtypes_of, items))
    return frozenset()


def _by_class(
    evaluate: Evaluator, subject: ast.expr, kind: Value, env: Environment, holds: bool
) -> Environment:
    kinds = kind.items or () if isinstance(kind, Sequence) else (kind,)
    names = {one.name for one in kinds if isinstance(one, Symbol)}
    if len(names) != len(kinds) or not names:
        return env
    is_tensor = names <= {"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"}
    is_array = all(name.startswith(("numpy.", "pandas.", "PIL.")) for name in names)
    current = evaluate(subject, env)
    match holds:
        case True if is_array:
            return _with(evaluate, subject, FOREIGN, env)
        case True if is_tensor and not isinstance(current, Tensor):
            return _with(evaluate, subject, SOME_TENSOR, env)
        case False if is_tensor and not isinstance(current, Tensor):
            return _with(evaluate, subject, UNKNOWN, env)
    return env


def _with(evaluate: Evaluator, subject: ast.expr, value: Value, env: Environment) -> Environment:
    inner = env.copy()
    bind(subject, value, inner)
    return inner
