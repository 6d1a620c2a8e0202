"""Which arguments of a call become arrays of NumPy: the rows of the tables of sinks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Dictionary,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.model.frozen import frozen


@frozen
class Sink:
    """What a call turns into arrays: its `receiver`, or arguments by position and keyword.

    None is any of them. Converted are `tensors` as they are, those in `lists`, and the values of
    `mappings`; `scalars` says whether a tensor without dimensions counts, too. `array` says what
    the call makes of an array in the tensor's place: the same, another result (a ufunc gives a
    tensor back for a tensor, scikit-learn computes in float64 for one, seaborn writes its name on
    an axis), or something else (an image with its channels last, an error).
    """

    positions: frozenset[int] | None = None
    keywords: frozenset[str] | None = None
    receiver: bool = False
    tensors: bool = True
    lists: bool = True
    mappings: bool = False
    scalars: bool = True
    array: Literal["same", "another result", "something else"] = "same"

    def converted(self, call: Call) -> Iterator[Argument]:
        """The receiver or the arguments that become arrays, reduced to their tensors."""
        for name, argument in self._taken(call):
            of = replace(self, mappings=True) if name == "**" else self
            yield replace(argument, value=of._tensors_of(argument.value))

    def taken(self, call: Call) -> list[Value]:
        """The receiver or the arguments that become arrays if they are tensors."""
        return [argument.value for _, argument in self._taken(call)]

    def _taken(self, call: Call) -> Iterator[tuple[str | None, Argument]]:
        """The receiver or the arguments that become arrays, those by keyword with its name."""
        if self.receiver:
            if call.receiver_span is not None:
                yield None, Argument(call.receiver, call.receiver_span)
            return
        for position, argument in enumerate(call.arguments):
            if argument.starred:
                break  # what follows it has no known position
            if self.positions is None or position in self.positions:
                yield None, argument
        for name, argument in call.keywords.items():
            if self.keywords is None or name in self.keywords:
                yield name, argument

    def _tensors_of(self, value: Value) -> Value:
        """The value, with nothing known of those parts that do not become arrays.

        A `ModelOutput` may be an image, an array or JSON as well as a tensor: NumPy takes those.
        """
        match value:
            case Tensor(scalar=scalar) if self.tensors and (self.scalars or not scalar):
                return value
            case Sequence(item=item, items=items) if self.lists:
                inner = replace(self, tensors=True)
                return Sequence(
                    inner._tensors_of(item),
                    None if items is None else tuple(map(inner._tensors_of, items)),
                )
            case Dictionary(item=item, items=items) if self.mappings:
                return Dictionary(
                    self._tensors_of(item),
                    None
                    if items is None
                    else tuple((key, self._tensors_of(held)) for key, held in items),
                )
        return UNKNOWN


Sinks = tuple[tuple[str, Sink, str], ...]
"""A module or class, what its functions or methods convert, and their names."""

ARRAY = Sink()
ANOTHER = Sink(array="another result")
