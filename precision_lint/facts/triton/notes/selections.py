"""Sums that select: of all that is added, one element is not zero, and nothing is rounded."""

from __future__ import annotations

import ast

from precision_lint.facts.triton.notes.scene import Scene

_MAX_STEPS = 6
"""How far the definition of an operand is followed."""


def picks_one(node: ast.expr | None, scene: Scene, steps: int = _MAX_STEPS) -> bool:
    """True for `tl.where(columns == label, x, 0)`."""
    match node if steps else None:
        case ast.Name(id=name):
            return picks_one(scene.definition(name), scene, steps - 1)
        case ast.Call(func=ast.Attribute(value=value, attr="to")):
            return picks_one(value, scene, steps - 1)
        case ast.Call(func=func, args=[condition, *_]) if (
            scene.module.qualified(func) == "triton.language.where"
        ):
            return _is_equality(condition, scene, steps)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return any(
                _is_equality(one, scene, steps - 1) or picks_one(one, scene, steps - 1)
                for one in (left, right)
            )
    return False


def _is_equality(node: ast.expr | None, scene: Scene, steps: int) -> bool:
    match node if steps else None:
        case ast.Name(id=name):
            return _is_equality(scene.definition(name), scene, steps - 1)
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value, attr="to")):
            return _is_equality(value, scene, steps - 1)
        case ast.BinOp(op=ast.BitAnd(), left=left, right=right):
            return any(_is_equality(one, scene, steps - 1) for one in (left, right))
        case ast.BinOp(op=ast.Sub(), left=ast.Constant(value=1), right=right):
            return _is_equality(right, scene, steps - 1)
        case ast.Call(func=func, args=[ast.Constant(value=0), ast.Constant(value=2)]):
            # 0 and 1 along an axis of two
            return (scene.module.qualified(func) or "").endswith(".arange")
        case ast.Compare(ops=[ast.Eq()]):
            return True
    return False
