"""The evaluations of a kernel that notes are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from precision_lint.facts.triton.dtypes import INDEX
from precision_lint.facts.triton.expressions import Patches
from precision_lint.facts.triton.notes.doubles import as_double
from precision_lint.facts.triton.notes.observer import Observer
from precision_lint.facts.triton.notes.remedies import Change
from precision_lint.facts.triton.parameters import values_of
from precision_lint.facts.triton.rejections import Analysis
from precision_lint.facts.triton.remedies import Remedy
from precision_lint.facts.triton.values import Tensor, Value
from precision_lint.model.finding import Span

NARROWEST = "fp16"
"""What is computed in bf16 in some version of Triton is computed in fp16 in all of them."""


@dataclass(slots=True)
class Runs:
    """The evaluations of one kernel, by what its pointers point to."""

    analysis: Analysis
    _plain: dict[str, Observer] = field(default_factory=dict)
    _treated: dict[tuple[str, Remedy], Observer] = field(default_factory=dict)

    def of(self, elements: str) -> Observer:
        """The kernel as it is."""
        if elements not in self._plain:
            self._plain[elements] = self._observed(self._parameters(elements))
        return self._plain[elements]

    def treated(self, elements: str, change: Change) -> Observer:
        """The kernel with a remedy."""
        key = elements, change.remedy
        if key not in self._treated:
            self._treated[key] = self._observed(self._parameters(elements), change.patches)
        return self._treated[key]

    def with_doubles(self, elements: str, names: Iterable[str]) -> Observer:
        """The kernel if these scalars are float64."""
        parameters = self._parameters(elements)
        for name in names:
            value = parameters[name]
            assert isinstance(value, Tensor)
            parameters[name] = as_double(value, name, self.place_of(name))
        return self._observed(parameters)

    def place_of(self, name: str) -> Span:
        """Where a parameter is declared."""
        function = self.analysis.function
        (argument,) = (one for one in function.parameters if one.arg == name)
        return self.analysis.module.span(argument)

    def _parameters(self, elements: str) -> dict[str, Value]:
        """Sizes and strides are below 2^31: what is int64 then is so for a reason."""
        analysis = self.analysis
        given = values_of(analysis.function, analysis.launches, analysis.usage, elements)
        return {name: _narrowed(value) for name, value in given.items()}

    def _observed(self, parameters: dict[str, Value], patches: Patches | None = None) -> Observer:
        observer = Observer(self.analysis.function, self.analysis.version, patches)
        observer.run(self.analysis.function, parameters)
        return observer


def _narrowed(value: Value) -> Value:
    """A run-time integer of either width as int32."""
    if isinstance(value, Tensor) and value.dtypes >= INDEX:
        return replace(value, dtypes=value.dtypes - {"int64"})
    return value
