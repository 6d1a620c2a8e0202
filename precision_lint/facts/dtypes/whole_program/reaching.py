"""Whether calls of the project come to a place: its conditions, and what is given to parameters.

`return x.numpy() if as_numpy else x` converts nothing where each call leaves `as_numpy` at False.
Calls are found by name alone: one of another function of this name only adds to what is given.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, product
from math import prod

from precision_lint.facts.dtypes.domain.values import Constant
from precision_lint.facts.dtypes.interpreter.decisions import decided, kept_attribute
from precision_lint.facts.dtypes.syntax.bodies import functions_at
from precision_lint.facts.dtypes.syntax.conditions import condition_of
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program.calling import Calling, called_as
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.origin import PathCondition
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import bound_names, own_statements
from precision_lint.source.python.syntax import (
    callee_name,
    innermost_name,
    last_name,
    named_parameters,
    with_defaults,
)

_MOST_COMBINATIONS = 64
"""Constants that are tried together: of more, any may come."""

_PLAIN = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "override", "no_grad", "inference_mode"}
)
"""Decorators that call a function with what its callers give."""


_Run = Mapping[str, Constant]
"""What is given to parameters."""

_MAKING = regex(r"\bcls\(|\btype\(self\)|__class__|__new__|__init_subclass__")


@frozen
class _Given:
    """What calls give to a parameter: constants with their types, and parameters around them."""

    constants: frozenset[tuple[type, object]] = frozenset()
    parameters: frozenset[tuple[Function, str]] = frozenset()


class Reaching:
    """What the calls of a project give to parameters, if all of it is written out."""

    def __init__(self, calling: Calling, classes: Classes, program: Program) -> None:
        self._calling = calling
        self._classes = classes
        self._program = program
        self._modules: dict[Function, tuple[Module, ...]] = {}
        self._directly: dict[tuple[Function, str], _Given | None] = {}
        self._held: dict[tuple[Function, ast.expr], bool | None] = {}

    def comes_to(self, definition: Function, guards: Sequence[PathCondition]) -> bool:
        """False if with all that is given the conditions around a place of a function fail."""
        text = definition.module.file.text
        tests = [(test, one.holds) for one in guards if (test := condition_of(text[one.span]))]
        runs = self._runs(definition, [test for test, _ in tests])
        return runs is None or any(
            all(decided(test, run) is not (not holds) for test, holds in tests) for run in runs
        )

    def holds(self, definition: Function, test: ast.expr) -> bool | None:
        """Whether a condition holds with all that is given; None if it may do both."""
        key = definition, test
        if key not in self._held:
            self._held[key] = self._outcome(definition, test)
        return self._held[key]

    def _outcome(self, definition: Function, test: ast.expr) -> bool | None:
        runs = self._runs(definition, [test])
        outcomes = set() if runs is None else {decided(test, run) for run in runs}
        return outcomes.pop() if len(outcomes) == 1 else None

    def _runs(self, definition: Function, tests: Sequence[ast.expr]) -> list[_Run] | None:
        """What is given together to the parameters in conditions; None if that is not known.

        An attribute that `__init__` alone assigns is the parameter that it keeps there.
        """
        nodes = [each for test in tests for each in walk(test)]
        named = {each.id for each in nodes if isinstance(each, ast.Name)}
        read = {each for node in nodes if (each := kept_attribute(node))}
        places = {name: (definition, name) for name in named & _kept_parameters(definition)}
        places |= {name: kept for name in read if (kept := self._kept(definition, name))}
        known = {
            name: constants
            for name, place in sorted(places.items(), key=lambda item: item[0])
            if (constants := self._given(*place))
        }
        known |= {
            name: frozenset({constant})
            for name in sorted(read - known.keys())
            if (constant := self._of_class(definition, name)) is not None
        }
        if not known or prod(map(len, known.values())) > _MOST_COMBINATIONS:
            return None
        return [
            {name: Constant(value) for name, (_, value) in zip(known, values, strict=True)}
            for values in product(*known.values())
        ]

    def _kept(self, definition: Function, name: str) -> tuple[Function, str] | None:
        """The parameter of `__init__` that `self.name` is in all methods of a class."""
        owner, (holder, attribute) = definition.owner, name.split(":")
        if owner is None or not definition.parameters or holder != definition.parameters[0].arg:
            return None
        setting = [
            method
            for each in self._classes.bases(owner)
            for method in each.methods_assigning.get(attribute, ())
        ]
        if len(setting) != 1 or not setting[0].is_initialiser or setting[0].owner is not owner:
            return None
        if owner.module.sets_by_name or self._program.is_assigned_from_outside(attribute):
            return None
        initialiser = setting[0]
        parameter = _left_in(initialiser, attribute)
        is_kept = parameter in _kept_parameters(initialiser)
        return (initialiser, parameter) if parameter and is_kept else None

    def _of_class(self, definition: Function, name: str) -> tuple[type, object] | None:
        """The switch that `self.name` is in all objects: the class body alone assigns it."""
        owner, (holder, attribute) = definition.owner, name.split(":")
        if owner is None or not definition.parameters or holder != definition.parameters[0].arg:
            return None
        values = [
            each.assigned[attribute]
            for each in self._classes.bases(owner)
            if attribute in each.assigned
        ]
        match values:
            case [ast.Constant(value=bool(value))] if not owner.module.sets_by_name:
                return (bool, value) if self._is_written_once(attribute, owner) else None
        return None

    def _is_written_once(self, name: str, owner: Class) -> bool:
        """True if nothing in the project but one line is like an assignment of a name."""
        writing = rb"\b%b\b[ \t]*(?::[^=\n]*)?=(?!=)|[\"']%b[\"']" % (name.encode(), name.encode())
        found = self._program.project.python_sources_matching(writing)
        text = owner.module.file.text.text.encode()
        outside = rb"\b%b\b" % name.encode()
        return (
            len(found) == 1
            and len(re.findall(writing, text)) == 1
            and not self._program.project.other_file_matches(outside)
        )

    def _given(self, definition: Function, name: str) -> frozenset[tuple[type, object]]:
        """The constants that calls give to a parameter; none if they may give something else."""
        found: set[tuple[type, object]] = set()
        parameters = [(definition, name)]
        for parameter in parameters:
            given = self._given_directly(*parameter)
            if given is None:
                return frozenset()
            found |= given.constants
            parameters += given.parameters - {*parameters}
        return frozenset(found)

    def _given_directly(self, definition: Function, name: str) -> _Given | None:
        """The same for the calls of one function alone; None if they may give something else."""
        key = definition, name
        if key not in self._directly:
            each = [
                _given_by(call, module, definition, name)
                for module in self._with_calls(definition)
                for call in _mentions(module).calls.get(called_as(definition) or "", ())
            ]
            known = [one for one in each if one is not None]
            self._directly[key] = (
                _Given(
                    frozenset(chain.from_iterable(one.constants for one in known)),
                    frozenset(chain.from_iterable(one.parameters for one in known)),
                )
                if known and len(known) == len(each)
                else None
            )
        return self._directly[key]

    def _with_calls(self, definition: Function) -> tuple[Module, ...]:
        """The modules with calls of a function; none if others may call it."""
        if definition not in self._modules:
            self._modules[definition] = self._calling_only(definition)
        return self._modules[definition]

    def _calling_only(self, definition: Function) -> tuple[Module, ...]:
        name = called_as(definition)
        if name is None or {innermost_name(each) for each in definition.decorators} - _PLAIN:
            return ()
        if definition.is_initialiser and _is_made_otherwise(definition):
            return ()
        modules = {definition.module: None}
        for body, _ in chain(self._calling.bodies(definition), self._calling.shown(definition)):
            if body is None:
                return ()
            modules[body if isinstance(body, Module) else body.module] = None
        if any(name in _mentions(each).handed_out for each in modules):
            return ()
        # a notebook calls it, or Hydra makes it: `_target_: models.Head`
        outside = rb"\.%b\b|\b%b\(" % (name.encode(), name.encode())
        return () if self._program.project.other_file_matches(outside) else (*modules,)


def _is_made_otherwise(initialiser: Function) -> bool:
    """True for a class whose objects are made by more than calls of its name."""
    owner = initialiser.owner
    if owner is None or owner.node.decorator_list:
        return True
    text = owner.module.file.text[owner.module.file.span_of(owner.node)]
    return _MAKING.search(text) is not None


def _left_in(initialiser: Function, attribute: str) -> str | None:
    """The name that `__init__` assigns to an attribute, whatever happens: `self.half = half`."""
    node = initialiser.node
    if isinstance(node, ast.Lambda) or not initialiser.parameters:
        return None
    name = f"{initialiser.parameters[0].arg}:{attribute}"
    stored = [
        each
        for each in walk(node)
        if isinstance(each, ast.Attribute)
        and not isinstance(each.ctx, ast.Load)
        and kept_attribute(each) == name
    ]
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[target], value=ast.Name(id=given)) if stored == [target]:
                return given
    return None


def _given_by(call: ast.Call, module: Module, definition: Function, name: str) -> _Given | None:
    """What one call gives to a parameter; None if that is neither written out nor handed on."""
    match _argument(call, definition, name):
        case None:  # no call of this function: it has no default
            return _Given()
        case ast.Constant(value=value):
            return _Given(frozenset({(type(value), value)}))
        case ast.Name(id=variable):
            around = [*functions_at(module, [call.lineno])][-1:]
            if around and variable in _kept_parameters(around[0]):
                return _Given(parameters=frozenset({(around[0], variable)}))
    return None


def _argument(call: ast.Call, definition: Function, name: str) -> ast.expr | None:
    """What a call gives to a parameter: its default if nothing, the star that may hold it."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
        if keyword.arg is None:
            return ast.Starred(keyword.value)
    names = [each.arg for each in definition.parameters]
    if definition.owner is not None and not definition.is_static:
        match call.func:
            case ast.Attribute(value=owner) if last_name(owner) == definition.owner.node.name:
                return ast.Starred(call)  # `Base.run(self, …)`
        names = names[1:]
    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred) or names[position : position + 1] == [name]:
            return argument
    return {each.arg: default for each, default in with_defaults(definition.node.args)}[name]


