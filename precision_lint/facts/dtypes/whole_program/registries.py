"""Tables that decorators fill: `@register_model("unet")` puts a class into `MODELS`.

So does `__init_subclass__`, for the subclasses of its class. A table is a variable of a module, or
an attribute of a class or of its objects, `Registry.models`: methods fill it, as `@TASKS.add("x")`.
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
from precision_lint.facts.dtypes.syntax.mentions import rows_mentioning
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import innermost_name

_MOST_REGISTERED = 12
"""Classes and functions that one table gets; of more, nothing is known."""

_OF_SUBCLASSES = "__init_subclass__"

_STORING = ("] = ", ".setdefault(", ".update(")
"""How a function puts something under a key."""


def fillers(module: Module, table: str) -> frozenset[str]:
    """The functions, classes and methods of the top level that fill a table of the module.

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


def as_registered(program: Program, module: Module, table: str, value: Dictionary) -> Value:
    """A table that decorators fill; if they put nothing there, others fill one that stays empty."""
    found = filled(program, module, table, value)
    return filled_by_others(value) if found is None else found


def filled_by_others(value: Value) -> Value:
    """A table of a module that stays empty as far as is seen: something else fills it."""
    if isinstance(value, Dictionary) and value.items == ():
        return Dictionary(UNKNOWN, None, value.default)
    return value


def fills(function: Function, table: str) -> bool:
    """True for what fills a table of its module, and for a function inside of that."""
    found = fillers(function.module, table)
    inner: Function | None = function
    while inner is not None:
        if inner.name.removesuffix(f".{_OF_SUBCLASSES}") in found:
            return True
        inner = inner.enclosing
    return False


def tables_with(program: Program, definition: Function | Class) -> Iterator[tuple[Module, str]]:
    """The tables of modules that a decorator, or the base of a class, puts a definition into."""
    through = definition.decorators
    if isinstance(definition, Class):
        through = [*through, *definition.node.bases]
    for name in filter(None, map(innermost_name, through)):
        found = program.name(definition.module, name)
        if found is not None and isinstance(found.definition, Function | Class):
            for table, names in _tables(found.module).items():
                if found.definition.name in names and "." not in table:
                    yield found.module, table


@fact
def _tables(module: Module) -> Mapping[str, frozenset[str]]:
    """By table of a module, what fills it: a function, a class for its subclasses, a method."""
    found: dict[str, set[str]] = {}
    for name, definition in module.top.items():
        if isinstance(definition, Function):
            for table in _filled_by(definition):
                found.setdefault(table, set()).add(name)
            continue
        for method in definition.functions:
            is_for_subclasses = method.name.endswith(f".{_OF_SUBCLASSES}")
            for table in _filled_by(method):
                found.setdefault(table, set()).add(name if is_for_subclasses else method.name)
    return {table: frozenset(names) for table, names in found.items()}


