"""The output of a rule: a finding, its place, and its fix."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from precision_lint.model.frozen import frozen
from precision_lint.model.precision import Precision


class Severity(IntEnum):
    """How bad the mistake is, if the finding is right."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


class Confidence(IntEnum):
    """How sure the linter is: proved; possible and the origin is named; neither."""

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
    """The cell of a place in a notebook, numbered from 1, and its rows in the JSON."""

    number: int
    start: Position
    end: Position


@frozen
class Place:
    """A span of a file, with its rows and columns; those of a cell in a notebook."""

    path: Path
    span: Span
    start: Position
    end: Position
    cell: CellPlace | None = None

    @property
    def in_file(self) -> tuple[Position, Position]:
        """Start and end in the file itself, for programs that do not support cells."""
        return (self.cell.start, self.cell.end) if self.cell else (self.start, self.end)


@frozen
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


@frozen
class Fix:
    """Edits that are applied together or not at all."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


@frozen
class Witness:
    """The setting and its value that a place gives, on which a finding depends."""

    setting: str
    value: str | int | float | bool


@frozen
class Related:
    """A related place of a finding: where bf16 enters, or the contradicting line."""

    place: Place
    message: str
    witness: Witness | None = None
    """The value of a setting that is given there; None if the place gives none."""


@frozen
class Finding:
    """One mistake at one place. `why` says in one line what happens without a fix.

    `precisions` are those of a run in which it happens; none if it happens in any.
    """

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
    precisions: tuple[Precision, ...] = ()

    @property
    def sort_key(self) -> tuple[str, Span, str, str]:
        return (str(self.place.path), self.place.span, self.code, self.message)
