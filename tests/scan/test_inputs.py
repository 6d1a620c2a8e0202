"""Parquet files, and the rows in them on their way to a unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow
import pyarrow.parquet

from precision_lint.scan.inputs import BadInput, Input, open_input
from precision_lint.scan.layout import Layout
from precision_lint.scan.outcome import Limits, Status
from precision_lint.scan.rows import prepared, units_in

COLUMNS = ("repo", "path", "content")
Row = tuple[Any, Any, Any]


def write(
    path: Path, rows: Sequence[Row], names: Sequence[str] = ("repo", "path", "content")
) -> Path:
    columns = [pyarrow.array(values, pyarrow.binary()) for values in zip(*rows, strict=True)]
    if not rows:
        columns = [pyarrow.array([], pyarrow.string()) for _ in names]
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(columns, list(names)), path, row_group_size=2)
    return path


def opened(*paths: Path) -> Input:
    found = open_input([str(path) for path in paths], {})
    assert found is not None
    return found


def read(given: Input) -> list[Row]:
    return [
        (row["repo"], row["path"], row["content"])
        for piece in given.pieces
        for table in given.tables(piece)
        for row in table.to_pylist()
    ]


ROWS: list[Row] = sorted((b"r%d" % (n % 3), b"%d.py" % n, b"x" * n) for n in range(7))


def test_files_and_folders(tmp_path: Path) -> None:
    first = write(tmp_path / "data/deep/a.parquet", ROWS[:5])
    second = write(tmp_path / "data/b #1.parquet", ROWS[5:])
    (tmp_path / "data/README.md").write_text("no table")
    both = opened(first, second)
    assert both.layout == Layout("repo", "path", "content")
    assert sorted(read(both)) == ROWS
    assert sorted(read(opened(tmp_path / "data"))) == ROWS
    assert sorted(read(opened(first, tmp_path / "data", first))) == ROWS  # each once


def test_an_address(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", ROWS)
    found = open_input([f"file://{path}"], {})
    assert found is not None
    assert sorted(read(found)) == ROWS


def test_large_row_groups_are_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", ROWS)
    assert [piece.groups for piece in opened(path).pieces] == [[0, 1, 2, 3]]
    monkeypatch.setattr("precision_lint.scan.inputs._PIECE", 1)
    given = opened(path)
    assert [list(piece.groups) for piece in given.pieces] == [[0], [1], [2], [3]]
    assert sorted(read(given)) == ROWS


def test_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert open_input([str(tmp_path / "empty")], {}) is None
    assert open_input([str(write(tmp_path / "a.parquet", []))], {}) is None


def test_what_is_no_input(tmp_path: Path) -> None:
    def said(*names: object) -> str:
        with pytest.raises(BadInput) as problem:
            open_input([str(name) for name in names], {})
        return str(problem.value)

    good = write(tmp_path / "good.parquet", ROWS)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(good.read_bytes()[:-20])
    assert "broken.parquet: not readable as Parquet" in said(tmp_path)
    (tmp_path / "empty.parquet").touch()
    assert "empty.parquet: not readable as Parquet" in said(tmp_path / "empty.parquet")
    assert "nothing.parquet: no such file or folder" in said(tmp_path / "nothing.parquet")
    other = write(tmp_path / "other.parquet", ROWS, ["repo", "file", "content"])
    assert "other.parquet: no column `path`; there are content, file, repo" in said(other)
    stack = write(tmp_path / "stack.parquet", ROWS, ["repo_name", "path", "content"])
    assert "other columns than" in said(good, stack)
    assert "://" in said("nowhere://bucket/a.parquet")
    numbers = pyarrow.table({"repo": ["r"], "path": ["a.py"], "content": [1]})
    pyarrow.parquet.write_table(numbers, tmp_path / "numbers.parquet")
    assert "column `content` is of type int64, not text" in said(tmp_path / "numbers.parquet")


LAYOUT = Layout("repo", "path", "content")


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "large_binary", "dictionary"])
def test_every_type_of_text(kind: str) -> None:
    text = pyarrow.array(["a", "b", "a"])
    column = (
        text.dictionary_encode() if kind == "dictionary" else text.cast(getattr(pyarrow, kind)())
    )
    table = pyarrow.table({"repo": column, "path": column, "content": column})
    rows = prepared(table, LAYOUT, (), 99).to_pylist()
    assert [row["repository"] for row in rows] == ["a", "b", "a"]
    assert [row["content"] for row in rows] == [b"a", b"b", b"a"]
    assert {row["commit"] for row in rows} == {None}


def test_rows_that_are_done_or_too_large() -> None:
    table = pyarrow.table({
        "repo": ["done", "done", "a", "a", "a"],
        "commit": ["1", "2", "1", "1", "1"],
        "path": ["a.py", "a.py", "big.py", "a.png", "ok.py"],
        "content": [b"x", b"x", b"x" * 100, b"x", b"x"],
    })  # fmt: skip
    layout = Layout("repo", "path", "content", "commit")
    rows = prepared(table, layout, {("done", "1")}, 50).to_pylist()
    assert (rows[0]["repository"], rows[0]["commit"]) == ("done", "2")
    assert [row["content"] for row in rows] == [b"x", None, None, b"x"]


def test_names_that_are_no_text() -> None:
    table = pyarrow.table({
        "repo": pyarrow.array([b"\xff/r", None], pyarrow.binary()),
        "path": pyarrow.array([b"\xff.py", None], pyarrow.binary()),
        "content": pyarrow.array([b"\xff", None], pyarrow.binary()),
    })  # fmt: skip
    first, second = (prepared(table, LAYOUT, (), 99).slice(n, 1) for n in (0, 1))
    (unit,) = units_in(first, Limits())
    assert (unit.repository, unit.files) == ("\\xff/r", {"\udcff.py": b"\xff"})
    (unit,) = units_in(second, Limits())
    assert unit.problem == (Status.UNREADABLE, "rows without a repository")
    assert unit.repository == ""
