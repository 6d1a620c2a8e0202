"""The bodies that may call a function: those that mention its name, here and in other files."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from precision_lint.facts.dtypes.syntax.bodies import Body, bodies_mentioning, rows_mentioning_in
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.syntax.mutations import ADDING
from precision_lint.facts.dtypes.whole_program import registries
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import own_statements
from precision_lint.source.python.syntax import last_name

_MOST_HOLDERS = 3
"""Variables on the way from a function to a call of it: a list, its copy, that of a loop."""


class Calling:
    """Finds callers by name; whether they do call the function shows when they are traced."""

    def __init__(self, program: Program, classes: Classes) -> None:
        self._program = program
        self._classes = classes

    def bodies(self, definition: Function) -> Iterator[tuple[Body | None, frozenset[int]]]:
        """The bodies, here and in other files, with the rows that mention the function.

        None is for a file that is one too many to read.
        """
        yield from self.nearby(definition)
        if (owner := _called_by_objects(definition)) is not None:
            yield from _calling_objects(owner, definition.module)
        name = called_as(definition)
        if name is not None and (maker := definition.enclosing) is not None:
            if _returns(maker, name):  # `module.register_forward_hook(self.hook(name))`
                yield from self.bodies(maker)
            return
        if name is None:
            return
        made = _made_by(definition)
        if made is not None or definition.owner is None:
            for holder, table in registries.tables_with(self._program, made or definition):
                yield from self._taking_out_of(holder, table)
        is_method = definition.owner is not None and made is None
        importers = self._program.importers(definition.module, name)
        for module in self._program.calling(name) if is_method else importers:
            if module is None:
                yield None, frozenset()
            elif module is not definition.module:
                yield from self._mentioning(module, name)
                if made is not None:
                    yield from self._making_subclasses(made, module)
                    yield from self._making_imported_subclasses(made, module)
        if made is not None:
            yield from self._making_imported_subclasses(made, definition.module)

    def shown(self, definition: Function) -> Iterator[tuple[Body, frozenset[int]]]:
        """The bodies in documents that may call the function."""
        name = called_as(definition)
        if name is not None and definition.enclosing is None:
            for module in self._program.showing(name):
                yield from bodies_mentioning(module, name)

    def nearby(self, definition: Function) -> Iterator[tuple[Body, frozenset[int]]]:
        """The bodies of its own module."""
        name = called_as(definition)
        if name is not None:
            yield from self._mentioning(definition.module, name)
        if (made := _made_by(definition)) is not None:
            yield from _making_itself(made)
            yield from self._making_subclasses(made, definition.module)

    def _making_subclasses(
        self, owner: Class, module: Module
    ) -> Iterator[tuple[Body, frozenset[int]]]:
        """The bodies that run `__init__` of a class for its subclasses in a module."""
        for each in self._subclasses(owner, module):
            initialiser = each.methods.get("__init__")
            if initialiser is None:
                yield from self._mentioning(module, each.node.name)
                yield from _making_itself(each)
                for holder, table in registries.tables_with(self._program, each):
                    yield from self._taking_out_of(holder, table)
            elif rows := rows_mentioning_in(initialiser, "super"):
                yield initialiser, rows

    def _making_imported_subclasses(
        self, owner: Class, module: Module
    ) -> Iterator[tuple[Body, frozenset[int]]]:
        """The bodies of other modules that make objects of a module's subclasses of a class."""
        for each in self._subclasses(owner, module):
            if "__init__" not in each.methods:
                for other in self._program.importers(module, each.node.name):
                    if other is not None and other is not module:
                        yield from self._mentioning(other, each.node.name)

    def _mentioning(self, module: Module, name: str) -> Iterator[tuple[Body, frozenset[int]]]:
        """The bodies that mention a name of a module, or what the module hands it out by.

        That is a table that holds it, or a function that returns it: `get_loss("dpo")(logits)`.
        """
        yield from _using(module, name)
        for holder in (*module.tables_of(name), *_functions_returning(module, name)):
            yield from self._taking_out_of(module, holder)

    def _taking_out_of(self, module: Module, holder: str) -> Iterator[tuple[Body, frozenset[int]]]:
        """The bodies, of all modules, that take something out of a table or a function."""
        yield from _taking_out(module, holder)
        for other in self._program.importers(module, holder):
            if other is not None and other is not module:
                yield from _taking_out(other, holder)

    def _subclasses(self, owner: Class, module: Module) -> Iterator[Class]:
        """The classes of a module that inherit from a class."""
        for each in module.top.values():
            if isinstance(each, Class) and owner in self._classes.bases(each)[1:]:
                yield each


def _making_itself(owner: Class) -> Iterator[tuple[Function, frozenset[int]]]:
    """The class methods of a class that call it: `return cls(model)`."""
    for method in owner.functions:
        if method.is_class_method and method.parameters:
            rows = rows_mentioning_in(method, method.parameters[0].arg)
            if rows:
                yield method, rows


def _made_by(definition: Function) -> Class | None:
    """The class whose calls call a function: it is its `__init__`."""
    owner = definition.owner
    return owner if owner is not None and called_as(definition) == owner.node.name else None


def _called_by_objects(definition: Function) -> Class | None:
    """The class whose objects call a function when they are called: it is its `forward`."""
    node = definition.node
    is_forward = not isinstance(node, ast.Lambda) and node.name == "forward"
    return definition.owner if is_forward else None


def _calling_objects(owner: Class, module: Module) -> Iterator[tuple[Body | None, frozenset[int]]]:
    """The bodies that mention a name to which the module of a class assigns an object of it.

    None at the end: an object is called in other ways, too, by what holds it for example.
    """
    names = module.fact((_calling_objects, owner), lambda: _assigned_objects(owner, module))
    for name in names:
        yield from bodies_mentioning(module, name)
    if names:
        yield None, frozenset()


