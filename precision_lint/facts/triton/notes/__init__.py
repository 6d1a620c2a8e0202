"""What compiles in a kernel and still goes wrong.

`observer` evaluates a kernel (`scene` knows where it is) and tells what happens to those who watch
for one subject each: `sums`, `offsets`, `updates`, `doubles`, `numbers`, `tf32`. What they see are
`sights`; `sighted` and `scalars` make notes of them, out of several `runs`.
"""

from __future__ import annotations

from contextlib import suppress

from precision_lint.facts.triton.interpreter import TooLong
from precision_lint.facts.triton.notes.note import Note, Notes
from precision_lint.facts.triton.notes.runs import NARROWEST, Runs
from precision_lint.facts.triton.notes.scalars import scalar_notes
from precision_lint.facts.triton.notes.sighted import observation_notes
from precision_lint.facts.triton.notes.sights import Kind
from precision_lint.facts.triton.rejections import Analysis

__all__ = ["Kind", "Note", "Notes", "notes_of"]


def notes_of(analysis: Analysis) -> Notes:
    """The notes of a kernel whose parameters an analysis knows."""
    with suppress(TooLong):
        runs = Runs(analysis)
        found = sorted([*observation_notes(runs), *scalar_notes(runs)], key=lambda note: note.span)
        return Notes(tuple(found), frozenset(runs.of(NARROWEST).offsets.wide))
    return Notes()
