"""Whether the code of all modules inside a module is seen: those of the project and of torch."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    Constant,
    Dictionary,
    Instance,
    Model,
    OneOf,
    Sequence,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.interpreter.entries import Summary, Table
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.definitions import Class
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.model.regex import regex

_DECIDING = regex(r"float32|float64|\.(?:float|double|to|type)\(|autocast|dtype")
"""What code of a module has to have that returns another dtype than that of its weights."""


class Insides:
    """The modules inside modules of the project."""

    def __init__(self, analysis: Interprocedural, classes: Classes, table: Table) -> None:
        self._analysis = analysis
        self._classes = classes
        self._table = table

    def are_seen(self, module: Instance) -> bool:
        """True if all modules inside return what they compute in the dtype of their weights.

        They are of torch, or of classes of the project that neither cast anything nor open a
        region.
        """
        if self._analysis.is_intraprocedural or not self._classes.is_module(module.definition):
            return False
        key = ("insides", module.definition)
        entry = self._table.entry(key, lambda: Summary(Constant(self._holds_seen(module))))
        return entry.value == Constant(True)

    def _holds_seen(self, module: Instance) -> bool:
        bases = self._classes.bases(module.definition)
        if any(_DECIDING.search(_code(each)) for each in bases):
            return False
        names = dict.fromkeys(name for each in bases for name in each.methods_assigning)
        return all(self._is_seen(module, name) for name in names)

    def _is_seen(self, module: Instance, name: str) -> bool:
        """True for an attribute that holds no module, or modules that are seen."""
        value = self._analysis.instances.attribute(module, name)
        if value is None or isinstance(reading(value), Unknown):
            bases = self._classes.bases(module.definition)
            return not any(f"self.{name}(" in _code(each) for each in bases)
        return self._is_each_seen(value)

    def _is_each_seen(self, value: Value) -> bool:
        match reading(value):
            case Model(is_known=is_known, name=name):
                return is_known or name == "Identity"
            case Instance(definition=definition) as part:
                return not self._classes.is_module(definition) or self.are_seen(part)
            case OneOf(members=members):
                return all(map(self._is_each_seen, members))
            case Sequence(item=item) | Dictionary(item=item):
                return self._is_each_seen(item)
        return True


def _code(definition: Class) -> str:
    """The source of a class."""
    file = definition.module.file
    return file.text[file.span_of(definition.node)]
