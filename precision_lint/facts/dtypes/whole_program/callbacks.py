"""The bodies that call a function which others hand to them: `loop(xs, callback=dump)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.dtypes.syntax.bodies import rows_mentioning_in
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.memo import fact
from precision_lint.source.python.statements import own_statements
from precision_lint.source.python.syntax import last_name


class Callbacks:
    """Finds them by names; what they do call shows when they are traced."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def taking(self, definition: Function) -> Iterator[tuple[Function, frozenset[int]]]:
        """The functions that a function is handed to, with the rows where they may call it."""
        node = definition.node
        if isinstance(node, ast.Lambda) or definition.enclosing is not None:
            return
        others = self._program.handing(definition.module, node.name)
        for module in (definition.module, *others):
            for call, place in _handing(module).get(node.name, ()):
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


@fact
def _handing(module: Module) -> Mapping[str, list[tuple[ast.Call, int | str]]]:
    """By name, the calls of a module that are given what has it, with its position or keyword."""
    found: dict[str, list[tuple[ast.Call, int | str]]] = {}
    for node in module.file.nodes_of(ast.Call):
        for place, value in enumerate(node.args):
            if isinstance(value, ast.Name | ast.Attribute):
                found.setdefault(last_name(value), []).append((node, place))
        for each in node.keywords:
            if each.arg is not None and isinstance(each.value, ast.Name | ast.Attribute):
                found.setdefault(last_name(each.value), []).append((node, each.arg))
    return found