def names_of_objects(owner: Class, module: Module) -> tuple[str, ...]:
    """The names that objects of a class go by where a module hands them on.

    One that is made where it is given goes by the call: `Trace()`.
    """
    return (*_assigned_objects(owner, module), f"{owner.node.name}()")


def _assigned_objects(owner: Class, module: Module) -> tuple[str, ...]:
    """The plain names to which a module assigns objects of a class."""
    found = {
        target.id
        for node in module.file.nodes_of(ast.Assign)
        if _makes(node.value, owner.node.name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return tuple(sorted(found))


def _makes(value: ast.expr, name: str) -> bool:
    """True for `Net(…)`, and for `Net(…).to(dtype).eval()`."""
    while isinstance(value, ast.Call):
        match value.func:
            case ast.Name(id=called):
                return called == name
            case ast.Attribute(value=owner):
                value = owner
            case _:
                return False
    return False


def _taking_out(module: Module, holder: str) -> Iterator[tuple[Body, frozenset[int]]]:
    """The bodies that mention a table or a function, with the uses of what they take out of it.

    `loss = LOSSES[name]` in one statement, `loss(logits)` in another.
    """
    for body, rows in bodies_mentioning(module, holder):
        yield body, _with_uses(module, body, rows, lambda _: True)


def _using(module: Module, name: str) -> tuple[tuple[Body, frozenset[int]], ...]:
    """The bodies that mention a function, with the uses of the variables that they put it into.

    `callbacks = [report]` in one statement, `for callback in callbacks: callback(x)` in others.
    """

    def puts(value: ast.expr) -> bool:
        return any(_is_named(each, name) for each in _held_in(value))

    def uses(body: Body, rows: frozenset[int]) -> frozenset[int]:
        is_put = any(_names_uncalled(module, row, name) for row in rows)
        return _with_uses(module, body, rows, puts) if is_put else rows

    return module.fact(
        (_using, name),
        lambda: tuple((body, uses(body, rows)) for body, rows in bodies_mentioning(module, name)),
    )


def _names_uncalled(module: Module, row: int, name: str) -> bool:
    """True for a row that may put a function somewhere: no call of it, no import, no `__all__`."""
    line = module.file.text.line(row)
    if line.lstrip().startswith(("from ", "import ")):
        return False
    for other in (f"{name}(", f'"{name}"', f"'{name}'"):
        line = line.replace(other, "")
    return name in line


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node) == name


def _held_in(value: ast.expr) -> Iterator[ast.expr]:
    """What a variable holds: a function, the parts of a display, the branches of a choice."""
    match value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            pass
        case ast.Dict(values=parts):
            pass
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case _:
            parts = []
            yield value
    for part in parts:
        yield from _held_in(part)


def _with_uses(
    module: Module, body: Body, rows: frozenset[int], puts: Callable[[ast.expr], bool]
) -> frozenset[int]:
    """Some rows of a body, with those that use the variables which they assign.

    `puts` says which values count at first. What a loop takes out of a list is a variable, too.
    """
    block = module.file.tree.body if isinstance(body, Module) else body.node.body
    statements = own_statements(block) if isinstance(block, list) else ()
    binding = [bound for each in statements if (bound := _bound_by(each)) is not None]
    taken: set[str] = set()
    found = rows
    for _ in range(_MOST_HOLDERS):
        names = {
            name
            for value, targets in binding
            if not found.isdisjoint(range(value.lineno, (value.end_lineno or value.lineno) + 1))
            and (taken or puts(value))
            for name in targets
        } - taken
        if not names:
            break
        taken |= names
        mentioned = (dict(bodies_mentioning(module, name)).get(body) for name in names)
        found = found.union(*filter(None, mentioned))
    return found


def _bound_by(statement: ast.stmt) -> tuple[ast.expr, list[str]] | None:
    """What a statement takes and the variables that it puts it into, or parts of it."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            return value, [each.id for each in targets if isinstance(each, ast.Name)]
        case ast.For(target=target, iter=value):
            return value, [each.id for each in walk(target) if isinstance(each, ast.Name)]
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[*_, value]
            )
        ) if method in ADDING:
            return value, [name]
    return None


def _functions_returning(module: Module, name: str) -> tuple[str, ...]:
    """The functions of the top level of a module that return what has a name, uncalled."""
    return module.fact((_functions_returning, name), lambda: tuple(_returning(module, name)))


def _returning(module: Module, name: str) -> Iterator[str]:
    for body, _ in bodies_mentioning(module, name):
        if not isinstance(body, Function) or module.top.get(body.name) is not body:
            continue
        if _returns(body, name):
            yield body.name


def _returns(function: Function, name: str) -> bool:
    """True for a function that returns what has a name, uncalled."""
    if isinstance(function.node, ast.Lambda):
        return False
    return any(
        isinstance(statement, ast.Return) and _hands_out(statement.value, name)
        for statement in own_statements(function.node.body)
    )


def _hands_out(value: ast.expr | None, name: str) -> bool:
    match value:
        case ast.Name(id=returned) | ast.Attribute(attr=returned):
            return returned == name
        case ast.IfExp(body=body, orelse=orelse):
            return _hands_out(body, name) or _hands_out(orelse, name)
    return False


def called_as(definition: Function) -> str | None:
    """The name that a function is called by; None for what nobody calls by a name of its own."""
    node = definition.node
    if isinstance(node, ast.Lambda):
        return None
    if node.name == "__init__" and definition.owner is not None:
        return definition.owner.node.name
    return None if node.name == "forward" or node.name.startswith("__") else node.name
