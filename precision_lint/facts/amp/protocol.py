"""The training steps of a file: for every function that scales a loss, the orders it can go."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from precision_lint.facts.amp.conditions import PathConditions
from precision_lint.facts.amp.events import (
    Event,
    EventKind,
    Names,
    calls_in_order,
    event_of,
    may_act,
    names_in,
    renamed,
)
from precision_lint.facts.amp.paths import (
    MOST_PATHS,
    Path,
    PathEvent,
    Reader,
    TooManyPaths,
    assigned,
    distinct,
    paths,
)
from precision_lint.facts.context import PythonFile
from precision_lint.source.python.statements import FunctionDefinition, Loop, blocks, own_statements
from precision_lint.source.python.syntax import positional_parameters


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of a loop: its paths, and the names that change from one pass to the next."""

    node: Loop
    paths: tuple[Path, ...]
    changing: frozenset[str]


@dataclass(frozen=True)
class TrainingStep:
    """A function, or the top level of a file, in which a scaler is at work.

    `paths` are the ways through it, `passes` those through each loop in it, the outermost first.
    """

    scope: str
    body: list[ast.stmt]
    paths: tuple[Path, ...]
    passes: tuple[Pass, ...]
    names: Names

    def through(self, event: Event) -> list[Path]:
        """The paths on which an event happens."""
        return [path for path in self.paths if path.has(event)]

    def scaled_ways(self, event: Event) -> list[Path]:
        """The paths on which an event happens, but for those on which nothing scales the loss.

        All of them count if the event has a condition of its own: it may mean the same as the one
        that decides whether the loss is scaled.
        """
        ways = self.through(event)
        scaled = [path for path in ways if not path.is_plain_at(event)]
        return ways if self._has_own_condition(event) else scaled

    def _has_own_condition(self, event: Event) -> bool:
        """True in an `if` without any loss that is scaled; where a helper does it, it may be."""
        if event.helper:
            return True
        scaling = [one for one in self.events if one.kind is EventKind.SCALED_BACKWARD]
        for node in own_statements(self.body):
            if isinstance(node, ast.If):
                inside = set(ast.walk(node))
                if event.node in inside and not any(one.node in inside for one in scaling):
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

    @cached_property
    def looped(self) -> frozenset[str]:
        """The names that a loop of this function gives another value in each pass."""
        return frozenset().union(*(assigned(each.node) for each in self.passes))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Everything that happens on some path, once, in the order of the source."""
        found = {id(each.event.node): each.event for path in self.paths for each in path.events}
        return tuple(
            sorted(found.values(), key=lambda event: (event.node.lineno, event.node.col_offset))
        )


def training_steps(file: PythonFile) -> Iterator[TrainingStep]:
    """The training steps of a file; a function with too many paths, or too deep, is left out."""
    names = names_in(file.tree)
    if not names.scalers:
        return
    reading = EventExtractor(file.tree, names)
    for scope, owner, body in _bodies(file.tree.body, "", None):
        read = reading.within(owner)
        try:
            ways = paths(body, read)
            if not any(_is_of_scaler(each.event) for path in ways for each in path.events):
                continue
            passes = tuple(
                _pass(node, read) for node in own_statements(body) if isinstance(node, Loop)
            )
        except (TooManyPaths, RecursionError):
            continue
        yield TrainingStep(scope, body, tuple(ways), passes, names)


def _is_of_scaler(event: Event) -> bool:
    return event.scaler != ""


def _pass(node: Loop, read: Reader) -> Pass:
    changing = assigned(node).union(*map(assigned, own_statements(node.body)))
    return Pass(node, tuple(paths(node.body, read)), changing)


class EventExtractor:
    """What calls do, those of the file's own functions and methods included."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self._names = names
        self._functions = {
            node.name: node
            for node in own_statements(tree.body)
            if isinstance(node, FunctionDefinition)
        }
        self._classes = {
            node.name: node for node in own_statements(tree.body) if isinstance(node, ast.ClassDef)
        }
        self._helpers: dict[ast.stmt, list[Path] | None] = {}

    def within(self, owner: ast.ClassDef | None) -> Reader:
        """The reader for the methods of a class, or for a function."""
        return lambda part, statement: self._read(part, statement, owner)

    def _read(self, part: ast.AST, statement: ast.stmt, owner: ast.ClassDef | None) -> list[Path]:
        found = [Path()]
        for call in calls_in_order(part):
            event = event_of(call, statement, self._names)
            ways = None
            if event is None or event.kind is EventKind.UNKNOWN:
                ways = self._of_helper(call, statement, owner)
                if ways is None and event is None and _is_unseen(call):
                    event = Event(EventKind.UNKNOWN, "", ast.unparse(call.func), call, statement)
            if ways is None:
                ways = [Path() if event is None else Path((PathEvent(event, {}),))]
            found = distinct([_joined(path, further) for path in found for further in ways])
            if len(found) > MOST_PATHS:
                raise TooManyPaths
        return found

    def _of_helper(
        self, call: ast.Call, statement: ast.stmt, owner: ast.ClassDef | None
    ) -> list[Path] | None:
        """What a function or method of this file does; None if it is not seen.

        The paths of a helper are found once, those of the helpers that it calls included.
        """
        match call.func:
            case ast.Name(id=name):
                helper, own = self._functions.get(name), None
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if owner is not None:
                helper, own = self._method(owner, name), owner
            case _:
                return None
        if helper is None:
            return None
        if helper not in self._helpers:
            self._helpers[helper] = [Path()]  # it may call itself
            self._helpers[helper] = self._paths_of(helper, own)
        found = self._helpers[helper]
        if found is None:  # it may do anything
            event = Event(EventKind.UNKNOWN, "", ast.unparse(call.func), call, statement)
            return [Path((PathEvent(event, {}),))]
        given = _given(call, helper, is_method=own is not None)
        return [_as_called(path, given, helper.name) for path in found]

    def _paths_of(
        self, helper: FunctionDefinition, owner: ast.ClassDef | None
    ) -> list[Path] | None:
        """The paths through a helper; None if there are too many."""
        try:
            return [replace(path, exit=None) for path in paths(helper.body, self.within(owner))]
        except TooManyPaths:
            return None

    def _method(self, owner: ast.ClassDef, name: str, hops: int = 4) -> FunctionDefinition | None:
        for node in own_statements(owner.body):
            if isinstance(node, FunctionDefinition) and node.name == name:
                return node
        for base in owner.bases:
            above = self._classes.get(ast.unparse(base)) if hops else None
            if above is not None and (found := self._method(above, name, hops - 1)) is not None:
                return found
        return None


