"""What a condition says of the dtype, read from its source: `dtype == torch.float16`, `args.fp16`.

Names carry the meaning here, not values: `cfg.fp16` is nowhere defined in a file that tests it. A
condition is evaluated for a run in one precision, as far as its names and literals say.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

from precision_lint.facts.origin import PathCondition
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.truth import connected, truth
from precision_lint.source.text.text import SourceText

_FLOAT16 = regex(r"(?<![a-z])(?:float16|fp16|half)$")
_BFLOAT16 = regex(r"bfloat16|bf16")
_OTHERS = regex(r"(?:fp|float)?(?:8|16|32|64)(?:-(?:mixed|true))?|half|float|double|no|tf32")
"""Dtypes and precisions other than bfloat16, as literals name them: `16-mixed`, `fp32`, `no`."""


@frozen(eq=False)
class _Run:
    """A run in one precision: what names it, and what names the other one of half precision."""

    own: re.Pattern[str]
    other: re.Pattern[str]

    def is_named_by(self, literal: ast.expr) -> bool | None:
        """Whether an expression names the precision; None if it names none at all."""
        match literal:
            case ast.Constant(value=str() | int() as value):
                name = str(value).strip().lower().removeprefix("torch.")
            case ast.Attribute(attr=name):
                name = name.lower()
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                name = name.lower()
            case ast.Name(id=name) if name.isupper():
                name = name.lower()
            case _:
                return None
        if self.own.search(name):
            return True
        return False if _OTHERS.fullmatch(name) or self.other.search(name) else None

    def is_on(self, name: str) -> bool | None:
        """What a switch says by its name: `args.fp16`, `use_bf16`, `no_half`."""
        is_on = True if self.own.search(name) else False if self.other.search(name) else None
        return not is_on if is_on is not None and _NEGATIVE.search(name) else is_on


_IN_BFLOAT16 = _Run(_BFLOAT16, _FLOAT16)
_IN_FLOAT16 = _Run(regex(r"(?<![a-z])(?:float16|fp16|half|16(?:-(?:mixed|true))?)$"), _BFLOAT16)

_NEGATIVE = regex(r"(?:^|_)(?:no|not|non|disable|without|skip)_")


def excludes_bfloat16(condition: str) -> bool:
    """True if a condition holds for float16 only, or for anything but bfloat16."""
    return _in_run(condition, _IN_BFLOAT16) is False


def admits_bfloat16(condition: str) -> bool:
    """True if a condition names bfloat16 as one of the dtypes that it holds for."""
    return (
        _BFLOAT16.search(condition.lower()) is not None and _in_run(condition, _IN_BFLOAT16) is True
    )


def guard_excludes_bfloat16(guard: PathCondition, text: SourceText) -> bool:
    """True if what is under a guard does not run in bfloat16."""
    return _in_run(text[guard.span], _IN_BFLOAT16) is (not guard.holds)


def guard_excludes_float16(guard: PathCondition, text: SourceText) -> bool:
    """True if what is under a guard does not run in float16."""
    return _in_run(text[guard.span], _IN_FLOAT16) is (not guard.holds)


def condition_excludes_bfloat16(test: ast.expr, holds: bool = True) -> bool:
    """True if what stands under a condition, or in its `else`, does not run in bfloat16."""
    return _truth(test, _IN_BFLOAT16) is (not holds)


def condition_admits_bfloat16(test: ast.expr, holds: bool = True) -> bool:
    """True if what stands under a condition can run in bfloat16, which a part of it names."""
    return _truth(test, _IN_BFLOAT16) is not (not holds) and _chooses_bfloat16(test, holds)


def _chooses_bfloat16(test: ast.expr, holds: bool) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _chooses_bfloat16(operand, not holds)
        case ast.BoolOp(values=values):
            return any(_chooses_bfloat16(value, holds) for value in values)
    names_it = _BFLOAT16.search(ast.unparse(test).lower()) is not None
    return names_it and _truth(test, _IN_BFLOAT16) is holds


def names_bfloat16(expression: ast.expr) -> bool:
    """True for a literal or an attribute that names bfloat16: `"bf16-mixed"`, `torch.bfloat16`."""
    return _IN_BFLOAT16.is_named_by(expression) is True


@lru_cache(maxsize=4096)
def _in_run(condition: str, run: _Run) -> bool | None:
    """The truth of a condition in a run in one precision; None if it does not say.

    It is kept: a branch is interpreted many times.
    """
    test = condition_of(condition)
    return None if test is None else _truth(test, run)


@lru_cache(maxsize=4096)
def condition_of(text: str) -> ast.expr | None:
    """The syntax of a condition that is written somewhere; None if it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _truth(test: ast.expr, run: _Run) -> bool | None:
    return truth(test, lambda part: _of_part(part, run))


def _of_part(part: ast.expr, run: _Run) -> bool | None:
    match part:
        case ast.Compare(ops=[operator], comparators=[compared]):
            return _comparison(part.left, operator, compared, run)
        case ast.IfExp(test=condition, body=body, orelse=orelse):
            value = _truth(condition, run)
            if value is not None:
                return _truth(body if value else orelse, run)
            one, other = _truth(body, run), _truth(orelse, run)
            return one if one is other else None
        case ast.Constant(value=bool(value)):
            return value
        case ast.NamedExpr(value=value):
            return _truth(value, run)
    return run.is_on(_name(part))


def _comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr, run: _Run) -> bool | None:
    """`dtype == torch.float16`, `precision in ("bf16", "bf16-mixed")`, `torch.half is dtype`."""
    is_positive = isinstance(operator, ast.Eq | ast.Is | ast.In)
    if not is_positive and not isinstance(operator, ast.NotEq | ast.IsNot | ast.NotIn):
        return None
    if isinstance(right, ast.Constant) and right.value is None:
        return None  # `dtype is not None`
    if isinstance(right, ast.Constant) and isinstance(right.value, bool):
        value = _truth(left, run)
        return None if value is None else (value is right.value) is is_positive
    if isinstance(operator, ast.In | ast.NotIn):
        if not isinstance(right, ast.List | ast.Tuple | ast.Set):
            return None
        value = connected(ast.Or(), map(run.is_named_by, right.elts))
    else:
        value = run.is_named_by(right)
        value = run.is_named_by(left) if value is None else value
    return None if value is None else value is is_positive


def _name(test: ast.expr) -> str:
    """The name of a switch, in lower case; "" if it has none."""
    match test:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lower()
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name.lower()
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return name.lower()
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name.lower()
        case ast.Call(func=function):
            return _name(function)
    return ""
