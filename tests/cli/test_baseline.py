"""A baseline contains the findings of an earlier run; only new ones are reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import BAD, SCALER, codes, project, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project(tmp_path, {"src/a.py": BAD, "c.py": SCALER})
    ran = run("--write-baseline", "known.json", cwd=tmp_path)
    assert (ran.code, ran.stdout) == (0, b"")
    assert "note: known.json: now contains" in ran.err
    return tmp_path


def left(root: Path, *arguments: str, cwd: Path | None = None) -> list[str]:
    baseline = root / "known.json"
    ran = run("--baseline", baseline, "--output-format", "concise", *arguments, cwd=cwd or root)
    assert ran.code == bool(codes(ran))
    return codes(ran)


def test_what_is_known_is_not_reported(root: Path) -> None:
    assert left(root) == []
    assert left(root, "a.py", cwd=root / "src") == []


def test_code_that_moves_stays_known(root: Path) -> None:
    path = root / "src/a.py"
    path.write_text(
        "# a new head\n\n\n" + BAD.replace("import torch\n", "import os\nimport torch\n")
    )
    assert left(root) == []
    path.write_text("if True:\n" + "".join(f"    {line}\n" for line in BAD.splitlines()))
    assert left(root) == []


def test_what_is_new_is_reported(root: Path) -> None:
    path = root / "src/a.py"
    path.write_text(BAD + "other = scores.numpy()\n")
    assert left(root) == ["MP101"]
    path.write_text(BAD + "array = scores.numpy()  # for the plot\n")
    assert left(root) == ["MP101"]  # the same line once more


def test_a_file_that_moved_is_new(root: Path) -> None:
    (root / "src/a.py").rename(root / "src/b.py")
    assert left(root) == ["MP101"]


def test_written_twice_it_is_the_same(root: Path) -> None:
    before = (root / "known.json").read_bytes()
    run("--write-baseline", "known.json", "c.py", "src", cwd=root)
    assert (root / "known.json").read_bytes() == before


def test_a_name_that_is_not_text(root: Path) -> None:
    (root / "src/a.py").rename(root / "src/\udce9.py")
    assert run("--write-baseline", "known.json", cwd=root).code == 0
    assert left(root) == []


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{}", "null", '{"version": 1}', '{"version": 1, "findings": [1]}',
        '{"version": 1, "findings": [{"code": [], "path": "", "line": "", "count": 1}]}',
        '{"version": 9, "findings": []}', "[" * 100_000, "\udcff",
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_baseline(content: str, root: Path) -> None:
    (root / "known.json").write_text(content, "utf-8", "surrogateescape")
    ran = run("--baseline", "known.json", cwd=root)
    assert (ran.code, ran.stdout) == (2, b"")
    assert "known.json: " in ran.err
    assert "Traceback" not in ran.err


def test_it_is_json_that_can_be_read_in_a_diff(root: Path) -> None:
    rows = json.loads((root / "known.json").read_text())["findings"]
    [row] = [row for row in rows if row["code"] == "MP101"]
    line = "array = scores.numpy() # for the plot"
    assert row == {"code": "MP101", "path": "src/a.py", "line": line, "count": 1}
