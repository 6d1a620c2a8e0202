"""Rows of anybody's make a project, and what is no file of one is left out and counted."""

from __future__ import annotations

from itertools import permutations

import pytest

from precision_lint.scan.outcome import Limits, Status
from precision_lint.scan.unit import Unit, file_name, is_data, units

HOSTILE = [
    b"/etc/passwd", b"../x.py", b"a/../../x.py", b"", b".", b"/", b"a\0.py", b"x" * 300 + b".py",
    b"a/" * 100 + b"x.py", b"/".join([b"y" * 200] * 20),
]  # fmt: skip


def one(rows: list[tuple[bytes, bytes | None]], limits: Limits | None = None) -> Unit:
    (unit,) = units("org/name", "c0ffee", rows, limits or Limits())
    return unit


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_are_no_paths(name: bytes) -> None:
    assert file_name(name) is None
    unit = one([(name, b"x"), (b"ok.py", b"y")])
    assert (unit.files, unit.skipped) == ({"ok.py": b"y"}, 1)


def test_names_are_as_they_will_be_on_disk() -> None:
    names = [b"./a//b.py", "ä.py".encode(), b"\xff.py", b"a\\b.py", b"...", b"a:b.py", b"-x"]
    assert [file_name(name) for name in names] == [
        "a/b.py", "ä.py", "\udcff.py", "a\\b.py", "...", "a:b.py", "-x",
    ]  # fmt: skip


def test_one_content_counts_whatever_the_order() -> None:
    rows: list[tuple[bytes, bytes | None]] = [
        (b"a.py", b"2"), (b"./a.py", b"1"), (b"a.py", b"1"), (b"b", b""), (b"b/c.py", b""),
    ]  # fmt: skip
    made = [one(list(order)) for order in permutations(rows)]
    assert made[0].files == {"a.py": b"1", "b/c.py": b""}
    assert all(unit.files == made[0].files for unit in made)
    assert all(list(unit.files) == ["a.py", "b/c.py"] for unit in made)
    assert all(unit.skipped >= 2 for unit in made)


def test_what_is_too_large_or_data_is_left_out() -> None:
    rows: list[tuple[bytes, bytes | None]] = [
        (b"big.py", b"x" * 11), (b"model.SafeTensors", b"x"), (b"gone.py", None), (b"a.py", b"x"),
    ]  # fmt: skip
    unit = one(rows, Limits(file_size=10))
    assert (unit.files, unit.skipped) == ({"a.py": b"x"}, 3)
    assert not is_data(b".bin")
    assert not is_data(b"config.jsonc")


def test_a_repository_that_is_too_large_is_not_checked() -> None:
    unit = one([(b"a.py", b"x" * 6), (b"b.py", b"x" * 6)], Limits(repository_size=10))
    assert unit.files == {}
    assert unit.problem == (Status.TOO_LARGE, "12 bytes; the limit is 10")


def test_much_python_makes_parts() -> None:
    rows: list[tuple[bytes, bytes | None]] = [(b"%d.py" % n, b"x" * 10) for n in range(5)]
    rows.append((b"data.json", b"x" * 100))
    made = list(units("r", None, rows, Limits(part_size=20)))
    assert [(unit.part, unit.parts) for unit in made] == [(1, 3), (2, 3), (3, 3)]
    assert all(len(unit.files) == 6 for unit in made)


def test_an_empty_repository_is_one_unit() -> None:
    assert one([]).files == {}


def test_the_way_to_another_machine() -> None:
    unit = one([(b"\xff.py", b"\xff\0")])
    assert Unit.unpacked(unit.packed()) == unit
