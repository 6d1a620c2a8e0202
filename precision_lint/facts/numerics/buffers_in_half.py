"""Angles of positions that are made with a buffer, which a cast of its module casts as well.

`self.register_buffer("inv_freq", …)` holds frequencies in float32, and `model.bfloat16()` rounds
them. Positions in their dtype are rounded, too. A cast back to float32 restores nothing: where the
weights come from a file that does not hold the buffer, the angles are not those that the weights
were trained with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, partial
from typing import Literal

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.numerics.positions import (
    ANGLES,
    CASTS,
    OUTER,
    RANGES,
    Position,
    half_dtype,
    has_positions,
    in_order,
    may_be_range,
    range_in_half,
)
from precision_lint.facts.numerics.uses import used_by
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_UPCASTS = frozenset({"float", "to"})
_ANGLE = regex(r"\b(?:cos|sin|polar)\(")
_HALF = frozenset({BFLOAT16, FLOAT16})


def positions_of_buffers(file: PythonFile) -> Iterator[Position]:
    """Positions that are multiplied by a buffer in half precision, in the order of the source."""
    text = file.text.text
    if "register_buffer" not in text or _ANGLE.search(text) is None:
        return
    found: list[Position] = []
    for call in calls_in(
        file, OUTER | CASTS | RANGES | _UPCASTS, worth=cache(partial(_may_use_buffer, file=file))
    ):
        position = _position(call, file)
        if position is not None:
            found.append(position)
    yield from in_order(found)


def _may_use_buffer(node: ast.expr, file: PythonFile) -> bool:
    """True for what is made of an attribute, and angles of it, or for a range in its dtype."""
    syntax = syntax_tree(file)
    if not isinstance(node, ast.Call) or not any(map(_is_of_self, walk(node))):
        return False
    name = callee_name(node)
    if name in _UPCASTS and _kept_apart(node, syntax):
        return used_by(node, ANGLES, syntax) is not None
    if name in OUTER:
        is_product = has_positions(node, syntax) or bool(_kept_apart(node, syntax))
        return is_product and used_by(node, ANGLES, syntax) is not None
    return may_be_range(node, file)


def _is_of_self(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
    return False


def _position(call: Call, file: PythonFile) -> Position | None:
    if call.name in OUTER:
        return _product(call, file)
    return range_in_half(call, file) or (_upcast(call, file) if call.name in _UPCASTS else None)


def _product(call: Call, file: PythonFile) -> Position | None:
    """`torch.outer(positions, self.inv_freq)`, where the frequencies can be of a half dtype."""
    syntax, node = syntax_tree(file), file.node_at(call.span)
    use = None if node is None else used_by(node, ANGLES, syntax)
    tensors = [one.value for one in call.arguments if isinstance(one.value, Tensor)]
    is_wide = any(each.must_be(frozenset({FLOAT32})) for each in tensors)
    for one in call.arguments:
        value = one.value
        if not isinstance(value, Tensor) or has_positions(file.node_at(one.span), syntax):
            continue
        name = half_dtype(value, call, file)
        if name is None or value.origin is None or use is None or node is None:
            continue
        if is_wide and not _is_lost(value.origin, _kept_apart(node, syntax), file):
            continue  # the product is in float32: only the frequencies are rounded
        form: Literal["buffer", "frequencies"] = "buffer" if is_wide else "frequencies"
        is_certain = value.must_be(_HALF)
        return Position(call.span, call, form, name, value.origin, is_certain, file.span_of(use))
    return None


def _upcast(call: Call, file: PythonFile) -> Position | None:
    """`self.inv_freq.float()`, of a buffer that was rounded when its module was cast."""
    syntax, node, value = syntax_tree(file), file.node_at(call.span), call.receiver
    if node is None or not isinstance(value, Tensor) or value.origin is None:
        return None
    is_plain = call.name == "float" or "float32" in file.text[call.span]
    name = half_dtype(value, call, file)
    use = used_by(node, ANGLES, syntax)
    if not is_plain or name is None or use is None:
        return None
    if not _is_lost(value.origin, _kept_apart(node, syntax), file):
        return None
    is_certain = value.must_be(_HALF)
    return Position(call.span, call, "buffer", name, value.origin, is_certain, file.span_of(use))


# What no file holds


def _is_lost(origin: Origin, buffers: frozenset[str], file: PythonFile) -> bool:
    """True if the weights are read from a file, and nothing there makes a buffer anew."""
    loads = [site.source.text for site in origin.route if site.kind == "checkpoint"]
    made_anew = "|".join(map(re.escape, buffers))
    texts = (*loads, file.text.text)
    return bool(loads and buffers) and not any(
        re.search(rf"(?<!self)\.(?:{made_anew})\b", text) for text in texts
    )


def _kept_apart(node: ast.expr, syntax: SyntaxTree) -> frozenset[str]:
    """The buffers in an expression that a state dict does not hold, and that are made only once."""
    owner = enclosing_class(node, syntax)
    if owner is None:
        return frozenset()
    read = {each.attr for each in walk(node) if isinstance(each, ast.Attribute)}
    made = [_buffer(each) for each in walk(owner) if isinstance(each, ast.Call)]
    names = [name for name in made if name is not None and name in read]
    return frozenset(each for each in names if not _is_changed(each, names, owner))


def _buffer(node: ast.Call) -> str | None:
    """The name of `register_buffer("inv_freq", …, persistent=False)`."""
    if callee_name(node) != "register_buffer":
        return None
    given = {each.arg: each.value for each in node.keywords}
    match node.args, given.get("persistent"):
        case [ast.Constant(value=str(name)), *_], ast.Constant(value=False):
            return name
    return None


def _is_changed(name: str, names: list[str], owner: ast.ClassDef) -> bool:
    """True if a class makes a buffer again, or asks for its dtype to decide what to do."""
    for each in walk(owner):
        match each:
            case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Store()):
                if attr == name:
                    return True
            case ast.Compare(left=ast.Attribute(value=ast.Attribute(attr=attr), attr="dtype")):
                if attr == name:
                    return True
    return names.count(name) > 1
