"""Sums in half precision: reductions, accumulators of loops, atomic additions."""

from __future__ import annotations

import ast

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.frame import Variable
from precision_lint.facts.triton.notes.elements import is_half, is_integer
from precision_lint.facts.triton.notes.scene import Call, Scene
from precision_lint.facts.triton.notes.selections import picks_one
from precision_lint.facts.triton.notes.traces import of_kind
from precision_lint.facts.triton.values import Function, Pointer, Tensor, Value
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk

_REDUCTIONS = frozenset({"sum", "cumsum", "cumprod"})
_COMBINED = frozenset({"reduce", "associative_scan"})


@frozen
class Sums:
    """Watches what adds up elements."""

    scene: Scene

    def called(self, call: Call, found: Value) -> None:
        """A function that returns `found`."""
        if call.name in _REDUCTIONS or (call.name in _COMBINED and _combines_by_sum(call)):
            self._reduced(call, found)
        if call.name == "atomic_add":
            self._added_atomically(call)

    def _reduced(self, call: Call, found: Value) -> None:
        value, node = call.arguments.get(0, "input"), call.arguments.node(0, "input")
        if not isinstance(value, Tensor) or not isinstance(found, Tensor):
            return
        if is_half(value) and is_half(found) and not picks_one(node, self.scene):
            self.scene.see("reduction", call.site, call.name, value, given=node)

    def _added_atomically(self, call: Call) -> None:
        pointer, node = call.arguments.get(0, "pointer"), call.arguments.node(0, "pointer")
        if not isinstance(pointer, Pointer) or pointer.parameter is None:
            return
        if pointer.elements <= types.HALF and not is_integer(call.arguments.get(1, "val")):
            # Programs that each add once to a place of their own are parts of a split product.
            is_slight = not self.scene.loops and bool(of_kind("grid", pointer.traces))
            self.scene.see(
                "atomic", call.site, pointer.parameter, pointer, given=node, is_slight=is_slight
            )

    def accumulated(self, statement: ast.stmt, name: str, before: Variable) -> None:
        """`acc += x`, where `acc` was `before`: in a loop that carries it."""
        loops = self.scene.loops
        if not loops or loops[-1].before.get(name) is not before:
            return
        after = self.scene.frame.variables[name].value
        if is_half(after) and is_half(before.value) and not self._counts_up(statement):
            self.scene.see(
                "accumulator",
                self.scene.module.span(statement),
                name,
                after,
                before=before.value,
                start=before.given,
                related=before.assigned,
            )

    def _counts_up(self, statement: ast.stmt) -> bool:
        """True for `n += 1`: elements that integers are added to are none that lose digits."""
        match statement:
            case ast.AugAssign(value=value):
                return is_integer(self.scene.evaluate(value))
            case ast.Assign(value=ast.BinOp(left=left, right=right)):
                return any(is_integer(self.scene.evaluate(operand)) for operand in (left, right))
        return False


def accumulator(statement: ast.stmt) -> str:
    """The variable that a statement adds to: `acc += x`, `acc = acc + x`; empty if to none."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()):
            return name
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right),
        ) if any(isinstance(one, ast.Name) and one.id == name for one in (left, right)):
            return name
    return ""


def _combines_by_sum(call: Call) -> bool:
    """True if the function that combines two elements adds or multiplies them."""
    combine = call.arguments.get(2, "combine_fn")
    if not isinstance(combine, Function) or combine.helper is None:
        return False
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult)
        for node in walk(combine.helper.node)
    )