@frozen
class _Mentions:
    """How the names of a module are used: the calls by name, and what is not only called."""

    calls: Mapping[str, Sequence[ast.Call]]
    handed_out: frozenset[str]
    """Names that stand for themselves, are imported as another one, or are in a string."""


def _mentions(module: Module) -> _Mentions:
    return module.fact(_mentions, lambda: _mentioned(module.file))


def _mentioned(file: ParsedPython) -> _Mentions:
    calls = file.nodes_of(ast.Call)
    by_name = defaultdict[str, list[ast.Call]](list)
    for call in calls:
        by_name[callee_name(call)].append(call)
    called = {call.func for call in calls}
    handed_out = {each.id for each in file.nodes_of(ast.Name) if each not in called}
    handed_out |= {each.attr for each in file.nodes_of(ast.Attribute) if each not in called}
    handed_out |= {each.name for each in file.nodes_of(ast.alias) if each.asname is not None}
    for call in calls:  # `getattr(model, "run")`
        for argument in call.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                handed_out.add(argument.value)
    return _Mentions(by_name, frozenset(handed_out))


def _kept_parameters(definition: Function) -> frozenset[str]:
    """The parameters of a function to which its body assigns nothing."""
    node = definition.node
    if isinstance(node, ast.Lambda):
        return frozenset()
    body = node.body
    return definition.module.fact(
        (_kept_parameters, node),
        lambda: (
            frozenset(each.arg for each in named_parameters(node.args))
            - {name for statement in own_statements(body) for name in bound_names(statement)}
        ),
    )
