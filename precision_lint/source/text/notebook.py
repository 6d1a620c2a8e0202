"""A notebook as one text: its code cells in their order, with blank lines between them.

Rules see that text. A place in it is a cell and a row of the cell, and an edit of it becomes one of
the JSON that changes nothing else there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath

from precision_lint.model.finding import CellPlace, Edit, Place, Position, Span, apply_edits
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project.discovery import Kind, kind_of
from precision_lint.source.text.masking import Mask
from precision_lint.source.text.notebook_cells import CodeCell, code_cells
from precision_lint.source.text.notebook_magics import (
    CellMagic,
    Escape,
    cell_magic,
    escapes,
    is_typed_magic,
    without_escapes,
)
from precision_lint.source.text.text import CellEdits, SourceText

_BETWEEN = "\n\n"
"""The end of a cell's last line, and a blank line, so that a comment is in no line above it."""

_PYTHON = frozenset({"python", "python3", "ipython"})
_SHELLS = frozenset({"bash", "sh", "shell", "shellscript", "zsh"})
_UNREAD = regex(r"(?:[ \t]*[\r\n])*(?:[ \t]+[^\s#]|[ \t]*(?:>>>|In \[\d*\]:|@\w+[ \t]*\{))")
"""What starts so is left alone: IPython takes off indentation and prompts, and `@article{` begins a
citation in BibTeX."""


@frozen
class Cell:
    """A code cell, and where it is in the text of its notebook."""

    json: CodeCell
    span: Span
    magic: CellMagic | None
    kind: Kind | None
    """What is read of it: Python, a script, the file that it writes, nothing."""

    @property
    def number(self) -> int:
        return self.json.number

    @property
    def body(self) -> Span:
        """All of it but its magic."""
        return Span(self.span.start + (self.magic.body if self.magic else 0), self.span.end)


