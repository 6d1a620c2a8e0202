"""Notes on scalar parameters that are float64 under `torch.compile`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.triton import wording
from precision_lint.facts.triton.dtypes import FLOAT32
from precision_lint.facts.triton.notes.doubles import doubles_in
from precision_lint.facts.triton.notes.floats import shown_to_be_floats
from precision_lint.facts.triton.notes.note import Note
from precision_lint.facts.triton.notes.observer import Observer
from precision_lint.facts.triton.notes.remedies import pin
from precision_lint.facts.triton.notes.runs import Runs
from precision_lint.facts.triton.parameters import values_of
from precision_lint.facts.triton.refusals import CompileError
from precision_lint.facts.triton.rejections import ASSUMPTIONS, Analysis
from precision_lint.facts.triton.values import Tensor
from precision_lint.model.finding import Related
from precision_lint.source.python.nodes import walk


def scalar_notes(runs: Runs) -> Iterator[Note]:
    """A note on each scalar that makes a block float64, or that Triton then refuses."""
    analysis = runs.analysis
    scalars = _float_scalars(analysis)
    if not scalars:
        return
    doubled = {elements: runs.with_doubles(elements, scalars) for elements in ("fp32", "bf16")}
    shown = shown_to_be_floats(analysis.function, analysis.launches)
    shown = shown.union(doubled["fp32"].doubles.factors)
    has_loops = any(isinstance(node, ast.For | ast.While) for node in walk(analysis.function.node))
    refused = [_refused(runs, elements, run) for elements, run in doubled.items()]
    for name in sorted(scalars):
        sights = [
            sight
            for sight in doubled["fp32"].observations.values()
            if sight.kind == "float64" and sight.subject == name
        ]
        both = [found.get(name) for found in refused]
        refusal = both[0] if all(both) else None
        if refusal is None and not sights:
            continue
        # The work of a kernel is in its loops, if it has any: what is outside of them costs little.
        is_costly = any(s.is_repeated for s in sights) or (len(sights) > 1 and not has_loops)
        place = refusal.crossing or refusal.at if refusal else sights[0].place
        yield Note(
            "float64",
            runs.place_of(name),
            name,
            frozenset(ASSUMPTIONS),
            is_shown=name in shown and (refusal is not None or is_costly),
            compiler_message=wording.compiler_message(refusal, analysis.version) if refusal else "",
            related=(Related(analysis.module.text.place(place), "float64 from here on"),),
            remedy=pin(analysis.module, analysis.function, name, is_float=name in shown),
        )


def _float_scalars(analysis: Analysis) -> frozenset[str]:
    """The parameters that are float32 if they are passed by hand."""
    given = values_of(analysis.function, analysis.launches, analysis.usage, "fp32")
    return frozenset(
        name
        for name, value in given.items()
        if isinstance(value, Tensor) and value.dtypes == FLOAT32
    )


def _refused(runs: Runs, elements: str, doubled: Observer) -> dict[str, CompileError]:
    """What Triton certainly refuses only because parameters are float64, by parameter."""
    found: dict[str, CompileError] = {}
    for key, refusal in doubled.refusals.found.items():
        if key in runs.of(elements).refusals.found or refusal.choices:
            continue
        for name in doubles_in(refusal.before) | doubles_in(refusal.after):
            found.setdefault(name, refusal)
    return found
