"""Models that transformers loads in 4 or 8 bits, and the expressions that hold them."""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import callee_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_BITS = {"load_in_4bit": 4, "load_in_8bit": 8}
_CONFIG = "BitsAndBytesConfig"
_KEEPING = frozenset({"eval", "train", "cuda", "to", "half", "float", "requires_grad_"})
"""Methods of a model that return it, if they return."""


@frozen
class QuantizedLoad:
    """A model with quantized weights: the call that loads it, and the one that says the bits."""

    node: ast.Call
    config: ast.Call
    bits: int

    def option(self, name: str) -> ast.expr | None:
        """An argument of the load."""
        return _given(self.node).get(name)


def quantized_load(
    node: ast.expr, file: PythonFile, through: frozenset[str] = frozenset()
) -> QuantizedLoad | None:
    """What loaded the model that an expression is, if it is always the same one and quantized.

    `through` names functions that return the model they are given, or one around it.
    """
    found = _loads(node, file, through, frozenset())
    return next(iter(found)) if found is not None and len(found) == 1 else None


def _loads(
    node: ast.expr, file: PythonFile, through: frozenset[str], seen: frozenset[ast.expr]
) -> frozenset[QuantizedLoad] | None:
    """The loads that an expression can be of; None if it can be something else."""
    syntax = syntax_tree(file)
    match node:
        case ast.Name() if node in seen:
            return frozenset()  # `model = prepare(model)` in a loop: what it was before
        case ast.Name():
            values = _values(node, syntax)
            found = [_loads(value, file, through, seen | {node}) for value in values]
            if not found or None in found:
                return None
            return frozenset[QuantizedLoad]().union(*filter(None, found))
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _KEEPING:
            return _loads(owner, file, through, seen)
        case ast.Call() if (load := _load(node, syntax)) is not None:
            return frozenset({load})
        case ast.Call(args=[first, *_]) if callee_name(node) in through:
            return _loads(first, file, through, seen)
    return None


def _values(node: ast.Name, syntax: SyntaxTree) -> list[ast.expr]:
    """The values that a name can have; none if not all are seen."""
    held = binding(node, syntax)
    return held if isinstance(held, list) else []


def _load(node: ast.Call, syntax: SyntaxTree) -> QuantizedLoad | None:
    """The load that a call is, if literals say that its weights are quantized."""
    if callee_name(node) != "from_pretrained":
        return None
    if not qualified(node.func, syntax.names).startswith("transformers."):
        return None
    given = _given(node)
    if (bits := _bits(given)) is not None:
        return QuantizedLoad(node, node, bits)
    config = given.get("quantization_config")
    if isinstance(config, ast.Name):
        values = _values(config, syntax)
        config = values[0] if len(values) == 1 else None
    if not isinstance(config, ast.Call) or callee_name(config) != _CONFIG:
        return None
    if qualified(config.func, syntax.names) != f"transformers.{_CONFIG}":
        return None
    bits = _bits(_given(config))
    return None if bits is None else QuantizedLoad(node, config, bits)


def _given(node: ast.Call) -> dict[str | None, ast.expr]:
    return {keyword.arg: keyword.value for keyword in node.keywords}


def _bits(given: dict[str | None, ast.expr]) -> int | None:
    for name, bits in _BITS.items():
        value = given.get(name)
        if isinstance(value, ast.Constant) and value.value is True:
            return bits
    return None
