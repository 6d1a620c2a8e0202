"""The classes of the project: what they inherit, and what the classes themselves hold."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    ClassObject,
    FunctionValue,
    Instance,
    OneOf,
    Value,
)
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.facts.dtypes.syntax.bodies import rows_mentioning_in
from precision_lint.facts.dtypes.syntax.definitions import Class, Function
from precision_lint.facts.dtypes.syntax.record_initialisers import is_field
from precision_lint.facts.origin import Origin
from precision_lint.facts.project.named import PLAIN_BASES
from precision_lint.model.finding import Span
from precision_lint.source.python.syntax import dotted, qualified

_MOST_BASES = 32


class Classes:
    """The classes of the project, with those that they inherit from."""

    def __init__(self, analysis: Interprocedural) -> None:
        self._analysis = analysis
        self._bases: dict[Class, list[Class]] = {}
        self._names: dict[Class, frozenset[str]] = {}
        self._outside: dict[Class, frozenset[str]] = {}
        self._changes: dict[tuple[Class, Function], frozenset[str]] = {}

    def bases(self, definition: Class) -> list[Class]:
        """A class and the classes of the project that it inherits from, in method order."""
        if definition in self._bases:
            return self._bases[definition]
        found: list[Class] = []
        pending = [definition]
        while pending and len(found) < _MOST_BASES:
            current = pending.pop(0)
            if current in found:
                continue
            found.append(current)
            for base in current.node.bases:
                name = ast.unparse(base) if isinstance(base, ast.Name | ast.Attribute) else ""
                named = self._analysis.names.class_named(current.module, name) if name else None
                if named is not None:
                    pending.append(named)
        self._bases[definition] = found
        return found

    def method(self, definition: Class, name: str) -> Function | None:
        """The method that an attribute of a class or of its objects reads."""
        for each in self.bases(definition):
            if name in each.methods:
                return each.methods[name]
        return None

    def changed_by(self, definition: Class, method: Function) -> frozenset[str]:
        """The attributes of an object that a method may assign, or methods that it names."""
        key = (definition, method)
        if key not in self._changes:
            self._changes[key] = frozenset()  # methods that name each other
            bases = self.bases(definition)
            found = {
                name
                for each in bases
                for name, setting in each.methods_assigning.items()
                if any(other is method or other.enclosing is method for other in setting)
            }
            if found or any(each.methods_assigning for each in bases):
                for name in method.methods_named:
                    helper = self.method(definition, name)
                    if helper is not None and helper is not method:
                        found |= self.changed_by(definition, helper)
            self._changes[key] = frozenset(found)
        return self._changes[key]

    def changed_by_methods(self, definition: Class) -> frozenset[str]:
        """The attributes of an object that its methods may change after it was made."""
        return frozenset(
            name
            for each in self.bases(definition)
            for name, setting in each.methods_assigning.items()
            if any(not other.is_making for other in setting)
        )

    def settled(self, made: Value) -> Value:
        """An object of which nobody knows which methods were called: without what they change."""
        if not isinstance(made, Instance) or not made.fields:
            return made
        changing = self.changed_by_methods(made.definition)
        fields = tuple((name, value) for name, value in made.fields if name not in changing)
        return made if len(fields) == len(made.fields) else replace(made, fields=fields)

    def attribute(self, definition: Class, name: str) -> Value | None:
        """`Class.name`: a method or an assigned value; None if there is none."""
        method = self.method(definition, name)
        if method is not None:
            receiver = ClassObject(definition) if method.is_class_method else None
            return FunctionValue(method, receiver)
        for each in self.bases(definition):
            if name in each.assigned:
                return self.assigned(each, name)
        return self.inner(definition, name)

    def inner(self, definition: Class, name: str) -> ClassObject | None:
        """A class that the body of a class, or of a base, defines."""
        found = (each.inner[name] for each in self.bases(definition) if name in each.inner)
        return next(map(ClassObject, found), None)

    def assigned(self, definition: Class, name: str) -> Value:
        """What the body of a class assigns to one of its names."""
        evaluate = Evaluator(self._analysis, Frame(definition.module))
        return evaluate(definition.assigned[name], Environment())

    def inherited(self, frame: Frame, name: str, env: Environment) -> Value:
        """`super().name` in a method."""
        function = frame.function
        while function is not None and function.owner is None:
            function = function.enclosing
        if function is None or function.owner is None or not function.parameters:
            return UNKNOWN
        receiver = env.get(function.parameters[0].arg, UNKNOWN)
        for each in self.bases(function.owner)[1:]:
            if name in each.methods:
                return FunctionValue(each.methods[name], receiver)
        return UNKNOWN

    def is_module(self, definition: Class) -> bool:
        """True for subclasses of `nn.Module`."""
        return any(
            ast.unparse(base).rpartition(".")[2] in {"Module", "LightningModule"}
            for each in self.bases(definition)
            for base in each.node.bases
        )

    def is_plain(self, definition: Class) -> bool:
        """True for a class that no library but torch adds methods or attributes to."""
        own = {each.name for each in self.bases(definition)}
        return self._names_of_bases(definition) <= own | PLAIN_BASES

    def reads_in_forward(self, definition: Class, name: str) -> bool:
        """True if `forward`, or a method that it names, reads an attribute."""
        forward = self.method(definition, "forward")
        if forward is None:
            return False
        inner = (method for each in self.bases(definition) for method in each.functions)
        called = (
            method
            for method in inner
            if rows_mentioning_in(forward, method.name.rpartition(".")[2])
        )
        return any(rows_mentioning_in(method, name) for method in (forward, *called))

    def has_weights(self, definition: Class) -> bool:
        """True for a module of torch, and for a class that loads one from a checkpoint."""
        return self.is_module(definition) or self.loaded(definition) is not None

    def is_record(self, definition: Class) -> bool:
        """True for what is made from its fields."""
        return any(each.is_record for each in self.bases(definition))

    def fields(self, definition: Class) -> tuple[str, ...]:
        """The names of the fields of a record, in order."""
        found = (
            name
            for each in reversed(self.bases(definition))
            for name, field in each.annotated.items()
            if is_field(field)
        )
        return tuple(dict.fromkeys(found))

    def is_object_of(self, owner: Class, value: Value) -> bool:
        """True for an object that has the methods of a class."""
        match value:
            case Instance(definition=definition):
                return owner in self.bases(definition) or definition in self.bases(owner)
            case OneOf(members=members):
                return any(self.is_object_of(owner, member) for member in members)
        return False

    def derives_from(self, definition: Class, name: str) -> bool:
        """True if a class of this name is among the bases, in the project or out of it."""
        return name in self._names_of_bases(definition)

    def loaded(self, definition: Class) -> Origin | None:
        """The class, if it has a `from_pretrained` whose caller chooses the dtype of weights."""
        is_named = any(map(sources.LOADED_CLASS.search, self._names_of_bases(definition)))
        if not is_named and not self.is_of_transformers(definition):
            return None
        node, file = definition.node, definition.module.file
        start = file.span_of(node).start
        span = Span(start, start + len("class"))
        text = f"`{definition.name}.from_pretrained` takes the dtype of its weights"
        return Origin(file.text, span, text, "loader")

    def is_of_transformers(self, definition: Class) -> bool:
        """True for a class that inherits from a model of transformers."""
        return any(map(sources.CONFIGURED.search, self._bases_outside(definition)))

    def forward_outside(self, definition: Class) -> frozenset[str]:
        """The classes of libraries whose `forward` an object runs; empty if a class here has it."""
        has_own = self.method(definition, "forward") is not None
        return frozenset() if has_own else self._bases_outside(definition)

    def _bases_outside(self, definition: Class) -> frozenset[str]:
        """The full names of what a class inherits, as far as imports lead to them."""
        if definition not in self._outside:
            self._outside[definition] = frozenset(
                qualified(base, each.module.imports)
                for each in self.bases(definition)
                for base in each.node.bases
            )
        return self._outside[definition]

    def _names_of_bases(self, definition: Class) -> frozenset[str]:
        if definition not in self._names:
            self._names[definition] = frozenset(
                (dotted(base) or "").rpartition(".")[2]
                for each in self.bases(definition)
                for base in each.node.bases
            )
        return self._names[definition]
