"""The bodies that call a function which others hand to them: `loop(xs, callback=dump)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.syntax.bodies import rows_mentioning_in
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.source.python.statements import own_statements


class Callbacks:
    """Finds them by names; what they do call shows when they are traced."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def taking(self, definition: Function) -> Iterator[tuple[Function, frozenset[int]]]:
        """The functions that a function is handed to, with the rows where they may call it."""
        node = definition.node
        if isinstance(node, ast.Lambda) or definition.enclosing is not None:
            return
        importers = self._program.importers(definition.module, node.name)
        for module in filter(None, (definition.module, *importers)):
            for call, place in _handing(module, node.name):
                for target in self._targets(module, call.func):
                    yield from _calling(target, place)

    def _targets(self, module: Module, func: ast.expr) -> Iterator[Function | Class]:
        """The functions and classes that a call may be of, by its name."""
        match func:
            case ast.Name(id=name):
                found = self._program.name(module, name)
                if found is not None and isinstance(found.definition, Function | Class):
                    yield found.definition
            case ast.Attribute(attr=name):
                for other in self._program.defining(name):
                    for each in other.top.values():
                        if isinstance(each, Class) and name in each.methods:
                            yield each.methods[name]
                        elif isinstance(each, Function) and each.name == name:
                            yield each


def _calling(
    target: Function | Class, place: int | str
) -> Iterator[tuple[Function, frozenset[int]]]:
    """Where a parameter is called, or the attribute that keeps it; `place` is where it is given."""
    entry = target.methods.get("__init__") if isinstance(target, Class) else target
    if entry is None or isinstance(entry.node, ast.Lambda):
        return
    names = [each.arg for each in entry.parameters[entry.owner is not None :]]
    if isinstance(place, int) and place >= len(names):
        return
    parameter = names[place] if isinstance(place, int) else place
    if rows := rows_mentioning_in(entry, parameter):
        yield entry, rows
    if isinstance(target, Class):
        for attribute in _keeping(entry, parameter):
            for method in target.functions:
                if method is not entry and (rows := rows_mentioning_in(method, attribute)):
                    yield method, rows


def _keeping(entry: Function, parameter: str) -> Iterator[str]:
    """The attributes in which a constructor keeps a parameter."""
    assert not isinstance(entry.node, ast.Lambda)
    for statement in own_statements(entry.node.body):
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=ast.Name(id=name)):
                if name == parameter:
                    yield attribute


def _handing(module: Module, name: str) -> tuple[tuple[ast.Call, int | str], ...]:
    """The calls of a module that are given what has a name, with the position or keyword of it."""
    return module.fact((_handing, name), lambda: tuple(_handed(module, name)))


def _handed(module: Module, name: str) -> Iterator[tuple[ast.Call, int | str]]:
    if name not in module.file.text.text:
        return
    for node in module.file.nodes_of(ast.Call):
        places = [*enumerate(node.args), *((each.arg, each.value) for each in node.keywords)]
        for place, value in places:
            if place is not None and _is_named(value, name):
                yield node, place


def _is_named(node: ast.expr, name: str) -> bool:
    match node:
        case ast.Name(id=found) | ast.Attribute(attr=found):
            return found == name
    return False
