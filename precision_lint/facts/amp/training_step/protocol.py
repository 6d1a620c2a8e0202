"""The training steps of a file: every function in which a scaler is at work, and its states."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from precision_lint.facts.amp.training_step.callbacks import texts_given
from precision_lint.facts.amp.training_step.events import (
    Event,
    EventKind,
    Names,
    event_of,
    given_scaler,
    may_act,
    names_in,
)
from precision_lint.facts.amp.training_step.graph import Called, Graph, Reader, TooLarge, graph_of
from precision_lint.facts.amp.training_step.helpers import Helper, Helpers
from precision_lint.facts.amp.training_step.solver import Solution, TooManyStates, solve
from precision_lint.facts.amp.training_step.states import Gradients, State
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition, blocks, own_statements
from precision_lint.source.python.syntax import callee_name, dotted

_DEEPEST = 8
"""How many helpers call each other on the way from a step to an event."""


@frozen(slots=False)
class TrainingStep:
    """A function, or the top level of a file, in which a scaler is at work."""

    scope: str
    body: list[ast.stmt]
    file: PythonFile
    names: Names
    solution: Solution
    is_called: bool
    """True if another step of the file calls it, and so knows more of the gradients."""

    earlier: tuple[TrainingStep, ...] = ()
    """The steps of the file before it, which may call the same helpers."""

    heir: Class | None = None
    """The class that inherits the step, and overrides methods that it calls.

    It is in the file, and the step in a base class, perhaps in another file. Or the step is in the
    file, and the class, in another one, fills in a method that is empty here.
    """

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Everything that happens on some way, once, in the order of the source.

        What a function of another file does counts where it is called.
        """
        found: dict[int, Event] = {}
        for event, _ in self.solution.before(lambda _: True):
            found.setdefault(id(self.place(event)), event)
        return tuple(sorted(found.values(), key=self._position))

    def place(self, event: Event) -> ast.Call:
        """Where an event is in this file: its own call, or that of a helper elsewhere."""
        if event.call is None or event.file.text.path == self.file.text.path:
            return event.node
        if event.named is not None and event.named in self._calls:
            return event.named
        return event.call

    @cached_property
    def _calls(self) -> frozenset[ast.Call]:
        return frozenset(self.file.nodes_of(ast.Call))

    @property
    def is_of_another_file(self) -> bool:
        """True if the class that inherits the step is in another file than the step."""
        return self.heir is not None and self.heir.module.file.text.path != self.file.text.path

    def is_own(self, event: Event) -> bool:
        """False for what a base class does in a step that is inherited."""
        if self.heir is None:
            return True
        if self.is_of_another_file:
            return event.call is not None and callee_name(event.call) in self.heir.methods
        node = self.heir.node
        is_here = event.file.text.path == self.file.text.path
        return is_here and node.lineno <= event.node.lineno <= (node.end_lineno or 0)

    def _position(self, event: Event) -> tuple[int, int]:
        place = self.place(event)
        return place.lineno, place.col_offset

    def _at(self, event: Event) -> Callable[[Event], bool]:
        """Whether an event is the same, whichever way leads to it."""
        place = self.place(event)
        return lambda other: other.node is event.node and self.place(other) is place

    def states(self, event: Event) -> list[State]:
        """The states in which an event happens."""
        return [state for _, state in self.solution.before(self._at(event))]

    def scaled_states(self, event: Event) -> list[State]:
        """The states in which an event happens, but for those of ways that scale no loss.

        All of them count if the event has a condition of its own: it may mean the same as the one
        that decides whether the loss is scaled.
        """
        states = self.states(event)
        if self._has_own_condition(event):
            return states
        return [state for state in states if state.gradients is not Gradients.PLAIN]

    def following(self, event: Event, matters: Callable[[Event], bool]) -> list[Event | None]:
        """The first events that matter after another; None where the step or pass ends first."""
        return self.solution.next_events(self._at(event), matters)

    def _has_own_condition(self, event: Event) -> bool:
        """True in an `if` without any loss that is scaled; where a helper does it, it may be.

        What asks for a threshold, or counts passes, does not decide whether the loss is scaled.
        """
        if event.helper:
            return True
        scaling = [one for one in self.events if one.kind is EventKind.SCALED_BACKWARD]
        for node in own_statements(self.body):
            if isinstance(node, ast.If) and not _is_about_clipping(node.test):
                inside = set(walk(node))
                if event.node in inside and not any(self.place(one) in inside for one in scaling):
                    return True
        return False

    def are_in_one_block(self, one: Event, other: Event) -> bool:
        """True if both are in the same block, so that they happen together."""
        return any(
            one.statement in body and other.statement in body
            for body in [
                self.body,
                *(block.body for node in own_statements(self.body) for block in blocks(node)),
            ]
        )


