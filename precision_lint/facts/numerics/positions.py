"""Positions and timesteps that are rounded to half precision before they are used.

bfloat16 has every integer up to 256 and float16 up to 2048; of those beyond, it has every second,
every fourth and so on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Literal

from precision_lint.facts.amp.regions.autocast import multiplied, regions_around
from precision_lint.facts.amp.regions.half_regions import half_regions
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Dtype, DtypeSet, ModelOutput, Tensor
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.syntax.conditions import (
    guard_excludes_bfloat16,
    guard_excludes_float16,
)
from precision_lint.facts.dtypes.syntax.named import names_unusual_dtypes
from precision_lint.facts.numerics.uses import holders, mentions, used_by
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16, HALF
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.ranges import LAYOUTS
from precision_lint.model.regex import regex
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

RANGES = frozenset({"arange", "linspace"})
"""What makes positions."""
CASTS = frozenset({"to", "type", "type_as", "half", "bfloat16"})
"""What casts them to a half dtype."""
ANGLES = frozenset({"sin", "cos", "polar"})
"""What makes numbers of angles."""
OUTER = frozenset({"outer", "ger", "einsum"})
"""What multiplies positions by frequencies."""
_OF_POSITIONS = ANGLES | OUTER
"""What positions are made angles with."""

_RANGE_IN_HALF = regex(
    r"\b(?:arange|linspace)\([^#]{0,300}?(?:dtype\s*=\s*(?!torch\.(?:u?int|long|float\b|float32))"
    r"|\)\.(?:to|type|type_as|half|bfloat16)\((?!torch\.(?:u?int|long|float\b|float32)))"
)
_CAST_TIMESTEP = regex(r"timesteps?(?:\[\w+\])?\.(?:to|type|type_as|half|bfloat16)\(")
_NAMED = regex(r"(?:\w+\.)*(\w+)(?:\[\w+\])?")
_TIMESTEP = regex(r"(?<!num)(?<!num_train)(?:^|_)timesteps?$")
_ANGLE = regex(rf"\b(?:{'|'.join(sorted(ANGLES))})\s*\(")
_PRODUCTS = ("einsum(", "matmul(", "mm(", " @ ")

_NO_HALF_DTYPE = regex(
    rf"^torch\.(?:{'|'.join(name for name, dtype in ALIASES.items() if dtype not in HALF)})$"
    r"|(?:^|[._])device$"
)
"""What a range may be cast to, or moved to, that is no half dtype."""
_EXCLUDED_BY = {FLOAT16: guard_excludes_float16, BFLOAT16: guard_excludes_bfloat16}
_HALF = frozenset({BFLOAT16, FLOAT16})


@frozen
class Position:
    """Positions in a half dtype: a range that is made so, timesteps that are cast, a product.

    `call` makes the range, casts the timesteps, gives them to a model (see `sharded_inputs`),
    multiplies positions by frequencies in a half dtype, casts angles (see `angles_in_half`), or
    reads a buffer that was rounded (see `buffers_in_half`); `origin` gives the dtype; `use` is what
    needs the integers, None if the range is too long for any use.
    """

    span: Span
    call: Call | None
    form: Literal["range", "timesteps", "input", "product", "angles", "frequencies", "buffer"]
    dtype: str
    origin: Origin
    is_certain: bool
    use: Span | None = None


def positions(file: PythonFile) -> Iterator[Position]:
    """The positions of a file that are in half precision, in the order of the source."""
    text = file.text.text
    found: list[Position] = []
    has_range = any(f"{name}(" in text for name in RANGES)
    if has_range and _RANGE_IN_HALF.search(text) and names_unusual_dtypes(file):
        is_range = cache(partial(may_be_range, file=file))
        calls = calls_in(file, RANGES | CASTS, worth=is_range)
        found += filter(None, (range_in_half(call, file) for call in calls))
    if _CAST_TIMESTEP.search(text) is not None:
        calls = calls_in(file, CASTS, worth=_may_be_timesteps)
        found += filter(None, (_timesteps(call, file) for call in calls))
    if _may_multiply_positions(file):
        found += _products(file)
    yield from in_order(found)


def in_order(found: list[Position]) -> Iterator[Position]:
    """Positions in the order of the source: of several in one expression, the innermost one."""
    by_place = {position.span: position for position in reversed(found)}
    yield from (by_place[span] for span in sorted(by_place) if not _holds_another(span, by_place))


def _holds_another(span: Span, others: Iterable[Span]) -> bool:
    """True for the cast of a range that is made in half precision: it rounds nothing more."""
    return any(
        other != span and span.start <= other.start < other.end <= span.end for other in others
    )


# Ranges


def may_be_range(node: ast.expr, file: PythonFile) -> bool:
    """True for a range with a dtype, or that is cast, with more numbers than a half dtype has."""
    if not isinstance(node, ast.Call):
        return False
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if callee_name(node) in CASTS:
        made: ast.expr | None = node.func.value if isinstance(node.func, ast.Attribute) else None
        dtypes = [*node.args, *keywords.values()]
    else:
        made = node if "dtype" in keywords else None
        dtypes = [value for name, value in keywords.items() if name == "dtype"]
    if not (isinstance(made, ast.Call) and callee_name(made) in RANGES):
        return False
    if _are_no_half(dtypes):
        return False
    last = last_of_range(made)
    if last is not None:
        return last > LAYOUTS[BFLOAT16].integers
    return used_by(node, _OF_POSITIONS, syntax_tree(file)) is not None


def _are_no_half(dtypes: list[ast.expr]) -> bool:
    return bool(dtypes) and all(_NO_HALF_DTYPE.search(dotted(each) or "device") for each in dtypes)


def names_no_half_dtype(cast: ast.Call) -> bool:
    """True for a cast that only moves, or that names another dtype."""
    return _are_no_half([*cast.args, *(keyword.value for keyword in cast.keywords)])


def range_in_half(call: Call, file: PythonFile) -> Position | None:
    """`torch.arange(n, dtype=torch.bfloat16)`, `torch.arange(n).half()`."""
    node = calls_by_span(file).get(call.span)
    if node is None:
        return None
    made: ast.expr | None = node
    if call.name in CASTS:
        made = node.func.value if isinstance(node.func, ast.Attribute) else None
        if not (isinstance(made, ast.Call) and _is_range(made)):
            return None
        dtype: DtypeSet | None = cast_to(call, file)
    else:
        asked = call.keywords.get("dtype")
        is_torch = call.function in {f"torch.{name}" for name in RANGES}
        dtype = None if asked is None or not is_torch else as_dtype(asked.value)
    name = half_dtype(dtype, call, file)
    if dtype is None or name is None or dtype.origin is None or not isinstance(made, ast.Call):
        return None
    is_certain = dtype.must_be(_HALF)
    last = last_of_range(made)
    if last is not None:
        if last <= LAYOUTS[name].integers:
            return None
        return Position(call.span, call, "range", name, dtype.origin, is_certain)
    use = used_by(node, _OF_POSITIONS, syntax_tree(file))
    if use is None:
        return None
    return Position(call.span, call, "range", name, dtype.origin, is_certain, file.span_of(use))


def _is_range(node: ast.Call) -> bool:
    return dotted(node.func) in {"torch.arange", "torch.linspace"}


def last_of_range(node: ast.Call) -> float | None:
    """The largest bound of a range, if its bounds are written out."""
    numbers: list[float] = []
    for bound in node.args[:2]:
        match bound:
            case ast.Constant(value=int() | float() as number):
                numbers.append(abs(number))
            case _:
                return None
    return max(numbers, default=None)


# Positions


def has_positions(node: ast.expr | None, syntax: SyntaxTree) -> bool:
    """True for an expression that works with a range of the same function."""
    if node is None:
        return False
    made = [
        each
        for each in own_nodes(syntax.body(node))
        if isinstance(each, ast.Call) and callee_name(each) in RANGES
    ]
    return any(mentions(node, each, holders(each, syntax)) for each in made)


# Timesteps


def _may_be_timesteps(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=named)):
            inner = named.value if isinstance(named, ast.Subscript) else named
            return _TIMESTEP.search((dotted(inner) or "").rpartition(".")[2]) is not None
    return False


def _timesteps(call: Call, file: PythonFile) -> Position | None:
    """`timesteps.to(torch.bfloat16)`, of what is named so."""
    if call.receiver_span is None:
        return None
    dtype = cast_to(call, file)
    half = half_dtype(dtype, call, file)
    if half != BFLOAT16 or dtype is None or dtype.origin is None:
        return None  # float16 has the integers up to 1000, of which timesteps mostly are
    if isinstance(call.receiver, Tensor) and call.receiver.must_be(_HALF):
        return None  # it was rounded before
    if not name_of_timesteps(file.text[call.receiver_span], file):
        return None
    return Position(call.span, call, "timesteps", half, dtype.origin, dtype.must_be(_HALF))


def name_of_timesteps(expression: str, file: PythonFile) -> str:
    """The variable that an expression reads, if it is named so and holds no fractions of 1."""
    named = _NAMED.fullmatch(expression)
    if named is None or _TIMESTEP.search(named[1]) is None:
        return ""
    is_divided = re.search(rf"\b{named[1]}\s*(?:/=|=[^=\n]*/)", file.text.text) is not None
    return "" if is_divided else named[1]


def cast_to(call: Call, file: PythonFile) -> DtypeSet | None:
    """The dtype that a cast names: by itself, as an argument, or as that of another tensor."""
    if call.name in {"half", "bfloat16"}:
        name = FLOAT16 if call.name == "half" else BFLOAT16
        origin = Origin(file.text, call.span, f"{name} is chosen here")
        return Dtype(frozenset({name}), origin=origin)
    for argument in (*call.keywords.values(), *call.arguments):
        match argument.value:
            case Dtype() as dtype:
                return dtype
            case Tensor() as other if call.name in {"to", "type_as"}:
                return other
            case ModelOutput(tensor=other) if call.name in {"to", "type_as"}:
                return other
    return None


def half_dtype(dtype: DtypeSet | None, call: Call, file: PythonFile) -> str | None:
    """The half dtype that is known to be possible, in a run that reaches the call."""
    for name in (BFLOAT16, FLOAT16):
        is_named = dtype is not None and name in dtype.dtypes
        if is_named and not any(_EXCLUDED_BY[name](guard, file.text) for guard in call.guards):
            origin = None if dtype is None else dtype.origin
            return name if origin is not None and origin.is_named else None
    return None


# Products under autocast


def _may_multiply_positions(file: PythonFile) -> bool:
    """True if a `forward` makes a range and angles, and the file multiplies matrices."""
    text = file.text.text
    made = text.find("arange(")
    if made < 0 or not any(text.find(product, made) >= 0 for product in _PRODUCTS):
        return False
    functions = file.nodes_of(ast.FunctionDef)
    forwards = (file.rows_of(each) for each in functions if each.name == "forward")
    return any("arange(" in each and _ANGLE.search(each) is not None for each in forwards)


def _products(file: PythonFile) -> Iterator[Position]:
    """`frequencies @ positions` in `forward`, if a program that calls it turns autocast on."""
    found = list(_angles_of_products(file))
    regions = half_regions(file) if found else {}
    region = regions.get(BFLOAT16) or regions.get(FLOAT16)
    if region is None or region.dtype.origin is None:
        return
    for node, angles in found:
        dtype = min(region.dtype.dtypes)
        span, use = file.span_of(node), file.span_of(angles)
        yield Position(span, None, "product", dtype, region.dtype.origin, False, use)


def _angles_of_products(file: PythonFile) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The products of a range in `forward`, outside of autocast, each with what makes an angle."""
    syntax = syntax_tree(file)
    for made in syntax.calls("arange"):
        function = syntax.function(made)
        if not isinstance(function, ast.FunctionDef) or function.name != "forward":
            continue
        held = holders(made, syntax)
        for node in own_nodes(function):
            if not isinstance(node, ast.BinOp | ast.Call) or next(
                regions_around(node, syntax), None
            ):
                continue
            operands = multiplied(node, syntax)
            angles = used_by(node, ANGLES, syntax) if operands else None
            if angles is not None and any(mentions(each, made, held) for each in operands):
                yield node, angles
