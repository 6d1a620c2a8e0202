"""Tables that decorators fill: `@register_model("unet")` puts a class into `MODELS`.

So does `__init_subclass__`, for the subclasses of its class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.dtypes.domain.lattice import join_all
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    ClassObject,
    Dictionary,
    FunctionValue,
    Value,
)
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import innermost_name

_MOST_REGISTERED = 12
"""Classes and functions that one table gets; of more, nothing is known."""


def fillers(module: Module, table: str) -> frozenset[str]:
    """The functions of the top level that put what they are given into a table of the module.

    `def register(cls): MODELS[cls.__name__] = cls`, or a function inside of `register(name)`.
    """
    return _tables(module).get(table, frozenset())


def filled(program: Program, module: Module, table: str, value: Dictionary) -> Dictionary | None:
    """A table of a module with what decorators put into it; None if they put nothing there."""
    found = [*_registered(program, module, table)][: _MOST_REGISTERED + 1]
    if not found:
        return None
    if len(found) > _MOST_REGISTERED:
        return Dictionary(UNKNOWN, None, value.default)
    item = join_all([value.item, *(each for _, each in found)])
    named = {key: each for key, each in found if key is not None}
    is_named = value.items == () and len(named) == len(found)
    return Dictionary(item, tuple(named.items()) if is_named else None, value.default)


def tables_with(program: Program, definition: Function | Class) -> Iterator[tuple[Module, str]]:
    """The tables that a decorator, or the base of a class, puts a definition into."""
    through = definition.decorators
    if isinstance(definition, Class):
        through = [*through, *definition.node.bases]
    for name in filter(None, map(innermost_name, through)):
        found = program.name(definition.module, name)
        if found is not None and isinstance(found.definition, Function | Class):
            for table, names in _tables(found.module).items():
                if found.definition.name in names:
                    yield found.module, table


def _tables(module: Module) -> Mapping[str, frozenset[str]]:
    """By table of a module, the functions and classes of the top level that fill it."""
    return module.fact(_tables, lambda: _by_table(module))


def _by_table(module: Module) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, definition in module.top.items():
        function = (
            definition.methods.get("__init_subclass__")
            if isinstance(definition, Class)
            else definition
        )
        for table in _filled_by(function) if isinstance(function, Function) else ():
            found.setdefault(table, set()).add(name)
    return {table: frozenset(names) for table, names in found.items()}


def _filled_by(function: Function) -> Iterator[str]:
    """The names that a function, or one inside of it, puts its parameters into by a key."""
    nodes = [*walk(function.node)]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=table))], value=ast.Name(id=given)
            ) if given in parameters:
                yield table


def _registered(program: Program, module: Module, table: str) -> Iterator[tuple[str | None, Value]]:
    """What a table gets, with the key that the decorator is given, if the table has it by that."""
    for name in sorted(fillers(module, table)):
        for other in dict.fromkeys((module, *program.importers(module, name))):
            if other is None:  # one too many to read
                yield None, UNKNOWN
            else:
                has_key = _stores_by_argument(module.top[name], table)
                for decorators, value in _decorated(other, name):
                    yield _key(decorators, name) if has_key else None, value
                for value in _derived(other, name):
                    yield None, value


def _stores_by_argument(filler: Function | Class, table: str) -> bool:
    """True for `def register(name)` with `TABLE[name] = cls` inside."""
    if not isinstance(filler, Function) or not filler.parameters:
        return False
    stored = [
        node.slice
        for node in walk(filler.node)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == table
    ]
    first = filler.parameters[0].arg
    return all(isinstance(each, ast.Name) and each.id == first for each in stored)


def _key(decorators: list[ast.expr], name: str) -> str | None:
    """The text that the only decorator of a name is given first."""
    match [each for each in decorators if innermost_name(each) == name]:
        case [ast.Call(args=[ast.Constant(value=str(key)), *_])]:
            return key
    return None


def _decorated(module: Module, decorator: str) -> Iterator[tuple[list[ast.expr], Value]]:
    """The classes and functions of the top level that have a decorator, with all of theirs."""
    for definition in module.top.values():
        if _has(definition.decorators, decorator):
            yield definition.decorators, _value(definition)


def _derived(module: Module, base: str) -> Iterator[Value]:
    """The classes of the top level that have a base of some name."""
    for definition in module.top.values():
        if isinstance(definition, Class) and _has(definition.node.bases, base):
            yield ClassObject(definition)


def _value(definition: Function | Class) -> Value:
    if isinstance(definition, Class):
        return ClassObject(definition)
    return FunctionValue(definition)


def _has(decorators: list[ast.expr], name: str) -> bool:
    return any(innermost_name(each) == name for each in decorators)
