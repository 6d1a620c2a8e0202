"""Logarithms of what half precision rounds to zero.

A sigmoid or a softmax comes to its ends sooner than in float32: it is exactly 1 from a logit of 8.4
on in float16, of 6.3 in bfloat16, and 0 below -17.4 in float16. What the code makes of these two
numbers is computed as torch does it, step by step in the dtype: `1 - p`, `p + 1e-8`, `p.clamp(…)`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import ModelOutput, Tensor
from precision_lint.facts.numerics.half_results import (
    HalfResult,
    has_no_digits,
    result_in_half,
    samples,
)
from precision_lint.model.dtypes import BFLOAT16, FLOAT16
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.ranges import LAYOUTS
from precision_lint.source.python.bindings import arguments_of, binding, default_of
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

_LOGARITHMS = frozenset({"log", "log2", "log10", "log1p"})

_PROBABILITIES: Mapping[str, str] = {
    "sigmoid": "sigmoid",
    "sigmoid_": "sigmoid",
    "expit": "sigmoid",
    "Sigmoid": "sigmoid",
    "softmax": "softmax",
    "Softmax": "softmax",
}
"""What makes numbers between 0 and 1, and the function that it is."""

LOGARITHMS = _LOGARITHMS | {*_PROBABILITIES}
"""The calls that are judged, and those that they are made of."""

_ENDS = {FLOAT16: (0.0, 1.0), BFLOAT16: (1.0,)}
"""The ends that a probability comes to: bfloat16 has numbers down to 9e-41."""

_PLACING = frozenset(
    {"clone", "contiguous", "cpu", "detach", "expand", "flatten", "permute", "reshape", "squeeze"}
    | {"t", "transpose", "unsqueeze", "view"}
    | {"gather", "index_select", "select", "take_along_dim"}
)
"""Methods that hand single numbers on as they are."""

_CLAMPING: Mapping[str, tuple[str, ...]] = {
    "clamp": ("min", "max"),
    "clip": ("min", "max"),
    "clamp_min": ("min",),
    "clamp_max": ("max",),
}
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}
_LARGEST_GUARD = 1e-2
"""A number that keeps a logarithm finite is this far from 0, or from 1, at most."""

_MOST_NAMES = 20
"""Names that are followed from one logarithm on."""


@frozen
class Guard:
    """A number that is to keep an expression away from an end, and is that end in the dtype."""

    number: float
    node: ast.expr


@frozen
class Ends:
    """What an expression is at the ends of a probability that it is made of.

    `source` is the call that makes it; None for any tensor to which a small number is added,
    or which is kept away from 0 or 1: its author says that it can be that. `guard` is this number,
    if it is rounded to 0 or 1.
    """

    dtype: str
    source: ast.Call | None
    numbers: tuple[float, ...]
    guard: Guard | None = None


@frozen
class HalfLogarithm:
    """A logarithm that is infinite in half precision; see `Ends`."""

    result: HalfResult
    ends: Ends
    operand: ast.expr


def may_be_of_probability(node: ast.expr, file: PythonFile) -> bool:
    """True for the logarithm of a number that is 0 in float16 or bfloat16, and for what makes it.

    The calls that make probabilities are those of `_PROBABILITIES` that such a logarithm is of.
    """
    if not isinstance(node, ast.Call):
        return False
    found = _logarithms(file)
    return node in found or any(node is ends.source for each in found.values() for ends in each)


@fact
def _logarithms(file: PythonFile) -> Mapping[ast.Call, tuple[Ends, ...]]:
    """The logarithms that are infinite in a dtype at an end of what they are of."""
    syntax = syntax_tree(file)
    calls = [each for name in sorted(_LOGARITHMS) for each in syntax.calls(name)]
    found = {each: tuple(_ends_at_zero(each, syntax)) for each in calls}
    return {each: ends for each, ends in found.items() if ends and not samples(syntax.body(each))}


def _ends_at_zero(node: ast.Call, syntax: SyntaxTree) -> Iterator[Ends]:
    """The ends of the operand in each dtype, if the logarithm of one of them is infinite."""
    operand = _operand(node)
    zero = -1.0 if callee_name(node) == "log1p" else 0.0
    for dtype in _ENDS:
        found = None if operand is None else _Reader(dtype, syntax).ends(operand)
        if found is not None and zero in found.numbers:
            yield found


def logarithm(call: Call, file: PythonFile) -> HalfLogarithm | None:
    """`torch.log(1 - torch.sigmoid(x))` of half precision, which is infinite for large `x`."""
    node = calls_by_span(file).get(call.span)
    if node is None or not (call.function or "torch.").startswith("torch."):
        return None
    operand = _operand(node)
    for ends in _logarithms(file).get(node, ()):
        result = _in_half(call, ends, file)
        if operand is not None and result is not None:
            return None if has_no_digits(node, file) else HalfLogarithm(result, ends, operand)
    return None


def _in_half(call: Call, ends: Ends, file: PythonFile) -> HalfResult | None:
    """The result, if what the logarithm is made of is in the dtype of its ends."""
    if ends.source is None:
        return result_in_half(call, _tensor(call), (ends.dtype,), file)
    span = file.span_of(ends.source)
    for made in call.module:
        if made.span == span and made.name in _PROBABILITIES and not _is_widened(made):
            found = result_in_half(made, _tensor(made), (ends.dtype,), file)
            if found is not None:
                return replace(found, call=call)
    return None


def _is_widened(made: Call) -> bool:
    """True where autocast computes a probability in float32: a softmax, but for that on CPUs."""
    is_softmax = _PROBABILITIES[made.name] == "softmax"
    region = made.autocast
    return "dtype" in made.keywords or (
        is_softmax and region is not None and region.device != "cpu"
    )


def _tensor(call: Call) -> Tensor | None:
    """What a function or a method of torch works with."""
    value = call.receiver if call.function is None else call.value(0, "input")
    tensor = value.tensor if isinstance(value, ModelOutput) else value
    return tensor if isinstance(tensor, Tensor) else None


def _operand(node: ast.Call) -> ast.expr | None:
    """What a function of torch or a method works with."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="torch" | "F") | ast.Attribute(attr="functional")):
            return node.args[0] if node.args else None
        case ast.Attribute(value=ast.Name(id="math" | "np" | "numpy")):
            return None
        case ast.Attribute(value=value) if not node.args:
            return value
        case ast.Name() if node.args:
            return node.args[0]
    return None