def _is_unseen(call: ast.Call) -> bool:
    """True for `self.clip_gradients()` whose body is unknown: it may do anything."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self")):
            return may_act(call)
    return False


def _joined(path: Path, further: Path) -> Path:
    return Path(
        (*path.events, *further.events),
        {**further.path_conditions, **path.path_conditions},
        path.exit,
    )


def _given(call: ast.Call, helper: FunctionDefinition, *, is_method: bool) -> Mapping[str, str]:
    """What the parameters of a helper are called where it is called."""
    parameters = positional_parameters(helper.args)[is_method:]
    named = {
        parameter.arg: ast.unparse(argument)
        for parameter, argument in zip(parameters, call.args, strict=False)
    }
    named |= {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg}
    return named


def _as_called(path: Path, given: Mapping[str, str], helper: str) -> Path:
    """A helper's path in the names of its caller. Only its conditions on `self` are kept."""
    return Path(
        tuple(
            PathEvent(renamed(each.event, given, helper), _of_self(each.path_conditions))
            for each in path.events
        ),
        _of_self(path.path_conditions),
    )


def _of_self(assumed: PathConditions) -> PathConditions:
    return {text: value for text, value in assumed.items() if "self." in text}


def _bodies(
    body: list[ast.stmt], scope: str, owner: ast.ClassDef | None
) -> Iterator[tuple[str, ast.ClassDef | None, list[ast.stmt]]]:
    """A body and those of the functions and classes in it, each with its name and its class."""
    yield scope, owner, body
    for node in own_statements(body):
        name = f"{scope}.{getattr(node, 'name', '')}".lstrip(".")
        match node:
            case ast.ClassDef():
                yield from _bodies(node.body, name, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield name, owner, node.body
                for inner_scope, _, inner in _bodies(node.body, name, None):
                    if inner is not node.body:
                        yield inner_scope, owner, inner
