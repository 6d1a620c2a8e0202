"""The bodies that call a function which others hand to them: `loop(xs, callback=dump)`.

So are objects that are called (`loop(xs, callback=Dump())`), and what others put into a list that
an object holds: `engine.listeners.append(dump)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.dtypes.syntax.bodies import rows_mentioning_in
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.syntax.mutations import ADDING
from precision_lint.facts.dtypes.whole_program.calling import names_of_objects
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import own_statements
from precision_lint.source.python.syntax import last_name


class Callbacks:
    """Finds them by names; what they do call shows when they are traced."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def taking(self, definition: Function) -> Iterator[tuple[Function, frozenset[int]]]:
        """The functions that a function is handed to, with the rows where they may call it."""
        node, owner = definition.node, definition.owner
        if isinstance(node, ast.Lambda) or definition.enclosing is not None:
            return
        if node.name != "__call__" or owner is None:
            others = self._program.handing(definition.module, node.name)
            for module in (definition.module, *others):
                yield from self._taking(module, node.name)
            return
        importers = self._program.importers(owner.module, owner.node.name)
        for other in filter(None, (owner.module, *importers)):
            for name in names_of_objects(owner, other):
                yield from self._taking(other, name)

    def _taking(self, module: Module, name: str) -> Iterator[tuple[Function, frozenset[int]]]:
        """Where what has a name in a module is called that the module hands on."""
        for call, place in _handing(module).get(name, ()):
            match call.func:
                case ast.Attribute(value=ast.Attribute(attr=kept), attr=method) if method in ADDING:
                    yield from self._reading(kept)
                case _:
                    for target in self._targets(module, call.func):
                        yield from _calling(target, place)

    def _reading(self, attribute: str) -> Iterator[tuple[Function, frozenset[int]]]:
        """The methods that read an attribute of `self`, where few files have one of the name."""
        for module in self._program.reading(attribute):
            for each in module.top.values():
                for method in each.functions if isinstance(each, Class) else ():
                    if not method.is_initialiser and (rows := _uses(method, attribute)):
                        yield method, rows

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
    if rows := _uses(entry, parameter):
        yield entry, rows
    if entry.owner is not None:
        for attribute in keeping(entry, parameter):
            for method in entry.owner.functions:
                if method is not entry and (rows := _uses(method, attribute)):
                    yield method, rows


def _uses(function: Function, name: str) -> frozenset[int]:
    """The rows that mention a name, or the variable of a loop over what has it."""
    rows = rows_mentioning_in(function, name)
    if not rows or isinstance(function.node, ast.Lambda):
        return rows
    loops = (each for each in own_statements(function.node.body) if isinstance(each, ast.For))
    variables = {
        part.id
        for loop in loops
        if loop.iter.lineno in rows
        for part in walk(loop.target)
        if isinstance(part, ast.Name)
    }
    return rows.union(*(rows_mentioning_in(function, each) for each in variables))


def keeping(entry: Function, parameter: str) -> Iterator[str]:
    """The attributes in which a method keeps a parameter, alone or among others."""
    assert not isinstance(entry.node, ast.Lambda)
    for statement in own_statements(entry.node.body):
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=value):
                if _holds(value, parameter):
                    yield attribute
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Attribute(attr=attribute), attr=method),
                    args=[*_, ast.Name(id=name)],
                )
            ) if method in ADDING and name == parameter:
                yield attribute


def _holds(value: ast.expr, name: str) -> bool:
    """True for a name, and for `list(name)`, `[*name]`, `name or []`."""
    match value:
        case ast.Name(id=held):
            return held == name
        case ast.Starred(value=inner):
            return _holds(inner, name)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            return any(_holds(part, name) for part in parts)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            return _holds(inner, name)
    return False


@fact
def _handing(module: Module) -> Mapping[str, list[tuple[ast.Call, int | str]]]:
    """By name, the calls of a module that are given what has it, with its position or keyword."""
    found: dict[str, list[tuple[ast.Call, int | str]]] = {}
    for node in module.file.nodes_of(ast.Call):
        given: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
        given += [(each.arg, each.value) for each in node.keywords if each.arg is not None]
        for place, value in given:
            for name in _names(value):
                found.setdefault(name, []).append((node, place))
    return found


def _names(value: ast.expr) -> Iterator[str]:
    """The name of what is given, `Trace()` of what is made there, and those in a display."""
    match value:
        case ast.Name() | ast.Attribute():
            yield last_name(value)
        case ast.Call(func=ast.Name() | ast.Attribute() as made):
            yield f"{last_name(made)}()"
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from _names(part)
