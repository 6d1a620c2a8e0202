"""Arrays and scalars of NumPy that a call certainly raises for, because of their dtype."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import (
    Dictionary,
    NonTensor,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.facts.dtypes.libraries.refusals import REFUSALS, Refusal
from precision_lint.model.frozen import frozen


@frozen
class Refused:
    """A call that raises for an argument, the dtype of this, and the error.

    `is_inside` says that it is a container of what is refused, `inside` are the keys on the way.
    """

    call: Call
    argument: Argument
    dtype: str
    error: str
    is_scalar: bool
    is_inside: bool
    inside: tuple[object, ...]


def refused_array(call: Call) -> Refused | None:
    """What a call is given that it certainly refuses."""
    row = REFUSALS.get(call.function or "")
    if row is None or call.has_stars or any(call.argument(*one) for one in row.unless):
        return None
    for place in row.arguments:
        argument = call.argument(*place)
        if argument is None:
            continue
        found = next(_parts(argument.value, row), None)
        if found is not None:
            dtypes, inside = found
            dtype = min(dtypes)
            error = row.error.format(dtype=dtype)
            is_inside = isinstance(argument.value, Dictionary | Sequence)
            return Refused(call, argument, dtype, error, row.scalars, is_inside, inside)
    return None


def _parts(
    value: Value, row: Refusal, inside: tuple[object, ...] = ()
) -> Iterator[tuple[frozenset[str], tuple[object, ...]]]:
    """The dtypes of what is refused, and where it is."""
    match value:
        case NonTensor(dtypes=dtypes, scalar=scalar):
            if dtypes and dtypes <= row.dtypes and scalar is not (not row.scalars):
                yield dtypes, inside
        case Tensor() if row.tensors and value.must_be(row.dtypes):
            yield value.dtypes, inside
        case Dictionary(items=tuple(items)) if row.scalars:
            for key, each in items:
                yield from _parts(each, row, (*inside, key))
        case Sequence(items=tuple(items)) if row.scalars:
            for each in items:
                yield from _parts(each, row, inside)
        case Sequence(item=item) if row.scalars:
            yield from _parts(item, row, inside)
