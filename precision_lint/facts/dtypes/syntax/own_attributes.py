"""The attributes of its object that a function assigns, registers, or changes in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.syntax.mutations import ADDING, CHANGING, STAYING, elements, root
from precision_lint.facts.dtypes.syntax.relevance import (
    filled_by_mapping,
    kept_by,
    registration,
    stored_by_name,
)
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import (
    AnyFunction,
    own_statements,
    single_targets,
    targets,
)
from precision_lint.source.python.syntax import callee_name, positional_parameters

PREPARING = frozenset({"prepare", "prepare_model", "setup", "setup_module"})
"""Methods of accelerate and Fabric that change what a module returns."""


def attributes_assigned(function: AnyFunction) -> set[str]:
    """The attributes that the function itself assigns or changes in place."""
    found: set[str] = set()
    held: dict[str, list[ast.expr]] = {}
    for node in own_statements(function.body if isinstance(function.body, list) else []):
        held |= elements(node)
        match node:
            case ast.Expr(value=ast.Call() as call) if kept := kept_by(call):
                found |= kept.keys()
            case ast.Expr(value=ast.Call() as call) if (made := registration(call)) is not None:
                found.add(made[0])
            case ast.Expr(value=ast.Call() as call) if stored := stored_by_name(call):
                match stored:
                    case ast.Name(id="self"), ast.Constant(value=str(name)), _:
                        found.add(name)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method)) as call) if (
                method in ADDING | CHANGING | STAYING
            ):
                match root(owner if method in ADDING else call):
                    case ast.Attribute(value=ast.Name(id="self"), attr=name):
                        found.add(name)
                    case ast.Name(id=name):  # `for part in (self.a, self.b): part.half()`
                        for part in held.get(name, ()):
                            found |= {*_self_attributes(part)}
            case _:
                found |= {name for target in targets(node) for name in _self_attributes(target)}
    return found


def rows_setting_by_name(function: AnyFunction) -> frozenset[int]:
    """The rows that assign attributes of `self` whose names are not in the source."""
    statements = [*own_statements(function.body if isinstance(function.body, list) else [])]
    loops = (node.target for node in statements if isinstance(node, ast.For))
    keys = {each.id for target in loops for each in walk(target) if isinstance(each, ast.Name)}
    return frozenset(
        node.lineno
        for node in statements
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if _sets_by_name(node.value, keys)
    )


def _sets_by_name(call: ast.Call, keys: set[str]) -> bool:
    """True for `setattr(self, key, x)` with the key of a loop, and `self.__dict__.update(xs)`."""
    match stored_by_name(call):
        case ast.Name(id="self"), ast.Name(id=key), _:
            return key in keys
    match filled_by_mapping(call):
        case ast.Name(id="self"), _:
            return True
    return False


MODULE_STATE = frozenset({"Parameter", "Buffer"})
"""What makes a tensor the state of the module that it is assigned to: a cast casts it."""


def assigned_to_class(function: AnyFunction) -> Iterator[tuple[str, int]]:
    """The attributes that a class method assigns, with the rows: `cls.model = model`."""
    first, *_ = [*(parameter.arg for parameter in positional_parameters(function.args)), ""]
    for node in own_statements(function.body if isinstance(function.body, list) else []):
        for target in targets(node):
            match target:
                case ast.Attribute(value=ast.Name(id=holder), attr=name) if holder == first:
                    yield name, node.lineno


def registered(function: AnyFunction) -> Iterator[str]:
    """The attributes that the function makes parameters or buffers of a module."""
    for node in own_statements(function.body if isinstance(function.body, list) else []):
        match node:
            case ast.Expr(value=ast.Call() as call) if (made := registration(call)) is not None:
                yield made[0]
            case (
                ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                    value=ast.Call() as call,
                )
                | ast.AnnAssign(
                    target=ast.Attribute(value=ast.Name(id="self"), attr=name),
                    value=ast.Call() as call,
                )
            ) if callee_name(call) in MODULE_STATE:
                yield name


def parameters_made(function: AnyFunction) -> Iterator[str]:
    """The attributes that the function makes parameters of a module: `self.x = nn.Parameter(…)`."""
    for node in own_statements(function.body if isinstance(function.body, list) else []):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call() as call,
            ) if callee_name(call) == "Parameter":
                yield name


def attributes_prepared(function: AnyFunction) -> Iterator[tuple[str, ast.Attribute]]:
    """The attributes that calls of preparing methods take or give, with the methods.

    `self.net, loader = self.accelerator.prepare(self.net, loader)`
    """
    for node in own_statements(function.body if isinstance(function.body, list) else []):
        match node:
            case (
                ast.Assign(value=ast.Call(func=ast.Attribute() as method) as call)
                | ast.Expr(value=ast.Call(func=ast.Attribute() as method) as call)
            ) if method.attr in PREPARING:
                for target in (*targets(node), *call.args):
                    yield from ((name, method) for name in _self_attributes(target))


def _self_attributes(target: ast.expr) -> Iterator[str]:
    for single in single_targets(target):
        while isinstance(single, ast.Subscript):  # `self.cache[key] = …` changes the attribute
            single = single.value
        match single:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                yield name
