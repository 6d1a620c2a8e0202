"""What names mean at the top level of a module: definitions, assigned values, library symbols."""

from __future__ import annotations

import ast

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import join, join_all
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    UNKNOWN,
    ClassObject,
    Dictionary,
    FunctionValue,
    Instance,
    Symbol,
    Value,
)
from precision_lint.facts.dtypes.interpreter.entries import Summary, Table
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program import registries
from precision_lint.facts.dtypes.whole_program.program import Found, Program

_MOST_CHANGING = 8
"""Functions that change one global variable; of more, nothing is known."""

_LONG = 24
"""Rows of a global's value from which it counts as a table."""


class Names:
    """Global names of the modules that a file reaches."""

    def __init__(self, analysis: Interprocedural, program: Program, table: Table) -> None:
        self._analysis = analysis
        self._program = program
        self._table = table
        self._symbols: dict[tuple[Module, str], Value] = {}
        self._classes: dict[tuple[Module, str], Class | None] = {}

    def in_module(self, module: Module, name: str) -> Value:
        """What a name means at the top level of a module."""
        if name in module.imports and name not in module.top:
            return self.imported(module, module.imports[name])
        found = self._program.name(module, name)
        return UNKNOWN if found is None else self._value(found, name)

    def imported(self, module: Module, name: str) -> Value:
        """What a qualified name means where a module imports it: the project's, or a symbol."""
        if self._analysis.is_intraprocedural and not _is_constant(name):
            return Symbol(name)
        key = (module, name)
        if key not in self._symbols:
            found = self._program.find(module, name)
            if found is not None and not isinstance(found.definition, str):
                self._symbols[key] = self._value(found, name)
            elif found is None:
                self._symbols[key] = Symbol(name)
            else:
                return self._value(found, name)
        return self._symbols[key]

    def _value(self, found: Found, name: str) -> Value:
        match found.definition:
            case Function() as definition:
                return FunctionValue(definition)
            case Class() as definition:
                return ClassObject(definition)
            case str(assigned):
                return self._table.entry(
                    ("global", found.module, assigned),
                    lambda: Summary(self._assigned(found.module, assigned)),
                ).value
        return Symbol(name)

    def _assigned(self, module: Module, name: str) -> Value:
        """What a variable holds: after the top level, and after functions that change it."""
        evaluate = Evaluator(self._analysis, Frame(module))
        expressions = module.assignments[name]
        if any(expression is not None and _is_table(expression) for expression in expressions):
            return UNKNOWN
        is_changed_at_top = name in module.changed_at_top
        if is_changed_at_top and not self._analysis.is_intraprocedural:
            found = self._analysis.tracing.left_by_top(module, name)
        else:
            each = [evaluate(one, Environment()) for one in expressions if one is not None]
            found = join_all(each)
        fillers: frozenset[str] = frozenset()
        if isinstance(found, Dictionary) and not self._analysis.is_intraprocedural:
            filled = registries.filled(self._program, module, name, found)
            if filled is not None:
                found, fillers = filled, registries.fillers(module, name)
        changing = [
            (function, rows)
            for function, rows in module.changing.get(name, ())
            if name in function.scope.declared or _changes_in_place(found)
            if function.name.removesuffix(".__init_subclass__") not in fillers
        ]
        found = self._analysis.classes.settled(found)
        if not changing and not is_changed_at_top:
            return registries.filled_by_others(found)
        if self._analysis.is_intraprocedural or len(changing) > _MOST_CHANGING:
            return join(found, UNKNOWN)
        for function, rows in changing:
            self._analysis.tracing.function(function, frozenset(rows))
        return join(found, self._analysis.records.globals.get((module, name), BOTTOM))

    def registered(self, module: Module, name: str, table: Dictionary) -> Value:
        """A variable of the top level with what decorators have put into it."""
        if self._analysis.is_intraprocedural or not registries.fillers(module, name):
            return table
        return registries.as_registered(self._program, module, name, table)

    def class_named(self, module: Module, name: str) -> Class | None:
        """The class of the project that an annotation or a base names in a module."""
        key = (module, name)
        if key not in self._classes:
            self._classes[key] = self._class_named(module, name)
        return self._classes[key]

    def _class_named(self, module: Module, name: str) -> Class | None:
        head, _, rest = name.partition(".")
        qualified = module.imports.get(head)
        if qualified is not None and head not in module.top:
            if self._analysis.is_intraprocedural:
                return None
            found = self._program.find(module, ".".join(filter(None, (qualified, rest))))
        else:
            found = None if rest else self._program.name(module, head)
        definition = None if found is None else found.definition
        return definition if isinstance(definition, Class) else None


def _changes_in_place(value: Value) -> bool:
    """False for an object of the project that is no module: its methods say what they change."""
    return not isinstance(value, Instance) or value.parameters is not None


def _is_constant(name: str) -> bool:
    """True for a qualified name that looks like a constant: it may be a dtype."""
    last = name.rpartition(".")[2]
    return last.isupper() or last.lower().endswith("dtype")


def _is_table(node: ast.expr) -> bool:
    """True for a registry of some length: what it names would all have to be followed."""
    return (node.end_lineno or node.lineno) - node.lineno >= _LONG
