"""One activation of a body: where it stands, and what surrounds the current statement."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from precision_lint.facts.dtypes.domain.calls import Region, Rejection
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import join
from precision_lint.facts.dtypes.domain.values import BOTTOM, Constant, Value
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.syntax.relevance import Slice
from precision_lint.facts.origin import PathCondition
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property


class OuterName(NamedTuple):
    """A variable of a function, or of the top level of a module."""

    scope: Function | Module
    name: str


@frozen
class Change:
    """What calls do to such a variable: what it held before, and what it holds afterwards."""

    before: Value
    value: Value

    def after(self, other: Change | None) -> Change:
        """This change, or another one, or both."""
        return self if other is None else Change(other.before, join(other.value, self.value))


@dataclass(eq=False)
class Frame:
    """The interpretation of one body.

    `scope` is the qualified name of the function or class, "" for a module. Only a frame that
    `records` tells of the calls it sees: summaries see the same calls with narrower facts.
    """

    module: Module
    scope: str = ""
    function: Function | None = None
    owner: Class | None = None
    closure: Mapping[str, Value] | None = None
    records: bool = False
    slice: Slice | None = None
    """The statements that matter; None for all."""
    autocast: list[Region | None] = field(default_factory=list)
    """The autocast regions around the current statement, innermost last; None is off."""
    guards: list[PathCondition] = field(default_factory=list)
    """The conditions around the current expression, outermost first."""
    aside: int = 0
    """How many of them fail in all calls of the body."""
    discarded: ast.expr | None = None
    """The expression of the current statement, if nobody takes its value."""
    returned: Value = BOTTOM
    yielded: Value = BOTTOM
    yielding: list[Region | None] = field(default_factory=list)
    """The autocast regions around what is yielded: those of a context that a generator makes."""
    yields: list[Value] = field(default_factory=list)
    """What the body yields, one by one, as far as it was interpreted."""
    changed: dict[OuterName, Change] = field(default_factory=dict)
    """What calls in the body leave in variables of other scopes."""
    rejections: dict[ast.Call, tuple[Rejection, ...]] = field(default_factory=dict)
    """The calls that certainly reach a layer which rejects what it is given."""
    constructions: list[Environment] = field(default_factory=list)
    """What the constructors of objects were given in the body: the objects may keep it."""
    exits: list[Environment] = field(default_factory=list)
    """What holds where the body returns."""

    left: list[Environment] = field(default_factory=list)
    """What holds where the current loop is left or continued."""
    loops: int = 0
    iterated: list[ast.expr] = field(default_factory=list)
    """What the `for` loops around the current statement iterate over, innermost last."""
    elements: dict[str, list[ast.expr]] = field(default_factory=dict)
    """What the variables of the `for` loops around the current statement stand for, if the loop
    names it: `for part in (self.encoder, self.decoder)`."""
    asked_name: str | None = None
    """The attribute of `self` that is being resolved, where the body assigns by computed names."""
    asked_among: set[str] = field(default_factory=set)
    """The names that a loop takes such an attribute from, if it names them."""
    outer: set[str] = field(default_factory=set)
    """Names that are declared global or nonlocal."""

    @cached_property
    def switches(self) -> Mapping[str, Value]:
        """What the module, or the body, or a function around it sets to `True` or `False` once."""
        found = dict(self.module.switches)
        functions: list[Function] = []
        function = self.function
        while function is not None:
            functions.append(function)
            function = function.enclosing
        for each in reversed(functions):
            found = {name: value for name, value in found.items() if name not in each.scope.own}
            found |= each.scope.switches
        return {name: Constant(value) for name, value in found.items()}

    def leave(self, env: Environment) -> None:
        """`break` or `continue`."""
        self.left.append(env.copy())

    def evaluates(self, node: ast.stmt) -> bool:
        """True if the expressions of a statement matter."""
        return self.slice is None or node in self.slice.evaluated

    def closing_over(self, env: Environment) -> Mapping[str, Value]:
        """What a function that is defined here sees: these variables, and those around them."""
        return (
            env
            if self.closure is None
            else ChainMap(env, cast("MutableMapping[str, Value]", self.closure))
        )

    @property
    def region(self) -> Region | None:
        """The innermost autocast region, if it is on."""
        return self.autocast[-1] if self.autocast else None