_SCALER = regex(r"[sS]caler|\.scale\(")
_CLIPPING = regex(r"clip|norm|accum|%", re.IGNORECASE)
_SCALING = regex(
    r"amp|scal|half|float|fp\d|bf|16|precision|dtype|mixed|autocast|cuda|device", re.IGNORECASE
)


def _is_about_clipping(test: ast.expr) -> bool:
    """`if args.clip_grad is not None`, `if (i + 1) % every == 0`."""
    text = ast.unparse(test)
    return _CLIPPING.search(text) is not None and _SCALING.search(text) is None


def training_steps(file: PythonFile) -> Iterator[TrainingStep]:
    """The training steps of a file; a function that is too large, or too deep, is left out."""
    if not any(word in file.text.text for word in (".scale(", ".unscale_(", "caler")):
        return  # nothing scales
    reading = _Reading(file)
    own = [*_scopes(reading.helpers.program.main)]
    inherited = (
        one
        for scope in own
        for find in (_inherited, _filled_in)
        for one in find(scope, reading.helpers)
    )
    found = [step for scope in (*own, *inherited) if (step := reading.step(scope)) is not None]
    for count, step in enumerate(found):
        is_called = step.scope in reading.called
        yield replace(step, is_called=is_called, earlier=tuple(found[:count]))


@frozen(eq=False)
class _Scope:
    """A body whose statements run together: a function, a class, or the top level of a file."""

    name: str
    body: list[ast.stmt]
    module: Module
    owner: Class | None
    """The class of its `self`."""

    nested: Mapping[str, Function]
    """The functions that are defined in it, or around it."""

    heir: Class | None = None
    """The class that inherits the body, and overrides methods that it calls."""

    literals: Mapping[str, str] = field(default_factory=dict)
    """The parameters that are given texts, of what calls methods by their names."""


def _inherited(scope: _Scope, helpers: Helpers) -> Iterator[_Scope]:
    """The methods that a class inherits, if they call methods that it overrides."""
    owner = scope.owner
    if owner is None or scope.body is not owner.node.body:
        return
    seen = set(owner.methods)
    for base in helpers.line(owner)[1:]:
        for name, method in base.methods.items():
            node = method.node
            if name in seen or not isinstance(node, FunctionDefinition):
                continue
            if not _called_of_self(node).isdisjoint(owner.methods):
                nested = _nested(base.module, node, method.name)
                title = f"{owner.name}.{name}"
                yield _Scope(title, node.body, base.module, owner, nested, heir=owner)
        seen |= base.methods.keys()


def _filled_in(scope: _Scope, helpers: Helpers) -> Iterator[_Scope]:
    """The methods of a class that call empty methods, for each class elsewhere that fills one in.

    A file that names a scaler is judged itself, with what it inherits.
    """
    owner = scope.owner
    if owner is None or scope.body is not owner.node.body:
        return
    names = names_in(owner.module.file)
    empty = {name for name, method in owner.methods.items() if method.is_stub}
    calling = {
        name: method.node
        for name, method in owner.methods.items()
        if names.scalers
        and isinstance(method.node, FunctionDefinition)
        and not _called_of_self(method.node).isdisjoint(empty)
        and _mentions_a_scaler(method.node, names)
    }
    for module in helpers.program.importers(owner.module, owner.node.name) if calling else ():
        if module is None or _SCALER.search(module.file.text.text):
            continue
        for heir in module.top.values():
            if not isinstance(heir, Class) or owner not in helpers.line(heir)[1:]:
                continue
            filled = {
                name for name in empty & heir.methods.keys() if not heir.methods[name].is_stub
            }
            for name, node in calling.items():
                if name not in heir.methods and not _called_of_self(node).isdisjoint(filled):
                    nested = _nested(owner.module, node, f"{owner.name}.{name}")
                    title = f"{heir.name}.{name}"
                    yield _Scope(title, node.body, owner.module, heir, nested, heir=heir)


def _mentions_a_scaler(node: FunctionDefinition, names: Names) -> bool:
    return any(
        isinstance(each, ast.Attribute) and dotted(each) in names.scalers for each in walk(node)
    )


def _called_of_self(node: FunctionDefinition) -> set[str]:
    """The methods of its own object that a method calls."""
    return {
        call.func.attr
        for call in walk(node)
        if isinstance(call, ast.Call) and _is_of_self(call) and isinstance(call.func, ast.Attribute)
    }


def _scopes(module: Module) -> Iterator[_Scope]:
    return _below(module, module.file.tree.body, "", None, {})


def _below(
    module: Module,
    body: list[ast.stmt],
    name: str,
    owner: Class | None,
    nested: Mapping[str, Function],
) -> Iterator[_Scope]:
    """A body and those of the functions and classes in it."""
    yield _Scope(name, body, module, owner, nested)
    for node in own_statements(body):
        match node:
            case ast.ClassDef():
                inner = f"{name}.{node.name}".lstrip(".")
                yield from _below(module, node.body, inner, module.class_(node, inner), nested)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = f"{name}.{node.name}".lstrip(".")
                within = {**nested, **_nested(module, node, inner)}
                yield from _below(module, node.body, inner, owner, within)


