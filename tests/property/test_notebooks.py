"""Notebooks in random styles of JSON: an edit changes the characters that are meant, no other."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Applicability, Edit, Span
from precision_lint.project.files import Project
from precision_lint.source.text.notebook import NotebookText
from precision_lint.source.text.text import SourceText
from tests.cli.running import BAD, FIXED

BROKEN_LINE = "array = scores.numpy()"
FIXED_LINE = "array = scores.float().numpy()"
PATH = Path("/nowhere/a.ipynb")

Spot = tuple[int, int]
"""A character of a source: the index of its cell among all, and its offset."""

LINES = st.sampled_from(
    [
        "",
        "x = 1",
        "s = 'é'",
        't = "\\"/😀"',
        "# ünn",
        "!ls -l {x}",
        "y = !ls",
        "%env A=b",
        "z?",
        "    ",
    ]
)
TEXTS = st.lists(LINES, max_size=5).map("\n".join)
HEADS = st.sampled_from(["", "", "", "%%time\n", "%%bash\n", "%%html\n", "%%writefile a.json\n"])


@dataclass
class Writer:
    """Writes a notebook piece by piece, and knows which piece is which character of which cell."""

    draw: Any
    pieces: list[str] = field(default_factory=list)
    spots: dict[Spot, int] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.newline = self.draw(st.sampled_from(["\n", "\r\n", " ", ""]))
        self.indent = self.draw(st.sampled_from([" ", "\t", "    ", ""]))
        self.escapes = self.draw(st.sampled_from(["", "é", "é😀/", '\n"']))

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def value(self, value: object, depth: int, cell: int | None = None, key: str = "") -> None:
        match value:
            case dict():
                items = list(value.items())
                if self.draw(st.booleans()):
                    items.reverse()
                self.items("{", items, "}", depth, cell)
            case list() if key == "source" and cell is not None:
                self.items("[", value, "]", depth, cell, 0)
            case list() if key == "cells":
                self.items("[", value, "]", depth, None)
            case list():
                self.items("[", value, "]", depth, cell)
            case str() if key == "source" and cell is not None:
                self.string(value, cell, 0)
            case str():
                self.string(value)
            case _:
                self.pieces.append(json.dumps(value))

    def items(
        self,
        opening: str,
        items: list[Any],
        closing: str,
        depth: int,
        cell: int | None,
        offset: int | None = None,
    ) -> None:
        self.pieces.append(opening)
        for index, item in enumerate(items):
            self.pieces.append("," * (index > 0) + self.newline + self.indent * depth)
            match item:
                case (str(key), inner):
                    self.string(key)
                    self.pieces.append(self.draw(st.sampled_from([":", ": ", " : "])))
                    self.value(inner, depth + 1, cell, key)
                case str() if offset is not None and cell is not None:
                    self.string(item, cell, offset)
                    offset += len(item)
                case _:
                    self.value(item, depth + 1, index if cell is None and depth == 2 else cell)
        self.pieces.append(self.newline + self.indent * (depth - 1) + closing)

    def string(self, text: str, cell: int | None = None, offset: int = 0) -> None:
        self.pieces.append('"')
        for index, char in enumerate(text):
            if cell is not None:
                self.spots[cell, offset + index] = len(self.pieces)
            self.pieces.append(json.dumps(char, ensure_ascii=char in self.escapes)[1:-1])
            if char in self.escapes and char in '/\n"':
                self.pieces[-1] = f"\\u{ord(char):04X}"
        self.pieces.append('"')


@st.composite
def sources(draw: Any) -> tuple[object, str]:
    """A source as a list of lines, of other pieces, or as one string; and its text."""
    text = draw(HEADS) + draw(TEXTS)
    match draw(st.integers(0, 3)):
        case 0:
            return text, text
        case 1:
            middle = draw(st.integers(0, len(text)))
            return [text[:middle], text[middle:]], text
        case _:
            return text.splitlines(keepends=True), text


@st.composite
def written(draw: Any, extra: tuple[str, ...] = ()) -> Writer:
    """A notebook with random cells, and with those of some texts in their order."""
    cells, texts = [], []
    kinds = draw(st.lists(st.sampled_from(["code", "code", "markdown"]), max_size=4))
    wanted = [*([kind, None] for kind in kinds), *(["code", text] for text in extra)]
    for kind, given_text in wanted:
        source, text = draw(sources()) if given_text is None else (_lines(given_text), given_text)
        cell: dict[str, object] = {"cell_type": kind, "metadata": {"x": [1, "source"]}}
        cell["source"] = source
        cell["outputs"] = [{"text": ["x = 1\n"], "image/png": "AAAA"}]
        cells.append(cell)
        texts.append(text)
    writer = Writer(draw)
    writer.sources = texts
    writer.value({"cells": cells, "metadata": {"é": {}}, "nbformat": 4}, 1)
    return writer


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def read(text: str) -> NotebookText:
    return NotebookText.read(SourceText.from_bytes(PATH, text.encode("utf-8")))


def sources_of(text: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


def without_sources(text: str) -> object:
    document = json.loads(text)
    for cell in document["cells"]:
        del cell["source"]
    return document


@given(written())
@settings(max_examples=50, deadline=None)
def test_the_writer_writes_json(writer: Writer) -> None:
    assert sources_of(writer.text) == writer.sources
    for (cell, offset), piece in writer.spots.items():
        assert json.loads(f'"{writer.pieces[piece]}"') == writer.sources[cell][offset]


@given(written())
@settings(max_examples=100, deadline=None)
def test_the_cells_are_those_of_the_json(writer: Writer) -> None:
    text = read(writer.text)
    document = json.loads(writer.text)["cells"]
    code = [
        index
        for index, cell in enumerate(document)
        if cell["cell_type"] == "code" and cell["source"] != []
    ]
    assert [(cell.number - 1, text[cell.span]) for cell in text.cells] == [
        (index, writer.sources[index]) for index in code
    ]
    assert len(text.code) == len(text.text)
    assert text.to_bytes() == writer.text.encode("utf-8")


@given(written(), st.data())
@settings(max_examples=200, deadline=None)
def test_an_edit_in_a_line_changes_its_characters_alone(writer: Writer, data: Any) -> None:
    text = read(writer.text)
    cells = [cell for cell in text.cells if cell.kind is not None]
    spots = [
        offset
        for cell in cells
        for offset in range(*cell.body)
        if text.text[offset : offset + 2].isprintable() and offset + 1 < cell.span.end
    ]
    assume(spots)
    chosen = data.draw(st.lists(st.sampled_from(spots), min_size=1, max_size=3, unique=True))
    edits = [
        data.draw(
            st.sampled_from([Edit(Span(at, at + 1), "ab"), Edit(Span(at, at), "ab")]), label="edit"
        )
        for at in chosen
    ]
    pieces = list(writer.pieces)
    for edit in edits:
        cell = next(cell for cell in cells if cell.span.start <= edit.span.start < cell.span.end)
        piece = writer.spots[cell.number - 1, edit.span.start - cell.span.start]
        is_kept = edit.span.start == edit.span.end
        pieces[piece] = edit.content + (pieces[piece] if is_kept else "")
    assert text.takes(edits)
    assert text.edited(edits).json.text == "".join(pieces)


@given(written(), st.data())
@settings(max_examples=200, deadline=None)
def test_any_edit_changes_the_sources_alone(writer: Writer, data: Any) -> None:
    text = read(writer.text)
    assume(text.cells)
    cell = data.draw(st.sampled_from(text.cells))
    start = data.draw(st.integers(*cell.span))
    end = data.draw(st.integers(start, cell.span.end))
    content = data.draw(st.sampled_from(["", "x", "a\n", "\nb", "é\n\n", '"\\\t']))
    edit = Edit(Span(start, end), content)
    assert text.takes([edit]) == (cell.kind is not None and start >= cell.body.start)
    assume(text.takes([edit]))
    after = text.edited([edit]).json.text
    assert without_sources(after) == without_sources(writer.text)
    expected = list(writer.sources)
    source = text[cell.span]
    expected[cell.number - 1] = (
        source[: start - cell.span.start] + content + source[end - cell.span.start :]
    )
    assert sources_of(after) == expected
    if start == end and not content:
        assert after == writer.text


@given(written((BAD, "x = 1")))
@settings(max_examples=60, deadline=None)
def test_a_fix_changes_what_it_says(writer: Writer) -> None:
    result = linted(writer.text.encode())
    assert result.failure is None
    assert result.text is not None
    after = result.text.to_bytes().decode()
    assert after == writer.text.replace(BROKEN_LINE, FIXED_LINE)
    assert sources_of(after)[-2] == FIXED


@given(written((BAD,)), st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_broken_breaks_nothing(writer: Writer, data: Any) -> None:
    content = writer.text.encode()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        gone = data.draw(st.integers(0, 3))
        new = data.draw(
            st.sampled_from(
                [b"", b'"', b"\\", b"\\ud800", b"\xff", b"[", b"}", b",", b"!", b"%%", b"\n"]
            )
        )
        content = content[:at] + new + content[at + gone :]
    assert linted(content).failure is None


@given(st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_bytes(content: bytes) -> None:
    result = linted(content)
    assert result.failure is None


def linted(content: bytes) -> Result:
    """A notebook, named and repaired."""
    project = Project(PATH.parent)
    job = Job(project, Settings(), Applicability.SAFE, write=False, named=frozenset([PATH]))
    return lint_bytes(job, PATH, content, "notebook")