class _Reader:
    """The ends of one expression in one dtype."""

    def __init__(self, dtype: str, syntax: SyntaxTree) -> None:
        self._dtype = dtype
        self._layout = LAYOUTS[dtype]
        self._syntax = syntax
        self._names_left = _MOST_NAMES

    def ends(self, node: ast.expr) -> Ends | None:
        """Those of an expression; None if they are not known."""
        match node:
            case ast.Name():
                value = self._value(node)
                return None if value is None else self.ends(value)
            case ast.Subscript(value=value):
                return self.ends(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._step(node, operand, lambda number: -number)
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Call():
                return self._call(node)
        return None

    def _arithmetic(self, node: ast.BinOp) -> Ends | None:
        function = _OPERATORS.get(type(node.op))
        if function is None:
            return None
        is_sum = isinstance(node.op, ast.Add)
        if (second := self._number(node.right)) is not None:
            guards = (second,) if is_sum else ()
            return self._step(node, node.left, lambda number: function(number, second), guards)
        if (first := self._number(node.left)) is not None:
            guards = (first,) if is_sum else ()
            return self._step(node, node.right, lambda number: function(first, number), guards)
        return None

    def _call(self, node: ast.Call) -> Ends | None:
        name = callee_name(node)
        made = callee_name(node.func) if isinstance(node.func, ast.Call) else name
        if made in _PROBABILITIES:
            return Ends(self._dtype, node, _ENDS[self._dtype])
        operand = _operand(node)
        if operand is None and isinstance(node.func, ast.Attribute):
            operand = node.func.value
        if operand is None:
            return None
        if name in _PLACING:
            return self.ends(operand)
        limits = self._limits(node, operand, _CLAMPING.get(name, ()))
        if limits is None:
            return None
        low, high = limits
        return self._step(node, operand, lambda number: min(max(number, low), high), limits)

    def _limits(
        self, node: ast.Call, operand: ast.expr, names: tuple[str, ...]
    ) -> tuple[float, float] | None:
        """The least and the largest number that a call lets through."""
        given = [each for each in node.args if each is not operand]
        limits = dict(zip(names, given, strict=False))
        limits |= {each.arg: each.value for each in node.keywords if each.arg in names}
        numbers = {name: self._number(value) for name, value in limits.items()}
        low, high = numbers.get("min", -math.inf), numbers.get("max", math.inf)
        return None if not numbers or low is None or high is None else (low, high)

    def _step(
        self,
        node: ast.expr,
        operand: ast.expr,
        function: Callable[[float], float],
        guards: tuple[float, ...] = (),
    ) -> Ends | None:
        """What a function of numbers makes of the ends of its operand."""
        found = self.ends(operand)
        vanished = [Guard(each, node) for each in guards if self._has_vanished(each)]
        if found is None:
            if not vanished:
                return None
            numbers = tuple(self._layout.rounded(each.number) for each in vanished)
            found = Ends(self._dtype, None, numbers)
        numbers = tuple(self._layout.rounded(function(number)) for number in found.numbers)
        return replace(found, numbers=numbers, guard=vanished[-1] if vanished else found.guard)

    def _has_vanished(self, guard: float) -> bool:
        """True for a number near 0 or 1 that is this number in the dtype."""
        is_near = 0 < guard <= _LARGEST_GUARD or 1 - _LARGEST_GUARD <= guard < 1
        return is_near and self._layout.rounded(guard) in {0.0, 1.0}

    def _number(self, node: ast.expr) -> float | None:
        """A number that is written out, here or where a name gets it."""
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self._number(operand)
                return None if number is None else -number
            case ast.BinOp(left=left, op=operator, right=right):
                first, second = self._number(left), self._number(right)
                function = _OPERATORS.get(type(operator))
                if first is None or second is None or function is None:
                    return None
                return function(first, second)
            case ast.Name():
                held = self._value(node)
                return None if held is None else self._number(held)
        return None

    def _value(self, node: ast.Name) -> ast.expr | None:
        """The one value of a name, or the default of a parameter that every call leaves out."""
        self._names_left -= 1
        if self._names_left < 0:
            return None
        found = binding(node, self._syntax)
        if isinstance(found, ast.arg):
            calls = [*arguments_of(found, self._syntax)]
            is_left_out = bool(calls) and all(value is None for _, value in calls)
            return default_of(found, self._syntax) if is_left_out else None
        if found is None or len(found) != 1 or any(self._changes(node)):
            return None
        return found[0]

    def _changes(self, node: ast.Name) -> Iterator[bool]:
        """Whether something changes what a name holds, in place: `p.clamp_(…)`, `p[mask] = 1`."""
        scope = self._syntax.function(node) or self._syntax.tree
        for read in self._syntax.reads(scope, node.id):
            match self._syntax.parent(read):
                case ast.Attribute(attr=name):
                    yield name.endswith("_")
                case ast.Subscript(ctx=ast.Store()):
                    yield True
