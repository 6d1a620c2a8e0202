"""The optimizers of a file that update weights in half precision, in its run as a program as well.

A function that only some callers give such weights gets them in that run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from precision_lint.facts.amp.optimizers import parameters_of
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.numerics.half_updates import HalfUpdate, half_updates
from precision_lint.facts.numerics.program import calls_of_program


def all_half_updates(calls: Sequence[Call], file: PythonFile) -> Iterator[HalfUpdate]:
    """What the calls of a file show, and then what its run shows beside that."""
    found = [*half_updates(calls, file)]
    yield from found
    known = {update.call.span for update in found}
    if all(parameters_of(call) is None or call.span in known for call in calls):
        return
    for update in half_updates(calls_of_program(file), file):
        if update.is_certain and update.call.span not in known:
            known.add(update.call.span)
            yield update
