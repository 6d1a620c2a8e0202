"""Whether an argument may be a number above 65504 that its file writes out.

A question about syntax: only a call for which the answer is yes is interpreted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.dtypes import FLOAT16
from precision_lint.model.ranges import LAYOUTS
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree

_WIDE = frozenset(f"torch.{name}" for name in ("float", "float32", "float64", "double", "bfloat16"))
_CASTS = frozenset({"float", "double", "bfloat16"})
_GROWING = (ast.Pow, ast.LShift, ast.Mult)
_MOST_STEPS = 4
"""Names that lead from one to the next."""


def may_be_wide(number: ast.expr, syntax: SyntaxTree, steps: int = _MOST_STEPS) -> bool:
    """True for a wide number, and for a name that the file gives one."""
    match number:
        case ast.Constant(value=bool() | str() | None):
            return False
        case ast.Constant(value=int() | float() as written):
            return not _fits(written)
        case ast.UnaryOp(operand=operand):
            return may_be_wide(operand, syntax, steps)
        case ast.BinOp(left=left, op=op, right=right):
            both = (left, right)
            if isinstance(op, _GROWING) and all(isinstance(one, ast.Constant) for one in both):
                return True
            return any(may_be_wide(one, syntax, steps) for one in both)
        case ast.IfExp(body=body, orelse=orelse):
            return any(may_be_wide(one, syntax, steps) for one in (body, orelse))
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
            return "inf" not in text and "nan" not in text
        case ast.Call(func=func, args=args, keywords=keywords):
            if isinstance(func, ast.Attribute) and func.attr not in {"get", "min", "max"}:
                return False
            given = [*args, *(one.value for one in keywords)]
            return any(may_be_wide(one, syntax, steps) for one in given)
        case ast.Attribute(value=ast.Call(args=[dtype, *_]) as made) if (
            callee_name(made) == "finfo"
        ):
            return _may_be_wide_dtype(dtype, syntax, steps)
        case ast.Name(id=name) if name in syntax.names and name.isupper():
            return True  # a constant of another file
        case ast.Name() | ast.Attribute() if steps:
            return any(may_be_wide(one, syntax, steps - 1) for one in _given(number, syntax))
    return False


def _may_be_wide_dtype(dtype: ast.expr, syntax: SyntaxTree, steps: int) -> bool:
    """True for `torch.float32`, and for the dtype of a tensor that the file casts to it."""
    match dtype:
        case ast.Attribute() if dotted(dtype) in _WIDE:
            return True
        case ast.Attribute(value=tensor, attr="dtype"):
            return steps > 0 and any(
                (isinstance(each, ast.Call) and callee_name(each) in _CASTS)
                or (isinstance(each, ast.Attribute) and dotted(each) in _WIDE)
                for value in _given(tensor, syntax)
                for each in walk(value)
            )
        case ast.Name() | ast.Attribute() if steps:
            given = _given(dtype, syntax)
            return any(_may_be_wide_dtype(one, syntax, steps - 1) for one in given)
    return False


def _given(node: ast.expr, syntax: SyntaxTree) -> Iterator[ast.expr]:
    """The values that a file gives to a variable, an attribute of `self`, or a parameter."""
    match node:
        case ast.Name():
            held = binding(node, syntax)
            if isinstance(held, list):
                yield from held
            elif isinstance(held, ast.arg):
                yield from _given_to_parameter(held, syntax)
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            owner = enclosing_class(node, syntax)
            yield from (owner and attribute(node, owner, syntax)) or ()


def _given_to_parameter(parameter: ast.arg, syntax: SyntaxTree) -> Iterator[ast.expr]:
    """The default of a parameter, and what the calls in its file give to it."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    function = next(each for each in syntax.around(parameter) if isinstance(each, functions))
    if isinstance(function, ast.Lambda):
        return
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    defaults |= {
        one: value
        for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if value is not None
    }
    if parameter in defaults:
        yield defaults[parameter]
    for call in syntax.calls(function.name):
        yield from (one.value for one in call.keywords if one.arg == parameter.arg)
        yield from call.args


def _fits(number: float) -> bool:
    try:
        return LAYOUTS[FLOAT16].holds(float(number))
    except OverflowError:
        return False
