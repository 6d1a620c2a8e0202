"""The record of what happened when one cast was removed from real model code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from tests.model_zoo.facts import MODES, TORCH, TRANSFORMERS, Span

PATH = Path(__file__).with_name("mutants.json")

LOW = tuple(mode for mode in MODES if mode != "float32")
"""The modes with half precision."""

HALF_WEIGHTS = frozenset({"bfloat16", "float16"})
"""Those with weights in half precision; a machine that is too slow leaves some of them out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run without the cast did that the run with it does not."""

    kind: str
    """`same`, `raises`, `non-finite`, `promotes` or `narrows`: a later result has a wider or a
    narrower dtype."""
    error: str = ""
    """Type and message of what it raises."""
    row: int | None = None
    """Where the file raises, as a row of the file with the cast."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file without one cast, and what its runs did by mode."""

    model: str
    path: str
    kind: str
    removed: Span
    inserted: str
    outcomes: Mapping[str, Outcome]

    @property
    def raising(self) -> Outcome | None:
        """The first error that only half precision has: float32 runs."""
        if self.outcomes["float32"].kind == "raises":
            return None
        return next((one for one in map(self.outcomes.get, LOW) if one and one.error), None)

    @property
    def label(self) -> str:
        """The worst that happens in half precision, or why nobody knows."""
        if self.outcomes["float32"].kind == "raises":
            return "raises in float32"
        kinds = {self.outcomes[mode].kind for mode in LOW if mode in self.outcomes}
        if "raises" not in kinds and self.outcomes.keys().isdisjoint(HALF_WEIGHTS):
            return "not run in half"
        order = ("raises", "non-finite", "promotes", "narrows", "same")
        return next((kind for kind in order if kind in kinds), "same")


@dataclass(frozen=True, slots=True)
class Record:
    """The mutants of one release, and the digests of the files that they are made from."""

    mutants: tuple[Mutant, ...]
    digests: Mapping[str, str]

    def by_file(self) -> Iterator[tuple[str, list[Mutant]]]:
        """The mutants of each file, in order."""
        for path in self.digests:
            yield path, [each for each in self.mutants if each.path == path]


def save(record: Record, path: Path = PATH) -> None:
    """Write the record, one mutant a line."""
    errors = sorted({one.error for each in record.mutants for one in each.outcomes.values()})
    head = {
        "torch": TORCH,
        "transformers": TRANSFORMERS,
        "modes": MODES,
        "errors": errors,
        "files": record.digests,
    }
    files = [*record.digests]
    rows = [
        json.dumps(
            [
                each.model,
                files.index(each.path),
                each.kind,
                each.removed,
                each.inserted,
                [_packed(each.outcomes.get(mode), errors) for mode in MODES],
            ],
            separators=(",", ":"),
        )
        for each in record.mutants
    ]
    body = ",\n".join(rows)
    path.write_text(f'{json.dumps(head, indent=1)[:-2]},\n "mutants": [\n{body}\n]}}\n', "utf-8")


def load(path: Path = PATH) -> Record:
    """Read the record."""
    tree = json.loads(path.read_text("utf-8"))
    files, errors = [*tree["files"]], tree["errors"]
    mutants = []
    for model, file, kind, removed, inserted, outcomes in tree["mutants"]:
        by_mode = {
            mode: Outcome(packed[0], errors[packed[1]], packed[2])
            if len(packed) > 1
            else Outcome(packed[0])
            for mode, packed in zip(tree["modes"], outcomes, strict=True)
            if packed
        }
        mutants.append(Mutant(model, files[file], kind, tuple(removed), inserted, by_mode))
    return Record(tuple(mutants), tree["files"])


def packed_outcomes(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Outcomes as JSON."""
    return {mode: astuple(each) for mode, each in outcomes.items()}


def unpacked(tree: Any) -> Mutant:
    """A mutant from what a process that ran it says."""
    model, path, kind, removed, inserted, outcomes = tree
    by_mode = {mode: Outcome(*each) for mode, each in outcomes.items()}
    return Mutant(model, path, kind, tuple(removed), inserted, by_mode)


def _packed(outcome: Outcome | None, errors: list[str]) -> list[object] | None:
    if outcome is None:
        return None
    if not outcome.error:
        return [outcome.kind]
    return [outcome.kind, errors.index(outcome.error), outcome.row]
