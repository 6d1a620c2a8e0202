"""The groups of parameters that an optimizer gets, where the code writes each of them down."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument
from precision_lint.facts.dtypes.domain.values import Dictionary, Sequence, Value
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax_tree import syntax_tree


@frozen
class ParameterGroup:
    """A group: what the flow knows of it, its parameters in the code, and its learning rate there,
    None where it has none of its own.
    """

    value: Value
    weights: ast.expr
    rate: ast.expr | None


def parameter_groups(given: Argument, file: PythonFile) -> tuple[ParameterGroup, ...]:
    """The groups of `[{"params": weights, "lr": rate}, …]`; nothing unless all are seen."""
    items = given.value.items if isinstance(given.value, Sequence) else None
    written = tuple(_written(file.node_at(given.span), file))
    if items is None or len(items) != len(written):
        return ()
    found = tuple(
        ParameterGroup(item, group["params"], group.get("lr"))
        for item, group in zip(items, written, strict=True)
        if isinstance(item, Dictionary) and "params" in group
    )
    return found if len(found) == len(items) else ()


def as_value(groups: tuple[ParameterGroup, ...]) -> Sequence:
    """A list of groups as the flow knows it."""
    (first, *_) = groups
    return Sequence(first.value, tuple(each.value for each in groups))


def _written(given: ast.expr | None, file: PythonFile) -> Iterator[dict[str, ast.expr]]:
    held = binding(given, syntax_tree(file)) if isinstance(given, ast.Name) else None
    if isinstance(held, list) and len(held) == 1:
        (given,) = held
    if isinstance(given, ast.List | ast.Tuple):
        for group in given.elts:
            keys = group.keys if isinstance(group, ast.Dict) else []
            values = group.values if isinstance(group, ast.Dict) else []
            yield {
                key.value: value
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