def _filled_by(function: Function) -> Iterator[str]:
    """The tables that a function, or one inside of it, puts its parameters into by a key."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return
    rows = function.module.file.rows_of(node)
    if not any(form in rows for form in _STORING):
        return
    is_plain = function.owner is None or function.name.endswith(f".{_OF_SUBCLASSES}")
    for table, _, given in _stores(function):
        if is_plain or _returns(function, given):
            yield table


def _returns(function: Function, name: str) -> bool:
    """True for a function, or one inside of it, that returns a parameter, as decorators do."""
    returned = (node.value for node in walk(function.node) if isinstance(node, ast.Return))
    return any(isinstance(value, ast.Name) and value.id == name for value in returned)


def _stores(function: Function) -> Iterator[tuple[str, ast.expr, str]]:
    """The table, the key and the parameter of each `TABLE[key] = cls` in a function.

    `TABLE.setdefault(key, cls)` and `TABLE.update({key: cls})` do the same.
    """
    nodes = [*walk(function.node)]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=holder, slice=key)], value=ast.Name(id=given)
            ) if given in parameters and (table := _table(holder, function)):
                yield table, key, given
            case (
                ast.Call(
                    func=ast.Attribute(value=holder, attr="setdefault"),
                    args=[key, ast.Name(id=given)],
                )
                | ast.Call(
                    func=ast.Attribute(value=holder, attr="update"),
                    args=[ast.Dict(keys=[ast.expr() as key], values=[ast.Name(id=given)])],
                )
            ) if given in parameters and (table := _table(holder, function)):
                yield table, key, given


def _table(holder: ast.expr, function: Function) -> str | None:
    """`TABLE`, and `Owner.table` for `self.table`, `cls.table`, `Owner.table` in its methods."""
    owner = function.owner
    match holder:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if owner is not None:
            first = function.parameters[0].arg if function.parameters else ""
            return f"{owner.name}.{attribute}" if name in {first, owner.node.name} else None
    return None


def _registered(program: Program, module: Module, table: str) -> Iterator[tuple[str | None, Value]]:
    """What a table gets, with its key, if that is known."""
    for name in sorted(fillers(module, table)):
        owner, _, method = name.partition(".")
        filler = _function(module, name)
        keys = [key for stored, key, _ in _stores(filler) if stored == table]
        for other, holders in _reading(program, module, owner, bool(method)).items():
            if other is None:  # one too many to read
                yield None, UNKNOWN
                continue
            if method and _is_called_otherwise(other, method.rpartition(".")[2]):
                yield None, UNKNOWN
            for definition, given in _given(other, holders, method):
                yield _key(definition, given, filler, keys), _value(definition)


def _function(module: Module, name: str) -> Function:
    """The function of a filler: of a class, the one that Python calls for its subclasses."""
    owner, _, method = name.partition(".")
    definition = module.top[owner]
    if isinstance(definition, Function):
        return definition
    return definition.methods[method or _OF_SUBCLASSES]


def _objects(module: Module, owner: str) -> Iterator[str]:
    """The variables of a module that hold an object of one of its classes."""
    for name, values in module.assignments.items():
        match values:
            case [ast.Call(func=ast.Name(id=called))] if called == owner:
                yield name


def _reading(
    program: Program, module: Module, name: str, with_objects: bool
) -> Mapping[Module | None, set[str]]:
    """The modules that can use what a module defines, or objects of it, with the names of these."""
    found: dict[Module | None, set[str]] = {module: {name}}
    for other in program.importers(module, name):
        found[other] = {name}
    for other in [each for each in found if each is not None and with_objects]:
        for made in _objects(other, name):
            for user in (other, *program.importers(other, made)):
                found.setdefault(user, set()).add(made)
    return found


def _given(
    module: Module, holders: set[str], method: str
) -> Iterator[tuple[Function | Class, ast.Call | None]]:
    """The definitions of the top level that a decorator or a base puts into a table.

    With the call of the decorator, or the keywords of the class as one.
    """
    for definition in module.top.values():
        for decorator in definition.decorators:
            if _is_filler(decorator, holders, method):
                yield definition, decorator if isinstance(decorator, ast.Call) else None
        if isinstance(definition, Class) and not method:
            node = definition.node
            if any(innermost_name(base) in holders for base in node.bases):
                yield definition, ast.Call(ast.Name(_OF_SUBCLASSES), [], node.keywords)


def _is_called_otherwise(module: Module, method: str) -> bool:
    """True if a module names a method elsewhere than in decorators: `TASKS.add("x")(run)`."""
    decorating = {
        row
        for definition in module.top.values()
        for each in definition.decorators
        for row in range(each.lineno, (each.end_lineno or each.lineno) + 1)
    }
    rows = rows_mentioning(module.file.text, method)
    return any(row not in decorating for row in rows)


def _is_filler(decorator: ast.expr, holders: set[str], method: str) -> bool:
    """True for `@register`, `@register("x")`, and for `@TASKS.add("x")` of an object or class."""
    if not method:
        return innermost_name(decorator) in holders
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    match called:
        case ast.Attribute(value=ast.Name() | ast.Attribute() as holder, attr=name):
            return name == method and innermost_name(holder) in holders
    return False


def _key(
    definition: Function | Class, given: ast.Call | None, filler: Function, keys: list[ast.expr]
) -> str | None:
    """The key under which a table has a definition; None if that is not known."""
    found = {_key_of(key, definition, given, filler) for key in keys}
    return found.pop() if len(found) == 1 else None


def _key_of(
    key: ast.expr, definition: Function | Class, given: ast.Call | None, filler: Function
) -> str | None:
    match key:
        case ast.Name(id=name):
            return _text(_argument(given, name, filler))
        case ast.Attribute(value=ast.Name(), attr="__name__"):
            return definition.node.name if not isinstance(definition.node, ast.Lambda) else None
        case ast.Attribute(value=ast.Name(), attr=name) if isinstance(definition, Class):
            return _text(definition.assigned.get(name))
        case ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), otherwise]):
            argument = _argument(given, name, filler)
            if argument is None or _is_none(argument):
                return _key_of(otherwise, definition, given, filler)
            return _text(argument)
    return None


def _argument(given: ast.Call | None, name: str, filler: Function) -> ast.expr | None:
    """What a decorator gives to a parameter of the function that fills the table."""
    if given is None:
        return None
    by_name = {each.arg: each.value for each in given.keywords}
    if name in by_name:
        return by_name[name]
    bound = filler.owner is not None and not filler.is_static
    names = [each.arg for each in filler.parameters[bound:]]
    position = names.index(name) if name in names else len(given.args)
    return given.args[position] if position < len(given.args) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _value(definition: Function | Class) -> Value:
    if isinstance(definition, Class):
        return ClassObject(definition)
    return FunctionValue(definition)
