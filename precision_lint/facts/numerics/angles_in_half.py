"""Angles that are cast to half precision before their sine and cosine are taken.

An angle of 300 in bfloat16 is a multiple of 2. With a base of 10000 the cosines of position 256 are
off by up to 0.5 in bfloat16, as are those of position 2048 in float16 (torch 2.13).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.amp.regions.autocast import multiplied
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.program_run import calls_in_program
from precision_lint.facts.numerics.positions import (
    ANGLES,
    CASTS,
    OUTER,
    RANGES,
    Position,
    cast_to,
    half_dtype,
    last_of_range,
    names_no_half_dtype,
)
from precision_lint.facts.numerics.uses import holders, mentions, used_by
from precision_lint.model.dtypes import BFLOAT16, FLOAT16
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.model.ranges import LAYOUTS
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import assigned
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_HALF = frozenset({BFLOAT16, FLOAT16})
_ANGLE = regex(r"\b(?:cos|sin|polar)\(")
_ROTARY_NAME = "RotaryPositionEmbedding"
_ROTARY = regex(rf"transformer_engine\.(?:\w+\.)*{_ROTARY_NAME}")
"""A module that gives angles; what gets them takes the sine and the cosine."""
_POWERS = frozenset({"pow", "exp", "exp2", "logspace"})
"""What makes frequencies of a range."""


@fact
def angles_in_half(file: PythonFile) -> tuple[Position, ...]:
    """The casts of angles to a half dtype, in the order of the source."""
    text = file.text.text
    has_range = any(f"{name}(" in text for name in RANGES)
    if not (_ROTARY_NAME in text or (has_range and _ANGLE.search(text))):
        return ()
    syntax = syntax_tree(file)
    every = (call for name in sorted(CASTS) for call in syntax.calls(name))
    casts = {file.span_of(call): call for call in every if _may_round_angles(call, syntax)}
    names = frozenset(map(callee_name, casts.values()))
    found: dict[Span, Position] = {}
    if casts:
        worth = frozenset(casts.values())
        for call in calls_in(file, names, worth=lambda node: node in worth):
            _add(call, casts, found, file)
    if len(found) < len(casts):
        for call in calls_in_program(file, names):
            _add(call, casts, found, file)
    return tuple(found[span] for span in sorted(found))


def _add(
    call: Call, casts: Mapping[Span, ast.Call], found: dict[Span, Position], file: PythonFile
) -> None:
    node = casts.get(call.span)
    dtype = cast_to(call, file)
    name = half_dtype(dtype, call, file)
    if node is None or dtype is None or name is None or dtype.origin is None:
        return
    if isinstance(call.receiver, Tensor) and call.receiver.dtypes & _HALF:
        return  # the product may have been rounded before
    syntax = syntax_tree(file)
    if _is_far(node, LAYOUTS[name].integers, syntax):
        use = used_by(node, ANGLES, syntax)
        span = None if use is None else file.span_of(use)
        is_certain = dtype.must_be(_HALF)
        found[call.span] = Position(call.span, call, "angles", name, dtype.origin, is_certain, span)


def _may_round_angles(cast: ast.Call, syntax: SyntaxTree) -> bool:
    made = cast.func.value if isinstance(cast.func, ast.Attribute) else None
    if made is None or names_no_half_dtype(cast):
        return False
    if _rotary_call(made, syntax) is not None:
        return True
    ranges = _ranges(made, syntax)
    if not ranges or used_by(cast, ANGLES, syntax) is None:
        return False
    of_function = [*own_nodes(syntax.body(cast))]
    if any(isinstance(each, ast.Call) and callee_name(each) == "meshgrid" for each in of_function):
        return False  # the rows and columns of an image are few
    if any(_is_made_of(made, each, syntax) for each in of_function if _takes_angles(each)):
        return False  # it is no angle any more
    products = [each for each in of_function if _is_product(each, syntax)]
    return any(
        _is_made_of(made, each, syntax) and any(_is_made_of(each, one, syntax) for one in ranges)
        for each in products
        if isinstance(each, ast.expr)
    )


def _takes_angles(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and callee_name(node) in ANGLES


def _is_product(node: ast.AST, syntax: SyntaxTree) -> bool:
    match node:
        case ast.BinOp(op=ast.Mult()):
            return True
        case ast.Call() if callee_name(node) in OUTER:
            return True
    return bool(multiplied(node, syntax))


def _is_made_of(node: ast.expr, made: ast.AST, syntax: SyntaxTree) -> bool:
    return isinstance(made, ast.expr) and mentions(node, made, holders(made, syntax))


def _ranges(made: ast.expr, syntax: SyntaxTree) -> list[ast.Call]:
    """The ranges of its function that an expression is made of, but for those of frequencies."""
    of_function = [*own_nodes(syntax.body(made))]
    ranges = [
        each for each in of_function if isinstance(each, ast.Call) and callee_name(each) in RANGES
    ]
    powers = [exponent for each in of_function for exponent in _exponents(each)]
    return [
        each
        for each in ranges
        if _is_made_of(made, each, syntax)
        and not any(_is_made_of(exponent, each, syntax) for exponent in powers)
    ]


def _exponents(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(op=ast.Pow(), right=right):
            yield right
        case ast.Call(func=func, args=args) if callee_name(node) in _POWERS:
            yield from args
            if isinstance(func, ast.Attribute):
                yield func.value


def _is_far(cast: ast.Call, integers: int, syntax: SyntaxTree) -> bool:
    """True unless all positions are written out, and few enough for their angles to be right."""
    assert isinstance(cast.func, ast.Attribute)
    rotary = _rotary_call(cast.func.value, syntax)
    if rotary is not None:
        given = [*rotary.args[:1], *(one.value for one in rotary.keywords)]
        lengths = [one.value for one in given if isinstance(one, ast.Constant)]
        return not any(isinstance(one, int) and one <= integers for one in lengths)
    lasts = [last_of_range(each) for each in _ranges(cast.func.value, syntax)]
    return any(one is None or one > integers for one in lasts)


def _rotary_call(node: ast.expr, syntax: SyntaxTree) -> ast.Call | None:
    """The call of TransformerEngine's module that an expression is the result of."""
    match node:
        case ast.Name():
            held = assigned(node, syntax)
            return _rotary_call(held[0], syntax) if len(held) == 1 else None
        case ast.Call(func=ast.Call() as made):
            modules: list[ast.expr] = [made]
        case ast.Call(func=made):
            modules = assigned(made, syntax)
        case _:
            return None
    match modules:
        case [ast.Call(func=func)] if _ROTARY.fullmatch(qualified(func, syntax.names)):
            return node
    return None
