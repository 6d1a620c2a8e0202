"""The modules inside a module: whether the code of all is seen, and the dtype of their weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from re import Pattern

from precision_lint.facts.dtypes.domain.lattice import join_all, join_tensors, reading
from precision_lint.facts.dtypes.domain.values import (
    Constant,
    Dictionary,
    Instance,
    Model,
    OneOf,
    Sequence,
    Tensor,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.interpreter import models
from precision_lint.facts.dtypes.interpreter.entries import Summary, Table
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.definitions import Class
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.model.dtypes import HALF
from precision_lint.model.regex import regex

_DECIDING = regex(r"float32|float64|\.(?:float|double|to|type)\(|autocast|dtype")
"""What code of a module has to have that returns another dtype than that of its weights."""

_HALF_NAMED = regex(r"bfloat16|float16|\.half\(|dtype")
"""What code of a module has to have whose parts are not in float32."""
_CHANGING_WHOLE = regex(
    r"setattr\(|(?:add|register)_(?:module|parameter)\(|self\.(?:to|half|float|bfloat16|apply)\("
)
"""What adds parts that the source does not name, or casts all of them."""
_DEPTH = 3
"""Modules inside of modules whose parts are asked for."""


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

    def with_weights_of_parts(self, module: Instance, added: Iterable[Value]) -> Instance:
        """A module as it is made, with the dtype that its parts give its weights.

        Parts in half precision are of one dtype, or the weights may be anything. `added` are those
        that a function assigns to its attributes.
        """
        weights = module.parameters
        if weights is None or weights.is_open or weights.origin is not None:
            return module
        bases = self._classes.bases(module.definition)
        if not any(_HALF_NAMED.search(_code(each)) for each in bases):
            return module
        if self._analysis.is_intraprocedural:
            return replace(module, parameters=replace(weights, may_be_other=True))
        own = self._of_parts(module, _DEPTH)
        if own is None:
            return module
        further = (one for each in added for one in self._weights_of(each, 0))
        return replace(module, parameters=reduce(join_tensors, further, own))

    def _of_parts(self, module: Instance, depth: int) -> Tensor | None:
        """The dtype of the weights of the parts, if one may be in half precision."""
        if not self._classes.is_module(module.definition):
            return None
        bases = self._classes.bases(module.definition)
        names = dict.fromkeys(name for each in bases for name in each.methods_assigning)
        found = [part for name in names for part in self._weights_under(module, name, depth)]
        whole = join_all(found)
        if not isinstance(whole, Tensor) or not whole.dtypes & HALF:
            return None
        is_whole = self._classes.is_plain(module.definition) and not any(
            _CHANGING_WHOLE.search(_code(each)) for each in bases
        )
        if is_whole and len(whole.dtypes) == 1 and not whole.is_open:
            return whole
        return Tensor(may_be_other=True)

    def _weights_under(self, module: Instance, name: str, depth: int) -> Iterator[Tensor]:
        """The weights of what an attribute holds."""
        value = self._analysis.instances.attribute(module, name)
        bases = self._classes.bases(module.definition)
        match None if value is None else reading(value):
            case None | Unknown():
                used = _used_as_module(name)
                if any(used.search(_code(each)) for each in bases):
                    yield Tensor(may_be_other=True)
            case Tensor() as held:
                if any(name in each.parameters_made for each in bases):
                    yield held
            case known:
                yield from self._weights_of(known, depth)

    def _weights_of(self, value: Value, depth: int) -> Iterator[Tensor]:
        match reading(value):
            case Model() as model:
                if not models.is_weightless(model):
                    yield model.parameters
            case Instance(definition=definition, parameters=made) as part:
                if self._classes.is_module(definition):
                    is_as_made = made is not None and made.origin is None and depth > 0
                    inner = self._of_parts(part, depth - 1) if is_as_made else made
                    yield inner or made or Tensor(may_be_other=True)
            case OneOf(members=members):
                for member in members:
                    yield from self._weights_of(member, depth)
            case Sequence(item=item) | Dictionary(item=item):
                yield from self._weights_of(item, depth)

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


def _used_as_module(name: str) -> Pattern[str]:
    """What uses an attribute as a module, or as a container of some."""
    methods = r"parameters|named_\w+|to|cuda|train|eval|requires_grad_|forward|generate|half|float"
    return re.compile(rf"self\.{name}(?:\(|\[|\.(?:{methods})\()|in self\.{name}\b")


def _code(definition: Class) -> str:
    """The source of a class."""
    file = definition.module.file
    return file.text[file.span_of(definition.node)]
