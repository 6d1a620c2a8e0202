"""Modules that a function of the program casts for its caller: `prepare(vae)` with `vae.half()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import FunctionValue, Instance, Model, Value
from precision_lint.facts.dtypes.interpreter import casts
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.dtypes.syntax.mutations import changed
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import bound_names


def modules_cast(definition: Function, given: Mapping[str, Value]) -> frozenset[str]:
    """The parameters that get a module which the body casts, and stand for it to the end."""
    names = definition.casts_given - {"self"}
    return frozenset(
        name
        for name in names
        if isinstance(given.get(name), Model | Instance) and _stays(definition, name)
    )


def _stays(definition: Function, name: str) -> bool:
    """True for a variable to which nothing is assigned but the same module: `m = m.half()`."""
    return all(
        isinstance(each.node, ast.Assign) and _is_same(each.node.value, name)
        for each in definition.def_uses
        if name in bound_names(each.node)
    )


def _is_same(value: ast.expr, name: str) -> bool:
    module, _ = changed(value)
    return isinstance(module, ast.Name) and module.id == name


def take(
    evaluate: Evaluate,
    routine: FunctionValue,
    given: Mapping[str, Value],
    left: Mapping[str, Value],
    node: ast.Call,
    env: Environment,
) -> frozenset[str]:
    """The modules of the caller after a call that cast them; the parameters that got them."""
    taken = set()
    for name, argument in _arguments(routine, node):
        before, after = given.get(name), left.get(name)
        is_held = isinstance(argument, ast.Name | ast.Attribute)
        if is_held and isinstance(before, Model | Instance) and isinstance(after, type(before)):
            taken.add(name)
            casts.change(evaluate, argument, before, after, env)
    return frozenset(taken)


def _arguments(routine: FunctionValue, node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    names = [parameter.arg for parameter in routine.definition.parameters]
    names = names[1:] if routine.receiver is not None else names
    if not any(isinstance(each, ast.Starred) for each in walk(node)):
        yield from zip(names, node.args, strict=False)
    yield from ((each.arg, each.value) for each in node.keywords if each.arg is not None)
