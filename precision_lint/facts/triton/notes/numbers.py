"""Numbers that half precision has not: infinity or zero beside its elements."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from precision_lint.facts.triton.dtypes import HALF, Dtypes
from precision_lint.facts.triton.notes.literals import overflows, vanishes
from precision_lint.facts.triton.notes.scene import Call, Scene
from precision_lint.facts.triton.notes.sights import Kind
from precision_lint.facts.triton.values import Constant, Tensor, Value

_BF16 = frozenset({"bf16"})
_BOUNDED = frozenset({"where", "maximum", "minimum", "clamp"})
"""What takes numbers beside elements, and gives them their dtype."""


@dataclass(slots=True)
class Numbers:
    """Watches the numbers beside half precision."""

    scene: Scene
    meets_small: bool = False
    """One is zero in bf16, perhaps in bf16 only."""

    def operated(self, op: ast.operator, left: Value, right: Value, found: Tensor) -> None:
        """`left op right`, which is `found`."""
        if not isinstance(op, ast.Add | ast.Sub | ast.Mult):
            return
        for value, number, is_left in ((left, right, True), (right, left, False)):
            if not isinstance(number, Constant) or not isinstance(value, Tensor):
                continue
            # Infinity that is added or selected does what a large number is there for.
            if isinstance(op, ast.Mult) and overflows(number.value, found.dtypes):
                self._see("infinity", value, number, is_left)
            elif self._vanishes(number.value, found.dtypes):
                self._see("zero", value, number, is_left)

    def compared(self, op: ast.cmpop, left: Value, right: Value) -> None:
        """`left op right`."""
        match op, left, right:
            # `x > 1e-8` and `x > 0` are the same, unless there are elements between.
            case ast.Lt() | ast.GtE(), Tensor(dtypes=dtypes), Constant() as number:
                if self._vanishes(number.value, dtypes):
                    self._see("zero", left, number, True)
            case ast.Gt() | ast.LtE(), Constant() as number, Tensor(dtypes=dtypes):
                if self._vanishes(number.value, dtypes):
                    self._see("zero", right, number, False)

    def called(self, call: Call, found: Value) -> None:
        """A function that returns `found`."""
        if call.name not in _BOUNDED or not isinstance(found, Tensor):
            return
        given = call.arguments
        for key, node in given.nodes.items():
            number = given.keywords[key] if isinstance(key, str) else given.positional[key]
            if isinstance(number, Constant) and self._vanishes(number.value, found.dtypes):
                self.scene.see("zero", call.site, self._written(node, number), found)

    def _vanishes(self, number: object, dtypes: Dtypes) -> bool:
        if dtypes <= HALF and vanishes(number, _BF16):
            self.meets_small = True
        return vanishes(number, dtypes)

    def _see(self, kind: Kind, value: Value, number: Constant, is_left: bool) -> None:
        """A number beside `value`, the left operand or the right one of what is evaluated."""
        match self.scene.node:
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                given, node = (left, right) if is_left else (right, left)
                subject = self._written(node, number)
                self.scene.see(kind, self.scene.here, subject, value, given=given)
            case ast.AugAssign(value=node) if is_left:
                self.scene.see(kind, self.scene.here, self._written(node, number), value)

    def _written(self, node: ast.expr, number: Constant) -> str:
        """The number as the kernel has it; what a name stands for is added."""
        module = self.scene.module
        span = module.span(node)
        text = module.text.text[span.start : span.end]
        return f"{text} = {number.value:g}" if isinstance(node, ast.Name) else text
