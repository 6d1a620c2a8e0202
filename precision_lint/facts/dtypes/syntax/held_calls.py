"""Records that hold a function, and the keyword arguments that it is called with.

`Entry(loader=Model, kwargs={"dtype": torch.bfloat16})`, where the module of `Entry` calls
`entry.loader(name, **entry.kwargs)`: who makes such an entry calls `Model` with these arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.syntax.definitions import Class
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition, own_nodes


@frozen
class HeldCall:
    """A call of what one field of a record holds, with the mapping that another one holds."""

    function: str
    mapping: str
    positions: int
    """Arguments by position, of which nothing is known."""
    keywords: tuple[str, ...]
    """Keyword arguments that do not come from the mapping."""


def held_calls(definition: Class) -> tuple[HeldCall, ...]:
    """The calls of fields of a record, in its module."""
    return definition.module.fact(
        (held_calls, definition), lambda: tuple(dict.fromkeys(_found(definition)))
    )


def _found(definition: Class) -> Iterator[HeldCall]:
    fields = frozenset(definition.annotated)
    file = definition.module.file
    functions: list[FunctionDefinition] = [*file.nodes_of(ast.FunctionDef)]
    functions += file.nodes_of(ast.AsyncFunctionDef)
    for function in functions if fields else ():
        calls = [node for node in own_nodes(function) if isinstance(node, ast.Call)]
        unpacking = [call for call in calls if any(each.arg is None for each in call.keywords)]
        held = _held(function, fields) if unpacking else {}
        for call in unpacking:
            yield from _of_call(call, fields, held)


def _held(function: FunctionDefinition, fields: frozenset[str]) -> dict[str, str]:
    """The names that hold a field, or what is made of one alone: `given = self.kwargs.copy()`."""
    held: dict[str, set[str]] = {}
    for node in own_nodes(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                held.setdefault(name, set()).update(_fields_in(value, fields) or {""})
    return {name: max(found) for name, found in held.items() if len(found - {""}) == 1}


def _fields_in(value: ast.expr, fields: frozenset[str]) -> set[str]:
    return {
        node.attr for node in walk(value) if isinstance(node, ast.Attribute) and node.attr in fields
    }


def _of_call(node: ast.AST, fields: frozenset[str], held: dict[str, str]) -> Iterator[HeldCall]:
    assert isinstance(node, ast.Call)
    function = _field(node.func, fields, held)
    starred = any(isinstance(each, ast.Starred) for each in node.args)
    mappings = {
        mapping
        for each in node.keywords
        if each.arg is None and (mapping := _mapping(each.value, fields, held)) is not None
    }
    if function is None or starred or len(mappings) != 1 or function in mappings:
        return
    named = tuple(each.arg for each in node.keywords if each.arg is not None)
    yield HeldCall(function, mappings.pop(), len(node.args), named)


def _field(node: ast.expr, fields: frozenset[str], held: dict[str, str]) -> str | None:
    """The field that an expression is, or that a name holds."""
    match node:
        case ast.Attribute(attr=name) if name in fields:
            return name
        case ast.Name(id=name):
            return held.get(name)
    return None


def _mapping(node: ast.expr, fields: frozenset[str], held: dict[str, str]) -> str | None:
    """The field whose items are unpacked, alone or with others: `{**self.kwargs, **more}`."""
    if isinstance(node, ast.Dict):
        found = {
            name
            for key, value in zip(node.keys, node.values, strict=True)
            if key is None and (name := _field(value, fields, held)) is not None
        }
        return found.pop() if len(found) == 1 else None
    return _field(node, fields, held)
