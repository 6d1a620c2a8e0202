"""What the parts of the interpreter need of each other: they call each other in a circle.

An expression can be a call, a call is a body, and a body holds expressions. The classes that do the
work implement these protocols, and only those who make them import them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Protocol

from precision_lint.facts.dtypes.calls import CallSite
from precision_lint.facts.dtypes.definitions import Class, Function, Module
from precision_lint.facts.dtypes.environment import Environment
from precision_lint.facts.dtypes.frame import Frame
from precision_lint.facts.dtypes.values import FunctionValue, Instance, Value, Variable
from precision_lint.facts.origin import Setting
from precision_lint.model.finding import Span
from precision_lint.source.text.text import SourceText


class Interprocedural(Protocol):
    """What the whole analysis knows: names, classes, settings, what calls return."""

    default_dtype: str
    cycles: int
    """How often a parameter was needed while it was being worked out."""

    def count(self, frame: Frame) -> None:
        """One more expression is evaluated."""

    def global_name(self, module: Module, name: str, span: Span) -> Value:
        """What a name means at the top level of a module."""
        ...

    def symbol(self, module: Module, name: str) -> Value:
        """What a qualified name means where a module imports it."""
        ...

    def class_named(self, module: Module, name: str) -> Class | None:
        """The class of the project that an annotation or a base names in a module."""
        ...

    def class_attribute(self, definition: Class, name: str) -> Value | None:
        """`Class.name`; None if there is none."""
        ...

    def member(self, instance: Instance, name: str) -> Value | None:
        """`instance.name`; None if the project does not say."""
        ...

    def inherited(self, frame: Frame, name: str, env: Environment) -> Value:
        """`super().name` in a method."""
        ...

    def loads_in_float32(self, name: str) -> bool:
        """True if `from_pretrained` of a class gives float32 whatever the checkpoint holds."""
        ...

    def setting(self, module: Module, path: str) -> Setting | None:
        """What the project's configuration makes of `cfg.training.precision`."""
        ...

    def variable(self, module: Module, name: str) -> Setting | None:
        """What the project makes of an environment variable."""
        ...

    def given_to(self, definition: Function, name: str) -> Value:
        """What the calls seen so far give to a parameter of a lambda."""
        ...

    def enclose(self, definition: Function, env: Environment) -> None:
        """A nested function closes over `env`."""

    def construct(
        self,
        evaluator: Evaluate,
        definition: Class,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Value:
        """An instance of a class of the project."""
        ...

    def call_summary(
        self,
        evaluator: Evaluate,
        routine: FunctionValue,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Value:
        """The result of calling a function of the project."""
        ...

    def record_call(
        self,
        frame: Frame,
        node: ast.Call,
        function: Value,
        receiver: Value,
        given: CallSite,
        env: Environment,
    ) -> None:
        """A call is reported with its facts."""

    def record_open_call(
        self, frame: Frame, node: ast.Call, receiver: Variable, given: CallSite
    ) -> None:
        """A method of an object that is a term is called."""

    def overriding(self, definition: Class, name: str) -> list[Function]:
        """The methods of subclasses for one that a class calls and does not define itself."""

    def record_outside(self, frame: Frame, holder: Value, name: str, value: Value) -> None:
        """`holder.name = value` is reported where `holder` is not `self`."""

    def record_attribute(self, frame: Frame, name: str, value: Value) -> None:
        """`self.name = value` in a method is reported."""


class Evaluate(Protocol):
    """Evaluates the expressions of one frame."""

    frame: Frame
    source: SourceText
    span_of: Callable[[ast.expr], Span]

    @property
    def analysis(self) -> Interprocedural:
        """The analysis that the frame belongs to."""
        ...

    def __call__(self, node: ast.expr | None, env: Environment) -> Value:
        """The value of an expression."""
        ...

    def read(self, node: ast.expr | None, env: Environment) -> Value:
        """The value of an expression as whoever uses it takes it: of one kind."""
        ...

    def spread(self, node: ast.expr, env: Environment) -> Value:
        """An element of a display or an argument; of a starred one, what it yields."""
        ...

    def operate(self, left: Value, right: Value, op: type[ast.operator]) -> Value:
        """The value of a binary operator."""
        ...
