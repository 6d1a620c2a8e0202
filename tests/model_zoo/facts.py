"""The recorded facts: what each expression of a release's files was in each mode."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata, util
from pathlib import Path
from typing import TypeAlias

PATH = Path(__file__).with_name("facts.json.gz")

TORCH = "2.13.0"
TRANSFORMERS = "5.23.0"
"""The releases that the facts are of."""

MODES = ("float32", "bfloat16", "float16", "autocast bfloat16")
"""How the models run: their weights and inputs in this dtype, or in float32 under autocast."""

Result: TypeAlias = "str | tuple[Result | None, ...]"
"""The dtype of a tensor; a tuple with those of its items, None for what is no tensor."""

Span: TypeAlias = tuple[int, int, int, int]
"""First row and column, last row and column, as in `ast`: columns are bytes from 0."""

ByMode: TypeAlias = Mapping[str, frozenset[Result]]


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What occurred in one file; `path` is relative to the package."""

    path: str
    digest: str
    spans: Mapping[Span, ByMode]

    def is_of(self, source: bytes) -> bool:
        """True if this is the source that ran."""
        return sha256(source).hexdigest() == self.digest


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts of one release; `ran` says which architectures ran, and in which modes."""

    ran: Mapping[str, tuple[str, ...]]
    files: tuple[SourceFacts, ...]

    @property
    def count(self) -> int:
        """How many dtypes were seen: by expression and mode."""
        return sum(
            len(results)
            for file in self.files
            for by_mode in file.spans.values()
            for results in by_mode.values()
        )


def save(facts: ModelFacts, path: Path = PATH) -> None:
    """Write the facts; the same facts give the same bytes."""
    results = sorted({*_results(facts)}, key=repr)
    numbers = {result: number for number, result in enumerate(results)}
    tree = {
        "torch": TORCH,
        "transformers": TRANSFORMERS,
        "modes": MODES,
        "ran": facts.ran,
        "results": results,
        "files": {
            file.path: {
                "sha256": file.digest,
                "spans": [
                    [
                        *span,
                        [sorted(numbers[one] for one in by_mode.get(mode, ())) for mode in MODES],
                    ]
                    for span, by_mode in sorted(file.spans.items())
                ],
            }
            for file in facts.files
        },
    }
    text = json.dumps(tree, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def load(path: Path = PATH) -> ModelFacts:
    """Read the facts."""
    tree = json.loads(gzip.decompress(path.read_bytes()))
    results = [_hashable(one) for one in tree["results"]]
    files = []
    for name, file in tree["files"].items():
        spans: dict[Span, ByMode] = {}
        for *span, modes in file["spans"]:
            row, column, end_row, end_column = span
            spans[row, column, end_row, end_column] = {
                mode: frozenset(results[number] for number in numbers)
                for mode, numbers in zip(tree["modes"], modes, strict=True)
                if numbers
            }
        files.append(SourceFacts(name, file["sha256"], spans))
    return ModelFacts({name: tuple(modes) for name, modes in tree["ran"].items()}, tuple(files))


def _results(facts: ModelFacts) -> Iterator[Result]:
    for file in facts.files:
        for by_mode in file.spans.values():
            for results in by_mode.values():
                yield from results


def _hashable(result: object) -> Result:
    return tuple(map(_hashable, result)) if isinstance(result, list) else result  # type: ignore[return-value]


def installed_sources() -> Path | None:
    """The folder of the transformers package, if the installed release is that of the facts."""
    try:
        if metadata.version("transformers") != TRANSFORMERS:
            return None
    except metadata.PackageNotFoundError:
        return None
    spec = util.find_spec("transformers")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent
