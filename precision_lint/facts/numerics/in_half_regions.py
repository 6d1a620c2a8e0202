"""Calls that run under autocast because a program of another file opens the region."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.facts.amp.regions.half_regions import half_regions
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.interpreter.asked import Worth
from precision_lint.model.dtypes import BFLOAT16, FLOAT16


def calls_in_other_regions(names: frozenset[str], worth: Worth, file: PythonFile) -> Iterator[Call]:
    """The calls that are in such a region, and in none that their own file opens or closes."""
    regions = half_regions(file)
    region = regions.get(BFLOAT16) or regions.get(FLOAT16)
    if region is None:
        return
    own = {call.span for call in calls_in(file, names, worth=worth) if call.autocast is not None}
    for call in calls_in(file, names, worth=worth, around=region):
        if call.autocast == region and call.span not in own:
            yield call
