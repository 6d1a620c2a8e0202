"""What a rule says: a finding, where it is, and the fix that goes with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple


class Severity(IntEnum):
    """How bad it is when the finding is right."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


class Confidence(IntEnum):
    """How sure we are: proved; chosen at run time where the project uses bf16; neither."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    def __str__(self) -> str:
        return self.name.lower()


class Applicability(IntEnum):
    """Whether `--fix` (SAFE) or only `--unsafe-fixes` (UNSAFE) applies a fix; DISPLAY is shown."""

    DISPLAY = 1
    UNSAFE = 2
    SAFE = 3

    def __str__(self) -> str:
        return self.name.lower()


class Span(NamedTuple):
    """Half-open range of character offsets into the decoded text of one file, BOM excluded."""

    start: int
    end: int


class Position(NamedTuple):
    """Row and column, both from 1, columns in characters."""

    row: int
    column: int


class CellPlace(NamedTuple):
    """Where a place of a notebook is: its cell, by a number from 1, and its rows in the JSON."""

    number: int
    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Place:
    """A span of a file, with its rows and columns; those of a cell in a notebook."""

    path: Path
    span: Span
    start: Position
    end: Position
    cell: CellPlace | None = None

    @property
    def in_file(self) -> tuple[Position, Position]:
        """Where it starts and ends in the file itself, as programs count that know no cells."""
        return (self.cell.start, self.cell.end) if self.cell else (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `span` by `content`; an empty span inserts, an empty content deletes."""

    span: Span
    content: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit applied; edits must not overlap."""
    parts, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[end : edit.span.start], edit.content]
        end = edit.span.end
    return "".join([*parts, text[end:]])


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together: all are applied, or none."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """The other half of a finding: where bf16 enters, the line that contradicts."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake at one place. `why` is the single line on what happens if it stays."""

    code: str
    name: str
    message: str
    severity: Severity
    confidence: Confidence
    place: Place
    why: str = ""
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    noqa_row: int = 0

    @property
    def sort_key(self) -> tuple[str, Span, str, str]:
        return (str(self.place.path), self.place.span, self.code, self.message)
