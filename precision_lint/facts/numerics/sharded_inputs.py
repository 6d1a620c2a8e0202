"""Timesteps that FSDP rounds on their way into the model.

`MixedPrecision(param_dtype=torch.bfloat16)` casts what is floating among the arguments of the
outermost module (`cast_root_forward_inputs`, True by default), and so does FSDP2
(`cast_forward_inputs`): 987.3 arrives as 988.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, partial

from precision_lint.facts.amp.sharded_models import (
    Holder,
    holder,
    holders_of_model,
    keyword_of,
    wrapped_models,
)
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument
from precision_lint.facts.dtypes.domain.values import Dtype, Tensor
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.numerics.positions import Position, half_dtype, name_of_timesteps
from precision_lint.model.dtypes import BFLOAT16
from precision_lint.source.python.bindings import binding, enclosing_class, position_of
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_FLOATING = frozenset({"float32", "float64", "complex64", "complex128"})
_SWITCHES = ("cast_root_forward_inputs", "cast_forward_inputs")
_FRACTIONS = frozenset({"rand", "rand_like", "sigmoid", "uniform_"})
"""What makes numbers between 0 and 1, which a model may use as they are."""
_HOPS = 6
"""Variables and methods that are followed from an argument to what made it."""


def sharded_inputs(file: PythonFile) -> Iterator[Position]:
    """The floating timesteps that a model gets which FSDP computes in bfloat16."""
    text = file.text.text
    if "timestep" not in text or "fsdp" not in text:
        return
    for wrapped, policy in wrapped_models(file):
        dtype = _computed_in(policy, file) if _casts(policy) else None
        held = holders_of_model(wrapped, file, always=True) if dtype is not None else set()
        names = frozenset(path.rpartition(".")[2] for _, path in held)
        if dtype is None or dtype.origin is None or not names:
            continue
        is_call = partial(_calls_model, held=held, wrapped=wrapped, file=file)
        for call in calls_in(file, names, worth=cache(is_call)):
            for given in (*call.arguments, *call.keywords.values()):
                if _is_floating_timestep(given, file):
                    is_certain = dtype.must_be(frozenset({BFLOAT16}))
                    yield Position(given.span, call, "input", BFLOAT16, dtype.origin, is_certain)


def _calls_model(node: ast.expr, held: set[Holder], wrapped: ast.Call, file: PythonFile) -> bool:
    """True for a call of the outermost module: one in `forward` is that of a part."""
    if not isinstance(node, ast.Call):
        return False
    syntax = syntax_tree(file)
    function = syntax.function(node)
    is_in_forward = isinstance(function, FunctionDefinition) and function.name == "forward"
    if is_in_forward and enclosing_class(node, syntax) is not None:
        return False
    is_later = function is not syntax.function(wrapped) or position_of(node) > position_of(wrapped)
    return is_later and holder(node.func, syntax) in held


def _casts(policy: ast.Call) -> bool:
    """True if a policy leaves the cast of inputs on."""
    if any(each.arg is None for each in policy.keywords):
        return False
    given = [keyword_of(policy, name) for name in _SWITCHES]
    return all(isinstance(each, ast.Constant) and each.value is True for each in given if each)


def _computed_in(policy: ast.Call, file: PythonFile) -> Dtype | None:
    """What a policy computes in, if that can be bfloat16 where the code says so."""
    for call in calls_in(file, frozenset({callee_name(policy)}), worth=lambda node: node is policy):
        given = call.keywords.get("param_dtype") or next(iter(call.arguments), None)
        if given is None or not isinstance(given.value, Dtype):
            continue
        if half_dtype(given.value, call, file) == BFLOAT16:
            return given.value
    return None


def _is_floating_timestep(given: Argument, file: PythonFile) -> bool:
    if not (isinstance(given.value, Tensor) and given.value.must_be(_FLOATING)):
        return False
    node = file.node_at(given.span)
    return (
        bool(name_of_timesteps(file.text[given.span], file))
        and isinstance(node, ast.expr)
        and not _is_fraction(node, syntax_tree(file), _HOPS)
    )


def _is_fraction(node: ast.expr, syntax: SyntaxTree, hops: int) -> bool:
    """True for what is drawn from, or runs over, the numbers between 0 and 1."""
    values: list[ast.expr] = []
    match node:
        case ast.Name():
            held = binding(node, syntax)
            values = held if isinstance(held, list) else []
        case ast.Subscript(value=owner):
            values = [owner]
        case ast.Call(args=[first, second, *_]) if callee_name(node) == "linspace":
            bounds = [each.value for each in (first, second) if isinstance(each, ast.Constant)]
            return len(bounds) == 2 and all(each in (0, 1) for each in bounds)
        case ast.Call() if callee_name(node) in _FRACTIONS:
            return True
        case ast.Call(func=ast.Attribute(value=owner)):
            values = [owner]
    return hops > 0 and any(_is_fraction(value, syntax, hops - 1) for value in values)
