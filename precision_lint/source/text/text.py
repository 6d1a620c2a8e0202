"""The decoded text of one file, and the arithmetic between offsets, rows and columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from precision_lint.model.finding import Edit, Place, Position, Span, apply_edits
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

_LINE_END = regex(r"\r\n|\r|\n")
_UTF8_BOM = b"\xef\xbb\xbf"


class CellEdits(NamedTuple):
    """The edits of one cell of a notebook, at the offsets of its text; else those of a file."""

    cell: int | None
    text: SourceText
    edits: list[Edit]


@frozen(slots=False)
class SourceText:
    """A file as text. Encoding it again gives back the bytes that were read, BOM included.

    Line ends are kept as they are; a row ends at `\\n`, `\\r\\n` or `\\r` and nowhere else (not at
    a form feed), as Python, YAML, TOML and editors agree.
    """

    path: Path
    text: str
    encoding: str = "utf-8"
    bom: bytes = field(default=b"", repr=False)

    @classmethod
    def from_bytes(cls, path: Path, content: bytes, encoding: str = "utf-8") -> SourceText:
        """Decode `content`.

        Raises:
            UnicodeDecodeError: the bytes are not valid in `encoding`.
            LookupError: there is no such encoding.
        """
        bom = _UTF8_BOM if content.startswith(_UTF8_BOM) else b""
        return cls(path, content[len(bom) :].decode(encoding), encoding, bom)

    def to_bytes(self) -> bytes:
        return self.bom + self.text.encode(self.encoding)

    def encodes_to(self, content: bytes) -> bool:
        """True if encoding gives back the bytes that were decoded: some codecs lose a little."""
        try:
            return self.to_bytes() == content
        except UnicodeError:
            return False

    def with_text(self, text: str) -> SourceText:
        return SourceText(self.path, text, self.encoding, self.bom)

    @property
    def code(self) -> str:
        """What Python's parser shall see, at the same offsets; all of it but in notebooks."""
        return self.text

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first character of every row."""
        if "\r" not in self.text:
            ends = accumulate(map(len, self.text.split("\n")[:-1]))
            return [0, *[end + row for row, end in enumerate(ends, 1)]]
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def line(self, row: int) -> str:
        """The text of a row (from 1), without its line end."""
        start = self.line_starts[row - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def line_span(self, row: int) -> Span:
        """The span of a row (from 1), its line end included."""
        return self.span_of_rows(row, row)

    def span_of_rows(self, first: int, last: int) -> Span:
        """The span of some rows (from 1), the last one included."""
        starts = self.line_starts
        return Span(starts[first - 1], starts[last] if last < len(starts) else len(self.text))

    @property
    def newline(self) -> str:
        """The line end of the first row, for text that is inserted."""
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    def row(self, offset: int) -> int:
        """The row (from 1) that an offset stands in."""
        return bisect_right(self.line_starts, offset)

    def position(self, offset: int) -> Position:
        row = self.row(offset)
        return Position(row, offset - self.line_starts[row - 1] + 1)

    def offset(self, row: int, column: int) -> int:
        """The offset of a row and a column, both from 1."""
        return self.line_starts[row - 1] + column - 1

    def offset_of_utf8(self, row: int, byte_column: int) -> int:
        """The offset of a row (from 1) and a column in UTF-8 bytes (from 0), as `ast` counts."""
        start = self.line_starts[row - 1]
        if self.is_ascii or self.code[start : start + byte_column].isascii():
            return start + byte_column
        span = self.line_span(row)
        prefix = self.code[span.start : span.end].encode("utf-8", "surrogatepass")[:byte_column]
        return start + len(prefix.decode("utf-8", "surrogatepass"))

    @cached_property
    def is_ascii(self) -> bool:
        return self.code.isascii()

    def place(self, span: Span) -> Place:
        """A span as it is reported: in a notebook with the rows of its cell."""
        return Place(self.path, span, self.position(span.start), self.position(span.end))

    def around(self, place: Place) -> SourceText:
        """The text whose rows a place counts."""
        return self

    def takes(self, edits: Iterable[Edit]) -> bool:
        """True if the file can be edited so; not across the cells of a notebook."""
        return True

    def edited(self, edits: Iterable[Edit]) -> SourceText:
        """The file after edits that it takes."""
        return self.with_text(apply_edits(self.text, edits))

    def by_cell(self, edits: Iterable[Edit]) -> list[CellEdits]:
        """The edits as they are shown, a cell at a time."""
        return [CellEdits(None, self, list(edits))]

    def in_file(self, edits: Iterable[Edit]) -> tuple[SourceText, list[Edit]]:
        """The text of the file itself, and the edits of that."""
        return self, list(edits)

    @property
    def shown(self) -> list[tuple[bytes, bytes]]:
        """What people look at: the bytes of the file, or the cells of a notebook by their names."""
        return [(b"", self.to_bytes())]

    def __getitem__(self, span: Span) -> str:
        return self.text[span.start : span.end]


def decode_python(path: Path, content: bytes) -> SourceText:
    """Decode a Python file by its encoding cookie.

    Raises:
        UnicodeError, LookupError: the bytes are not text in that encoding.
    """
    encoding = "utf-8"
    if any(b"coding" in line for line in content.split(b"\n", 2)[:2]):
        import io
        import tokenize

        try:
            encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        except SyntaxError as error:
            raise LookupError(error.msg) from error
        encoding = encoding.removesuffix("-sig")
    return SourceText.from_bytes(path, content, encoding)
