"""What the parts of the interpreter need of each other: they call each other in a circle.

An expression can be a call, a call is a body, and a body holds expressions. The classes that do the
work implement these protocols, and only those who make them import them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Protocol

from precision_lint.facts.dtypes.domain.calls import CallSite, Region
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import Dictionary, FunctionValue, Instance, Value
from precision_lint.facts.dtypes.interpreter.budget import Budget
from precision_lint.facts.dtypes.interpreter.closures import Closures
from precision_lint.facts.dtypes.interpreter.configuration import Configuration
from precision_lint.facts.dtypes.interpreter.entries import Summary
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.records import Records
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.origin import Origin
from precision_lint.model.finding import Span
from precision_lint.source.text.text import SourceText


class Names(Protocol):
    """What names mean (`names`)."""

    def in_module(self, module: Module, name: str) -> Value:
        """What a name means at the top level of a module."""
        ...

    def imported(self, module: Module, name: str) -> Value:
        """What a qualified name means where a module imports it."""
        ...

    def registered(self, module: Module, name: str, table: Dictionary) -> Value:
        """A variable of the top level with what decorators have put into it."""
        ...

    def class_named(self, module: Module, name: str) -> Class | None:
        """The class of the project that an annotation or a base names in a module."""
        ...


class Classes(Protocol):
    """What the classes of the project hold (`classes`)."""

    def loaded(self, definition: Class) -> Origin | None:
        """The class, if it has a `from_pretrained` whose caller chooses the dtype of weights."""
        ...

    def inherited(self, frame: Frame, name: str, env: Environment) -> Value:
        """`super().name` in a method."""
        ...

    def derives_from(self, definition: Class, name: str) -> bool:
        """True if a class of this name is among the bases, in the project or out of it."""
        ...

    def is_record(self, definition: Class) -> bool:
        """True for what is made from its fields."""
        ...

    def fields(self, definition: Class) -> tuple[str, ...]:
        """The names of the fields of a record, in order."""
        ...

    def changed_by(self, definition: Class, method: Function) -> frozenset[str]:
        """The attributes of an object that a method may assign, or methods that it names."""
        ...

    def settled(self, made: Value) -> Value:
        """An object of which nobody knows which methods were called."""
        ...

    def has_weights(self, definition: Class) -> bool:
        """True for a module of torch, and for a class that loads one from a checkpoint."""
        ...

    def forward_outside(self, definition: Class) -> frozenset[str]:
        """The classes of libraries whose `forward` an object runs; empty if a class here has it."""
        ...


class Instances(Protocol):
    """What the objects of these classes hold (`instances`)."""

    def made(
        self,
        frame: Frame,
        definition: Class,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Instance:
        """What a call of a class makes; `env` takes what the call changes."""
        ...

    def attribute(self, instance: Instance, name: str) -> Value | None:
        """`instance.name`; None if the project does not say."""
        ...

    def of_class(self, definition: Class, name: str) -> Value | None:
        """`Class.name`; None if there is none."""
        ...

    def overriding(self, instance: Instance, name: str) -> list[FunctionValue]:
        """The methods of subclasses for one that a class calls and does not define itself."""
        ...


class Insides(Protocol):
    """What modules of the project hold (`insides`)."""

    def are_seen(self, module: Instance) -> bool:
        """True if all modules inside return what they compute in the dtype of their weights."""
        ...

    def with_weights_of_parts(self, module: Instance, added: Iterable[Value]) -> Instance:
        """The module as it is made, with the dtype that its parts give its weights."""
        ...


class Summaries(Protocol):
    """What the functions of the project return (`summaries`)."""

    def summary(
        self,
        frame: Frame,
        routine: FunctionValue,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Summary:
        """What a call does; `env` takes what it changes."""
        ...

    def result(self, routine: FunctionValue, given: Environment, region: Region | None) -> Summary:
        """What a function returns for arguments like these."""
        ...


class Callers(Protocol):
    """What callers give to parameters (`callers`)."""

    cycles: int
    """How often a parameter was needed while it was being worked out."""


class Files(Protocol):
    """What programs write into files (`files`)."""

    def holding_bfloat16(self, name: str, reader: Module) -> Value | None:
        """What is in a file of a name if it can be bfloat16."""
        ...


class Tracing(Protocol):
    """Interprets bodies for what is at some of their rows (`tracing`)."""

    def function(self, definition: Function, rows: frozenset[int]) -> None:
        """Interpret a function with what its callers give it."""
        ...

    def left_by_top(self, module: Module, name: str) -> Value:
        """What the top level of a module leaves in one of its variables."""
        ...


class Reaching(Protocol):
    """What the calls of functions decide (`reaching`)."""

    def holds(self, definition: Function, test: ast.expr) -> bool | None:
        """Whether a condition holds with all that is given; None if it may do both."""
        ...


class Interprocedural(Protocol):
    """What the evaluation of an expression can ask of everything around it (`interpretation`)."""

    default_dtype: str
    """What `torch.zeros(2)` makes."""
    is_intraprocedural: bool
    """Bodies are interpreted by themselves: no call, class or import is followed."""
    is_half_run: bool
    """This is the run of a model whose weights are loaded in half precision (see `half_run`)."""
    is_program_run: bool
    """This is the run of the file as a program: all of its statements count (see `program_run`)."""
    budget: Budget
    records: Records
    configuration: Configuration
    closures: Closures
    """What nested functions close over: all that is known where they are defined, and later."""

    @property
    def names(self) -> Names: ...

    @property
    def classes(self) -> Classes: ...

    @property
    def instances(self) -> Instances: ...

    @property
    def insides(self) -> Insides: ...

    @property
    def summaries(self) -> Summaries: ...

    @property
    def callers(self) -> Callers: ...

    @property
    def files(self) -> Files: ...

    @property
    def tracing(self) -> Tracing: ...

    @property
    def reaching(self) -> Reaching: ...


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

    def operation(self, node: ast.BinOp | ast.AugAssign, left: Value, right: Value) -> Value:
        """The value of an operator with its operands; a term where one of them is one."""
        ...

    def operate(self, left: Value, right: Value, op: type[ast.operator]) -> Value:
        """The value of a binary operator."""
        ...