def _nested(module: Module, node: FunctionDefinition, name: str) -> Mapping[str, Function]:
    return {
        each.name: module.function(each, f"{name}.{each.name}")
        for each in own_statements(node.body)
        if isinstance(each, FunctionDefinition)
    }


class _Reading:
    """Reads what the calls of steps do; helpers are summarized once for what they are given."""

    def __init__(self, file: PythonFile) -> None:
        self.file = file
        self.helpers = Helpers(file)
        self.called: set[str] = set()
        """The functions of the file that others call."""

        self._summaries: dict[object, Graph | None] = {}
        self._depth = 0

    def step(self, scope: _Scope) -> TrainingStep | None:
        """The training step of a body; None if no scaler is at work in it."""
        names = self._names(scope)
        if not names.scalers and not self._may_be_given(scope):
            return None
        try:
            graph = graph_of(scope.body, self._reader(scope, names))
            if not any(event.scaler for event in graph.events):
                return None
            solution = solve(graph)
        except (TooLarge, TooManyStates, RecursionError):
            return None
        return TrainingStep(
            scope.name, scope.body, self.file, names, solution, is_called=False, heir=scope.heir
        )

    def _may_be_given(self, scope: _Scope) -> bool:
        """True if a helper that is called may have a scaler of its own."""
        return any(
            may_act(node)
            for statement in own_statements(scope.body)
            for node in walk(statement)
            if isinstance(node, ast.Call)
        )

    def _names(self, scope: _Scope) -> Names:
        """The names of a file, and those that the bases of a class give to `self`."""
        names = names_in(scope.module.file)
        if scope.owner is None:
            return names
        line = self.helpers.line(scope.owner)
        further = [names_in(each.module.file) for each in line[scope.heir is None :]]
        scalers = {name for one in further for name in one.scalers if name.startswith("self.")}
        stepped = {name for one in further for name in one.optimizers if name.startswith("self.")}
        return replace(
            names, scalers=names.scalers | scalers, optimizers=names.optimizers | stepped
        )

    def _reader(self, scope: _Scope, names: Names) -> Reader:
        file = scope.module.file

        def read(call: ast.Call, statement: ast.stmt) -> Event | Called | None:
            event = event_of(call, statement, names, file)
            if event is not None and event.kind is not EventKind.UNKNOWN:
                return event
            helper = self.helpers.find(
                call,
                scope.module,
                scope.owner,
                scope.nested,
                is_concerned=given_scaler(call, names) or may_act(call),
                literals=scope.literals,
            )
            unknown = Event(EventKind.UNKNOWN, "", ast.unparse(call.func), call, statement, file)
            if helper is None:
                is_unseen = event is not None or (_is_of_self(call) and may_act(call))
                return unknown if is_unseen else None
            return self._of_helper(helper, call, names, unknown)

        return read

    def _of_helper(
        self, helper: Helper, call: ast.Call, names: Names, unknown: Event
    ) -> Event | Called | None:
        """What a helper does where it is called; it may do anything if it is too large."""
        given = helper.names(call)
        scalers = frozenset(name for name, value in given.items() if dotted(value) in names.scalers)
        try:
            graph = self._summary(helper, scalers, texts_given(helper.node, given))
        except TooLarge:
            return unknown
        if graph is None:
            return None
        if helper.function.module is self.helpers.program.main:
            self.called.add(helper.function.name)
        return Called(graph, given, helper.node.name, call)

    def _summary(
        self, helper: Helper, scalers: frozenset[str], literals: Mapping[str, str]
    ) -> Graph | None:
        """The events of a helper, some of whose parameters are scalers; None if it has none.

        What calls itself does nothing when it does so.
        """
        key = (helper.node, helper.owner, scalers, frozenset(literals.items()))
        if key not in self._summaries:
            if self._depth > _DEEPEST:
                return None
            self._summaries[key] = None
            self._depth += 1
            try:
                module = helper.function.module
                nested = _nested(module, helper.node, helper.function.name)
                scope = _Scope(
                    helper.function.name,
                    helper.node.body,
                    module,
                    helper.owner,
                    nested,
                    literals=literals,
                )
                names = self._names(scope)
                names = replace(names, scalers=names.scalers | scalers)
                graph = graph_of(helper.node.body, self._reader(scope, names))
            finally:
                self._depth -= 1
            self._summaries[key] = graph if any(graph.events) else None
        return self._summaries[key]


def _is_of_self(call: ast.Call) -> bool:
    """True for `self.clip_gradients()`, which may do anything if its body is not seen."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
    return False
