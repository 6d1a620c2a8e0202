"""Which function of the project a call in a training step runs, and what its names are there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from precision_lint.facts.amp.lineage import Lineage
from precision_lint.facts.amp.scaling.users import Users
from precision_lint.facts.amp.training_step.callbacks import callback_method
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    FunctionDefinition,
    bound_names,
    own_statements,
)
from precision_lint.source.python.syntax import dotted, qualified, with_defaults
from precision_lint.source.python.syntax_tree import syntax_tree

_CLIPPING = rb"\bclip_grad_(?:norm|value)_\("


@frozen(eq=False)
class Helper:
    """A function that a step calls."""

    function: Function
    owner: Class | None
    """The class of its `self`, where its methods are found."""

    receiver: ast.expr | None
    """What its `self` is called in the step."""

    @property
    def node(self) -> FunctionDefinition:
        assert isinstance(self.function.node, FunctionDefinition)
        return self.function.node

    def names(self, call: ast.Call) -> Mapping[str, ast.expr]:
        """What the names of the helper are where it is called; its own variables stay apart."""
        node = self.node
        own = {name for statement in own_statements(node.body) for name in bound_names(statement)}
        parameters = with_defaults(node.args)
        own |= {parameter.arg for parameter, _ in parameters}
        found: dict[str, ast.expr] = {name: ast.Name(f"{name}@{node.name}") for name in own}
        for parameter, default in parameters:
            if isinstance(default, ast.Constant):
                found[parameter.arg] = default
        positional = [*self.function.parameters]
        if self.receiver is not None and positional and not self.function.is_static:
            found[positional.pop(0).arg] = self.receiver
        for parameter, argument in zip(positional, call.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            found[parameter.arg] = argument
        found |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg in found}
        return found


class Helpers:
    """Finds the helpers of the steps of a file."""

    def __init__(self, file: PythonFile) -> None:
        self.program = Program(file)
        self._lineage = Lineage(self.program)
        self._classes: dict[tuple[Module, Class | None, str], Class | None] = {}

    def find(
        self,
        call: ast.Call,
        module: Module,
        owner: Class | None,
        nested: Mapping[str, Function],
        *,
        is_concerned: bool,
        literals: Mapping[str, str] = MappingProxyType({}),
    ) -> Helper | None:
        """The function that a call runs; None if it is not seen, or has nothing to do with steps.

        `literals` are the parameters that a text is given for: `getattr(callback, event)(self)`.

        Functions of other files are followed if the call `is_concerned` with what is looked for, as
        its name or its arguments say, and methods of objects also if their file clips gradients.
        """
        match call.func:
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name() as receiver, named]):
                return self._called_back(receiver, named, owner, literals)
            case ast.Name(id=name) if name in nested:
                return Helper(nested[name], owner, None)
            case ast.Name(id=name):
                if name not in module.top and not is_concerned:
                    return None
                found = self.program.name(module, name)
                if found is not None and isinstance(found.definition, Function):
                    return Helper(found.definition, None, None)
            case ast.Attribute(value=ast.Name(id="self") as receiver, attr=name) if (
                owner is not None
            ):
                method = self._method(owner, name)
                return None if method is None else Helper(method, owner, receiver)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name) if (
                owner is not None
            ):
                for base in self.line(owner)[1:]:
                    if name in base.methods:
                        return Helper(base.methods[name], owner, ast.Name("self"))
            case ast.Attribute(value=receiver, attr=name) if is_concerned or self._clips(name):
                function = self._function_of_module(call.func, module)
                if function is not None:
                    return Helper(function, None, None)
                cls = self._class_of(receiver, module, owner)
                method = None if cls is None else self._method(cls, name)
                return None if method is None else Helper(method, cls, receiver)
        return None

    def _clips(self, method: str) -> bool:
        """True if a file that clips gradients defines a method of a name that says nothing."""
        clipping = self.program.project.python_sources_matching(_CLIPPING)
        return bool(clipping) and not {*self.program.project.defining(method)}.isdisjoint(clipping)

    def _called_back(
        self,
        receiver: ast.Name,
        named: ast.expr,
        owner: Class | None,
        literals: Mapping[str, str],
    ) -> Helper | None:
        """The one method of an event among the classes of what `self.callbacks` holds."""
        match named:
            case ast.Name(id=name) if name in literals and owner is not None:
                found = callback_method(receiver, literals[name], owner, self.program)
                return None if found is None else Helper(found, found.owner, receiver)
        return None

    def line(self, owner: Class) -> tuple[Class, ...]:
        """A class and the bases of it that the project has, the nearest first."""
        return self._lineage.line(owner)

    def _method(self, owner: Class, name: str) -> Function | None:
        for each in self.line(owner):
            if name in each.methods:
                method = each.methods[name]
                # What only says that a subclass does it, a subclass does.
                return None if method.is_stub or method.is_property else method
        return None

    def _function_of_module(self, node: ast.Attribute, module: Module) -> Function | None:
        """`utils.clip_gradients` for a module of the project."""
        name = qualified(node, module.imports)
        root = (dotted(node) or "").partition(".")[0]
        if root not in module.imports:
            return None
        found = self.program.find(module, name)
        if found is not None and isinstance(found.definition, Function):
            return found.definition if found.definition.owner is None else None
        return None

    def _class_of(self, receiver: ast.expr, module: Module, owner: Class | None) -> Class | None:
        """The class of what a name or an attribute of `self` holds, by what it is made of.

        Or by an annotation.
        """
        annotated = Users(self.program).class_of(receiver, module.file)
        if annotated is not None:
            return annotated
        name = dotted(receiver)
        if name is None:
            return None
        key = (module, owner, name)
        if key not in self._classes:
            self._classes[key] = self._class_made(receiver, module, owner)
        return self._classes[key]

    def _class_made(self, receiver: ast.expr, module: Module, owner: Class | None) -> Class | None:
        made: set[Class | None] = set()
        for value, at in self._values(receiver, module, owner):
            match value:
                case ast.Constant():
                    continue  # `self.updater = None`, until it is made
                case ast.Call(func=function):
                    made.add(self._lineage.named(function, at))
                case _:
                    made.add(None)
        return made.pop() if len(made) == 1 else None

    def _values(
        self, receiver: ast.expr, module: Module, owner: Class | None
    ) -> Iterator[tuple[ast.expr | None, Module]]:
        """What is assigned to a name of a file, or to an attribute of `self` in its classes."""
        match receiver:
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute) if owner is not None:
                for each in self.line(owner):
                    held = _assigned(each.module.file).get((each.node, f"self.{attribute}"), ())
                    yield from ((value, each.module) for value in held)
            case ast.Name(id=name):
                held = _assigned(module.file).get((None, name), ())
                yield from ((value, module) for value in held)


def owner_at(node: ast.AST, module: Module) -> Class | None:
    """The class of `self` at a place of a file, of those at its top level."""
    around = enclosing_class(node, syntax_tree(module.file))
    found = None if around is None else module.top.get(around.name)
    return found if isinstance(found, Class) and found.node is around else None


Assigned = Mapping[tuple[ast.ClassDef | None, str], list[ast.expr | None]]


@fact
def _assigned(file: ParsedPython) -> Assigned:
    """What a file assigns to names anywhere, and each class of it to attributes of `self`."""
    found: dict[tuple[ast.ClassDef | None, str], list[ast.expr | None]] = {}
    bodies: list[tuple[ast.ClassDef | None, list[ast.stmt]]] = [(None, file.tree.body)]
    while bodies:
        owner, body = bodies.pop()
        for node in own_statements(body):
            match node:
                case ast.ClassDef(body=inner):
                    bodies.append((node, inner))
                case ast.FunctionDef(body=inner) | ast.AsyncFunctionDef(body=inner):
                    bodies.append((owner, inner))
                case ast.Assign(targets=targets, value=value):
                    for name in (dotted(target) or "" for target in targets):
                        key = (owner if name.startswith("self.") else None, name)
                        found.setdefault(key, []).append(value)
                case ast.AnnAssign(target=target, value=value):
                    name = dotted(target) or ""
                    key = (owner if name.startswith("self.") else None, name)
                    found.setdefault(key, []).append(value)
    return found