@frozen(slots=False)
class NotebookText(SourceText):
    """The code of a notebook as a text; its bytes are those of the JSON."""

    json: SourceText = field(kw_only=True, repr=False)
    cells: tuple[Cell, ...] = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def read(cls, json: SourceText) -> NotebookText:
        """The notebook that a JSON text is.

        Raises:
            Unparsable: it is none.
        """
        cells, pieces, start = [], [], 0
        for cell in code_cells(json):
            source = cell.source.text
            magic = cell_magic(source)
            span = Span(start, start + len(source))
            cells.append(Cell(cell, span, magic, _kind(cell.language, source, magic)))
            pieces += [source, _BETWEEN]
            start = span.end + len(_BETWEEN)
        return cls(json.path, "".join(pieces), json=json, cells=tuple(cells))

    def to_bytes(self) -> bytes:
        return self.json.to_bytes()

    def with_text(self, text: str) -> SourceText:
        """Another text at the offsets of this one: what a parser shall see of it."""
        return SourceText(self.path, text)

    # Python

    @cached_property
    def code(self) -> str:
        """The text as Python: names for what IPython replaces, blanks for what is no Python."""
        return Mask(self.text).replacing(
            (cell.body, self._code(cell)) for cell in self.cells if cell.kind == "python"
        )

    def _code(self, cell: Cell) -> str:
        return without_escapes(self[cell.body])

    @cached_property
    def escapes(self) -> dict[int, tuple[Escape, ...]]:
        """The lines of IPython in Python cells, by the number of the cell."""
        return {
            cell.number: tuple(escape.moved(cell.body.start) for escape in escapes(self[cell.body]))
            for cell in self.cells
            if cell.kind == "python"
        }

    @property
    def foreign(self) -> Iterator[tuple[Span, Kind]]:
        """What is not Python, and what it is instead."""
        for cell in self.cells:
            if cell.kind == "python":
                yield from ((escape.span, "shell") for escape in self.escapes[cell.number])
            elif cell.kind is not None:
                yield cell.body, cell.kind

    # Places

    def place(self, span: Span) -> Place:
        if not self.cells:
            return self.json.place(Span(0, 0))
        cell = self._cell_at(span.start)
        within = [min(offset, cell.span.end + 1) for offset in span]
        start, end = (self._in_cell(cell, offset) for offset in within)
        in_json = (self._in_json(cell, offset) for offset in within)
        return Place(self.path, span, start, end, CellPlace(cell.number, *in_json))

    def around(self, place: Place) -> SourceText:
        if place.cell is None:
            return self
        return self._text_of(self._cell_at(place.span.start))

    def _text_of(self, cell: Cell) -> SourceText:
        """The rows of a cell, the last one with its end."""
        return SourceText(self.path, self.text[cell.span.start : cell.span.end + 1])

    @cached_property
    def _starts(self) -> list[int]:
        return [cell.span.start for cell in self.cells]

    def _cell_at(self, offset: int) -> Cell:
        """The cell of an offset; what stands between two belongs to the first of them."""
        return self.cells[max(0, bisect_right(self._starts, offset) - 1)]

    def _in_cell(self, cell: Cell, offset: int) -> Position:
        row, column = self.position(offset)
        return Position(row - self.row(cell.span.start) + 1, column)

    def _in_json(self, cell: Cell, offset: int) -> Position:
        inside = min(offset, cell.span.end) - cell.span.start
        return self.json.position(cell.json.source.offset(self.json.text, inside))

    @property
    def shown(self) -> list[tuple[bytes, bytes]]:
        return [(b":cell %d" % cell.number, self._text_of(cell).to_bytes()) for cell in self.cells]

    # Edits

    def takes(self, edits: Iterable[Edit]) -> bool:
        return self._local(edits) is not None

    def edited(self, edits: Iterable[Edit]) -> NotebookText:
        json, changes = self.in_file(edits)
        return self.read(json.with_text(apply_edits(json.text, changes)))

    def by_cell(self, edits: Iterable[Edit]) -> list[CellEdits]:
        return [
            CellEdits(cell.number, self._text_of(cell), local)
            for cell, local in self._local(edits) or ()
        ]

    def in_file(self, edits: Iterable[Edit]) -> tuple[SourceText, list[Edit]]:
        json = self.json.text
        found = self._local(edits) or ()
        return self.json, [cell.json.source.edit(json, local) for cell, local in found]

    def _local(self, edits: Iterable[Edit]) -> list[tuple[Cell, list[Edit]]] | None:
        """The edits with the offsets of their cells; None if one reaches beyond what may change."""
        found: dict[int, tuple[Cell, list[Edit]]] = {}
        for edit in sorted(edits, key=lambda edit: edit.span):
            if not self.cells:
                return None
            cell = self._cell_at(edit.span.start)
            local = _at_end_of(cell, edit, self[cell.span])
            if cell.kind is None or edit.span.start < cell.body.start or local is None:
                return None
            found.setdefault(cell.number, (cell, []))[1].append(local)
        for _, changes in found.values():
            if any(one.span.end > other.span.start for one, other in pairwise(changes)):
                return None
        return list(found.values())


def _at_end_of(cell: Cell, edit: Edit, text: str) -> Edit | None:
    """An edit with the offsets of its cell, whose last line has no end; None if that cannot be.

    A line that goes takes the line end in front of it instead, one that comes brings its own.
    """
    start, end = edit.span.start - cell.span.start, edit.span.end - cell.span.start
    if end <= len(text):
        return Edit(Span(start, end), edit.content)
    if end > len(text) + 1:
        return None
    if edit.content.endswith("\n"):
        content = edit.content.removesuffix("\n").removesuffix("\r")
        if start > len(text) and text:
            content = ("\r\n" if "\r\n" in text else "\n") + content
        return Edit(Span(min(start, len(text)), len(text)), content)
    if edit.content:
        return None
    before = text[:start]
    above = before.removesuffix("\n").removesuffix("\r")
    return Edit(Span(len(above), len(text)), "") if above != before or not before else None


def _kind(language: str, source: str, magic: CellMagic | None) -> Kind | None:
    if magic is None and language in _SHELLS:
        return "shell"
    if magic is None or magic.is_python:
        is_read = language in _PYTHON and not _UNREAD.match(source) and not is_typed_magic(source)
        return "python" if is_read else None
    if magic.is_shell:
        return "shell"
    kind = kind_of(PurePosixPath(magic.file), markdown=False) if magic.file else None
    return None if kind in ("python", "notebook") else kind
