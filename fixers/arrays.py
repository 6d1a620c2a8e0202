"""Converting the tensors in an expression: itself, or the items of a literal or container."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.lattice import join_all
from precision_lint.facts.dtypes.domain.values import Dictionary, Sequence, Tensor, Value
from precision_lint.fixers.calls import wrap_argument
from precision_lint.model.finding import Edit, Span
from precision_lint.source.python.parse import ParsedPython

if TYPE_CHECKING:
    import libcst as cst

    from precision_lint.source.python.expressions import Expression

Choose = Callable[[Tensor], str | None]
"""How to convert a tensor: a method (`.float()`) or a function (`to_numpy`); None for nothing."""


def convert_argument(
    file: ParsedPython, call: Call, argument: Argument, choose: Choose
) -> list[Edit] | None:
    """Convert every tensor of an argument; None if no edit is right for each of them.

    `[a, b]` to `[to_numpy(a), to_numpy(b)]`, `{"loss": a}` to `{"loss": to_numpy(a)}`,
    `[f(x) for x in xs]` to `[to_numpy(f(x)) for x in xs]`, and for a list in a variable, `xs` to
    `[to_numpy(item) for item in xs]`.
    """
    import libcst as cst

    found = file.expression(call.span)
    if found is None or not isinstance(found.node, cst.Call):
        return None
    for given in found.node.args:
        extent = found.extent(given.value)
        if extent.start <= argument.span.start and argument.span.end <= extent.end:
            return _convert(found, given.value, argument.value, choose)
    return None


def _convert(
    within: Expression, node: cst.BaseExpression, value: Value, choose: Choose
) -> list[Edit] | None:
    match value:
        case Tensor():
            how = choose(value)
            return [] if how is None else _applied(within, node, how)
        case Sequence():
            return _convert_items(within, node, value, choose)
        case Dictionary():
            return _convert_values(within, node, value, choose)
    return []


def _convert_items(
    within: Expression, node: cst.BaseExpression, value: Sequence, choose: Choose
) -> list[Edit] | None:
    import libcst as cst

    if isinstance(node, cst.List | cst.Tuple | cst.Set):
        known = value.items or (value.item,) * len(node.elements)
        if len(known) != len(node.elements):
            return None
        return _joined(
            None
            if isinstance(element, cst.StarredElement)
            else _convert(within, element.value, item, choose)
            for element, item in zip(node.elements, known, strict=True)
        )
    if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
        return _convert(within, node.elt, value.item, choose)
    item = value.item if value.items is None else join_all(value.items)
    how = choose(item) if isinstance(item, Tensor) else None
    if how is None:
        return None
    return _around(within, node, f"[{_of('item', how)} for item in ", "]")


def _convert_values(
    within: Expression, node: cst.BaseExpression, value: Dictionary, choose: Choose
) -> list[Edit] | None:
    import libcst as cst

    if isinstance(node, cst.Dict):
        if value.items is not None and len(value.items) == len(node.elements):
            known = [item for _, item in value.items]
        else:
            known = [value.item] * len(node.elements)
        return _joined(
            None
            if isinstance(element, cst.StarredDictElement)
            else _convert(within, element.value, item, choose)
            for element, item in zip(node.elements, known, strict=True)
        )
    if isinstance(node, cst.DictComp):
        return _convert(within, node.value, value.item, choose)
    how = choose(value.item) if isinstance(value.item, Tensor) else None
    if how is None:
        return None
    return _around(within, node, f"{{key: {_of('value', how)} for key, value in ", ".items()}")


def _joined(parts: Iterable[list[Edit] | None]) -> list[Edit] | None:
    edits: list[Edit] = []
    for part in parts:
        if part is None:
            return None
        edits += part
    return edits


def _of(name: str, how: str) -> str:
    return f"{name}{how}" if how.startswith(".") else f"{how}({name})"


def _applied(within: Expression, node: cst.BaseExpression, how: str) -> list[Edit]:
    if how.startswith("."):
        return _around(within, node, "", how)
    return wrap_argument(within.extent(node), how)


def _around(within: Expression, node: cst.BaseExpression, before: str, after: str) -> list[Edit]:
    """Text before and after an expression, which gets parentheses unless it binds tightly."""
    import libcst as cst

    span = within.extent(node)
    if not node.lpar and not isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.Subscript):
        before, after = f"{before}(", f"){after}"
    start = [Edit(Span(span.start, span.start), before)] if before else []
    return [*start, Edit(Span(span.end, span.end), after)]
