"""What the interpreter reports on its way: calls with their facts, and what is assigned."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import (
    Argument,
    Call,
    Calls,
    CallSite,
    Region,
    Rejection,
    as_receiver,
)
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import join, join_all, reading
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    UNKNOWN,
    Bottom,
    ClassObject,
    Constant,
    Dtype,
    Instance,
    Model,
    NonTensor,
    OneOf,
    Tensor,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.domain.weights import as_module
from precision_lint.facts.dtypes.interpreter.asked import SETTING_ATTRIBUTE, SETTING_ITEM, Asked
from precision_lint.facts.dtypes.interpreter.entries import Table
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import HALF
from precision_lint.source.python.examples import Example
from precision_lint.source.python.syntax import callee_name


class Records:
    """What one interpretation has seen so far; frames that do not record are left out.

    `every` takes the calls that were asked for of the others as well, once for each kind of
    arguments that their function is interpreted with.
    """

    def __init__(
        self,
        asked: Asked,
        module: Module,
        calls: Calls,
        found: dict[ast.expr, Call],
        table: Table,
        *,
        is_intraprocedural: bool,
        every: list[Call] | None = None,
    ) -> None:
        self._asked = asked
        self.module = module
        self._calls = calls
        self._table = table
        self._is_intraprocedural = is_intraprocedural
        self.found = found
        """The calls of the linted file that rules asked for."""
        self._every = every
        self.call_sites: dict[Function, dict[ast.AST, Environment]] = {}
        """The calls of each function, with what they give to its parameters."""
        self.way: list[Origin] = []
        """The calls that lead from the start of a program to the current frame."""
        self.regions: dict[Function, dict[ast.AST, Region | None]] = {}
        """The autocast regions in which each function is called."""
        self.callers: dict[Function, dict[ast.AST, Function]] = {}
        """The functions that call each one outside of regions of their own."""
        self.sites: dict[ast.AST, Origin] = {}
        """The call sites, as places on the way of a dtype."""
        self.shown: set[ast.AST] = set()
        """Those of them that stand in a document."""
        self.open_calls: dict[str, dict[ast.Call, tuple[Variable, CallSite]]] = {}
        """By name, the calls of methods whose object is a term."""
        self.open_functions: dict[ast.Call, tuple[Variable, CallSite]] = {}
        """The calls of functions that are terms: those that somebody hands in."""
        self.module_casts: dict[Class, dict[ast.Call, Tensor]] = {}
        """By class, the calls that may cast its modules to a half dtype."""
        self.module_loads: dict[Class, dict[ast.Call, Tensor]] = {}
        """By class, the calls that may load its modules in a half dtype."""
        self.written: dict[tuple[Module, str], dict[ast.Call, Value]] = {}
        """By module and the name of the file, what calls write into files."""
        self.assigned: dict[tuple[Class, str], Value] = {}
        """What the methods of a class assign to its attributes."""
        self._before: dict[tuple[Class, str], tuple[Frame, Value]] = {}
        """The last frame that assigned an attribute, and what was known of it before."""
        self.globals: dict[tuple[Module, str], Value] = {}
        """What functions assign to the variables of modules."""
        self.assigned_from_outside: dict[str, list[tuple[Value, Value]]] = {}
        """By attribute, objects that are no `self` and what they are given."""
        self.added_from_outside: dict[str, list[tuple[Value, Value]]] = {}
        """By attribute, objects that are no `self` and the items that their containers get."""

    def call(
        self,
        frame: Frame,
        node: ast.Call,
        function: Value,
        receiver: Value,
        given: CallSite,
        env: Environment,
    ) -> None:
        """A call: kept with its facts if it is in the linted file and was asked for."""
        if not self._is_seen(frame):
            return
        callee = self._asked.callee(node, function, is_intraprocedural=self._is_intraprocedural)
        if callee is None:
            self.found.pop(node, None)
            return
        span_of = self.module.file.span_of
        method = None if callee.is_instance else node.func
        is_kept = callee.is_instance or isinstance(function, ClassObject | OneOf)
        call = Call(
            span=span_of(node),
            name=callee.name,
            function=callee.function,
            receiver=UNKNOWN if callee.is_instance else as_receiver(receiver),
            called=function if is_kept else UNKNOWN,
            receiver_span=span_of(method.value) if isinstance(method, ast.Attribute) else None,
            arguments=tuple(one.read() for one in given.arguments),
            keywords={name: one.read() for name, one in given.keywords.items()},
            scope=frame.scope,
            guards=tuple(frame.guards),
            autocast=given.autocast,
            dtypes={name: value for name, value in env.items() if isinstance(value, Dtype)},
            models=_models(env) if callee.name in _TRAINING else {},
            module=self._calls,
        )
        self._keep(node, call)

    @property
    def takes_every(self) -> bool:
        """True if calls are taken in all frames, as a run comes to them."""
        return self._every is not None

    def operator(self, frame: Frame, node: ast.BinOp, left: Value, right: Value) -> None:
        """`left @ right` as the call of `torch.matmul` that it is, and so for other operators."""
        name = _OPERATORS.get(type(node.op))
        if name in self._asked.names and self._is_seen(frame):
            span_of = self.module.file.span_of
            operands = Argument(left, span_of(node.left)), Argument(right, span_of(node.right))
            self._keep(node, self._operation(frame, node, name, f"torch.{name}", operands))

    def wants_items(self, frame: Frame) -> bool:
        """True if a rule asked for the items that are set in a frame."""
        return self._is_seen(frame) and SETTING_ITEM in self._asked.names

    def item_set(
        self, frame: Frame, node: ast.Subscript, owner: Value, key: Value, given: Argument
    ) -> None:
        """`owner[key] = value`, as the call of `__setitem__` that it is."""
        span_of = self.module.file.span_of
        index = Argument(key, span_of(node.slice))
        call = self._operation(frame, node, SETTING_ITEM, None, (index, given))
        receiver = as_receiver(reading(owner))
        self._keep(node, replace(call, receiver=receiver, receiver_span=span_of(node.value)))

    def gradient_set(
        self, frame: Frame, node: ast.Attribute, owner: Value, given: Argument
    ) -> None:
        """`owner.grad = value` of a tensor, as the call of `__setattr__` that it is."""
        owner = as_receiver(reading(owner))
        wanted = self._is_seen(frame) and SETTING_ATTRIBUTE in self._asked.names
        if wanted and isinstance(owner, Tensor):
            span_of = self.module.file.span_of
            name = Argument(Constant(node.attr), span_of(node))
            call = self._operation(frame, node, SETTING_ATTRIBUTE, None, (name, given))
            receiver_span = span_of(node.value)
            self._keep(node, replace(call, receiver=owner, receiver_span=receiver_span))

    def _operation(
        self,
        frame: Frame,
        node: ast.expr,
        name: str,
        function: str | None,
        operands: tuple[Argument, ...],
    ) -> Call:
        """An operator of Python, as the call that it is."""
        return Call(
            span=self.module.file.span_of(node),
            name=name,
            function=function,
            receiver=UNKNOWN,
            receiver_span=None,
            arguments=tuple(one.read() for one in operands),
            keywords={},
            scope=frame.scope,
            guards=tuple(frame.guards),
            autocast=frame.region,
            dtypes={},
            models={},
            module=self._calls,
        )

    def _is_seen(self, frame: Frame) -> bool:
        """True in a frame of the linted file whose calls are wanted."""
        return (frame.records or self._every is not None) and frame.module is self.module

    def _keep(self, node: ast.expr, call: Call) -> None:
        if self._every is None:
            self.found[node] = call
        else:
            self._every.append(replace(call, way=tuple(self.way)))

    def rejected(self, frame: Frame, node: ast.Call, found: tuple[Rejection, ...]) -> None:
        """A call runs layers that reject what they are given: whenever its body is run."""
        if frame.guards:
            return
        frame.rejections.pop(node, None)  # of an iteration before, of which less was known
        if found:
            frame.rejections[node] = found
        if frame.records and frame.module is self.module and node in self.found:
            self.found[node] = replace(self.found[node], rejections=found)

    def call_of(
        self, frame: Frame, node: ast.Call, definition: Function, bound: Environment
    ) -> None:
        """A function of the project is called, and this is given to its parameters."""
        if frame.records:
            known = self.sites.get(node)
            is_one_of = known is not None and f"`{definition.name}`" not in known.text
            self._is_at(frame, node, _called(node) if is_one_of else definition.name)
            self.call_sites.setdefault(definition, {})[node] = bound
            if definition.is_initialiser:
                frame.constructions.append(bound)
            self.regions.setdefault(definition, {})[node] = frame.region
            if frame.function is not None and not frame.autocast:
                self.callers.setdefault(definition, {})[node] = frame.function

    def given_to(self, definition: Function, name: str) -> Value:
        """What the calls seen so far give to a parameter of a lambda."""
        sites = self.call_sites.get(definition, {})
        found = join_all([env[name] for env in sites.values() if name in env])
        return UNKNOWN if isinstance(found, Bottom) else found

    def open_call(self, frame: Frame, node: ast.Call, receiver: Variable, given: CallSite) -> None:
        """A method of an object that is a term is called."""
        if frame.records and isinstance(node.func, ast.Attribute):
            self._is_at(frame, node, node.func.attr)
            self.open_calls.setdefault(node.func.attr, {})[node] = receiver, given

    def open_function(
        self, frame: Frame, node: ast.Call, function: Variable, given: CallSite
    ) -> None:
        """A function that is a term is called: `callback(x)`, `self.callback(x)`."""
        if frame.records:
            self._is_at(frame, node, _called(node))
            self.open_functions[node] = function, given

    def module_cast(self, frame: Frame, node: ast.Call, module: Value) -> None:
        """`model.half()`, and what `model` is after it."""
        _add_half(self.module_casts, frame, node, module)

    def module_load(self, frame: Frame, node: ast.Call, module: Value) -> None:
        """`Net.from_pretrained(…)`, and what it gives."""
        _add_half(self.module_loads, frame, node, module)

    def written_to(self, frame: Frame, node: ast.Call, name: str, value: Value) -> None:
        """`torch.save(value, path)`, where the path ends with a name."""
        if frame.records:
            self.written.setdefault((frame.module, name), {})[node] = value

    @contextmanager
    def through(self, frame: Frame, node: ast.Call, name: str) -> Iterator[None]:
        """What a run comes to in this block, it comes to by a call."""
        if self._every is None:
            yield
            return
        file = frame.module.file
        place, guards = file.span_of(node), tuple(frame.guards)
        self.way.append(Origin(file.text, place, f"`{name}` is called here", guards=guards))
        try:
            yield
        finally:
            self.way.pop()

    def _is_at(self, frame: Frame, node: ast.Call, name: str) -> None:
        """Take down the place of a call."""
        file = frame.module.file
        is_shown = isinstance(file, Example)
        says = f"the documentation calls `{name}` here" if is_shown else f"`{name}` is called here"
        self.sites[node] = Origin(file.text, file.span_of(node), says)
        if is_shown:
            self.shown.add(node)

    def attribute(self, frame: Frame, name: str, value: Value) -> None:
        """`self.name = value` in a method."""
        assert frame.owner is not None
        self.attribute_of_class(frame, frame.owner, name, value)

    def attribute_cast(self, frame: Frame, name: str, value: Value) -> None:
        """`self.name.half()`: what the same method assigned before is what it casts."""
        assert frame.owner is not None
        key = (frame.owner, name)
        last, before = self._before.get(key, (None, BOTTOM))
        if last is frame and not frame.guards and not frame.iterated:
            self.assigned[key] = before
        self.attribute_of_class(frame, frame.owner, name, value)

    def attribute_of_class(self, frame: Frame, owner: Class, name: str, value: Value) -> None:
        """`cls.name = value`, which objects of the class read as well."""
        if frame.records and not frame.aside:
            key = (owner, name)
            if self._before.get(key, (None, BOTTOM))[0] is not frame:
                self._before[key] = frame, self.assigned.get(key, BOTTOM)
            self.assigned[key] = join(self.assigned.get(key, BOTTOM), value)

    def variables(self, definition: Function, ends: list[Environment]) -> None:
        """The variables of its module that a function changes, where it ends."""
        for name in definition.scope.changed:
            module = definition.module
            if name in module.assignments and definition.binding(name) is module:
                values = [end[name] for end in ends if name in end]
                key = (module, name)
                self.globals[key] = join_all([self.globals.get(key, BOTTOM), *values])

    def attribute_from_outside(self, frame: Frame, holder: Value, name: str, value: Value) -> None:
        """`holder.name = value` of an object that is not `self`."""
        self._from_outside(self.assigned_from_outside, frame, holder, name, value)

    def item_from_outside(self, frame: Frame, holder: Value, name: str, item: Value) -> None:
        """`holder.name.append(item)` of an object that is not `self`."""
        self._from_outside(self.added_from_outside, frame, holder, name, item)

    def _from_outside(
        self,
        taken: dict[str, list[tuple[Value, Value]]],
        frame: Frame,
        holder: Value,
        name: str,
        value: Value,
    ) -> None:
        if frame.records and not isinstance(holder, Tensor | NonTensor | Model):
            held = taken.setdefault(name, [])
            given = holder, value
            held.append(given)
            self._table.note(lambda: held.remove(given))


_OPERATORS = {
    ast.MatMult: "matmul", ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div",
}  # fmt: skip

_TRAINING = frozenset({"backward", "train"})
"""Calls that show what is trained by what is known of the modules around them."""


def _called(node: ast.Call) -> str:
    """What a call calls, as a reader finds it there: `METRICS[name]` has no name of its own."""
    return callee_name(node) or ast.unparse(node.func)


def _models(env: Environment) -> dict[str, Model]:
    modules = ((name, as_module(value)) for name, value in env.items() if _is_module(value))
    return {name: module for name, module in modules if isinstance(module, Model)}


def _is_module(value: Value) -> bool:
    return isinstance(value, Model | Instance)


def _add_half(
    taken: dict[Class, dict[ast.Call, Tensor]], frame: Frame, node: ast.Call, module: Value
) -> None:
    """Take down a call that may make the weights of a module half."""
    match module:
        case Instance(definition=definition, parameters=Tensor() as weights) if frame.records:
            if weights.dtypes & HALF or weights.clauses:
                taken.setdefault(definition, {})[node] = weights
        case OneOf(members=members):
            for each in members:
                _add_half(taken, frame, node, each)
