"""Results go to standard output or a file, everything else to standard error."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from precision_lint.engine import registry
from precision_lint.model.formats import FORMATS
from tests.cli.running import BAD, CLEAN, SCALER, project, run

READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "json-lines": lambda text: [json.loads(line) for line in text.splitlines()],
    "sarif": json.loads,
    "gitlab": json.loads,
    "junit": ElementTree.fromstring,
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("content", [BAD, CLEAN], ids=["finding", "none"])
def test_every_format(format: str, content: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": content})
    ran = run("--output-format", format, cwd=tmp_path)
    assert ran.code == (content is BAD)
    assert ran.err == ""
    assert ("MP101" in ran.out) == (content is BAD)
    READERS.get(format, str)(ran.out)

    filed = run("--output-format", format, "--output-file", "report", cwd=tmp_path)
    assert (filed.code, filed.stdout) == (ran.code, b"")
    assert (tmp_path / "report").read_bytes() == ran.stdout


def test_json_is_what_consumers_of_ruff_read(tmp_path: Path) -> None:
    ran = run("--output-format", "json", cwd=project(tmp_path, {"a.py": BAD}))
    [row] = json.loads(ran.out)
    assert set(row) >= {
        "code", "name", "message", "severity", "confidence", "filename", "cell", "location",
        "end_location", "noqa_row", "url", "fix", "related",
    }  # fmt: skip
    assert row["filename"] == str(tmp_path / "a.py")
    assert row["location"] == {"row": 4, "column": 9}
    assert row["fix"]["applicability"] == "safe"


def test_notes_do_not_mix_with_results(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "t.yaml": "bf16: {{ bf16 }}\nfp16: {% if x %}\n"})
    ran = run("--fix", "--output-format", "json", cwd=tmp_path)
    assert json.loads(ran.out) == []
    assert "note: fixed 1 finding in 1 file" in ran.err


FIXES = "Fixed 2 findings:\n- a.py:\n    2 × MP101 (numpy-on-bfloat16)\n\n"


@pytest.mark.parametrize(
    ("arguments", "out", "err"),
    [
        (["--fix"], FIXES + "Found 2 errors (2 fixed, 0 remaining).\n", ""),
        (["--fix", "--statistics"], FIXES + "Found 2 errors (2 fixed, 0 remaining).\n", ""),
        (
            ["--fix", "--output-format", "json"],
            "[]\n",
            FIXES + "note: fixed 2 findings in 1 file\n",
        ),
        (["--diff"], None, FIXES + "note: would fix 2 findings in 1 file\n"),
        ([], None, ""),
    ],
)
def test_show_fixes(arguments: list[str], out: str | None, err: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD + "b = scores.numpy()\n"})
    ran = run("--show-fixes", *arguments, cwd=tmp_path)
    assert ran.err == err
    if out is not None:
        assert ran.out == out


@pytest.mark.parametrize("format", ["full", "concise", "json", "json-lines"])
def test_statistics(format: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": BAD, "c.py": SCALER})
    ran = run("--statistics", "--output-format", format, cwd=tmp_path)
    assert ran.code == 1
    assert "MP101" in ran.out
    assert "a.py" not in ran.out


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("rule", ["2  MP101  [*] numpy-on-bfloat16", "1  MP201  [*] gradscaler-with-bfloat16"]),
        ("folder", ["2  .    MP101 1, MP201 1", "1  lib  MP101 1"]),
        ("owner", ["2  @core       MP101 1, MP201 1", "1  (no owner)  MP101 1"]),
    ],
)
def test_statistics_by_group(by: str, rows: list[str], tmp_path: Path) -> None:
    files = {"a.py": BAD, "lib/b.py": BAD, "c.py": SCALER, "CODEOWNERS": "*.py @core\n/lib/\n"}
    project(tmp_path, files)
    ran = run("--group-by", by, cwd=tmp_path)
    assert ran.code == 1
    assert ran.out.splitlines()[:2] == rows


def test_statistics_by_group_in_json(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "lib/b.py": BAD, "c.py": SCALER})
    ran = run("--group-by", "folder", "--output-format", "json", cwd=tmp_path)
    assert json.loads(ran.out) == [
        {"group": ".", "count": 2, "fixable_count": 2, "codes": {"MP101": 1, "MP201": 1}},
        {"group": "lib", "count": 1, "fixable_count": 1, "codes": {"MP101": 1}},
    ]


@pytest.mark.parametrize("what", ["MP101", "mp101", "numpy-on-bfloat16"])
def test_explain_by_code_and_name(what: str, tmp_path: Path) -> None:
    ran = run("explain", what, cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.startswith("# MP101 `numpy-on-bfloat16`")
    assert "## Why it hurts" in ran.out


@pytest.mark.parametrize(
    "message",
    [
        ["TypeError: Got unsupported ScalarType BFloat16"],
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n'
        "    x.numpy()\nTypeError: Got unsupported ScalarType BFloat16".split(" "),
    ],
    ids=["one argument", "unquoted"],
)
def test_explain_by_pasted_error(message: list[str], tmp_path: Path) -> None:
    out = run("explain", *message, cwd=tmp_path).out
    assert "MP101 `numpy-on-bfloat16`" in out.splitlines()[0]
    assert "\n# MP101 `numpy-on-bfloat16`\n" in out


def test_explain_finds_no_page(tmp_path: Path) -> None:
    ran = run("explain", "the cat sat on the mat", cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, b"")
    assert "no rule" in ran.err


def test_rules(tmp_path: Path) -> None:
    text = run("rules", cwd=tmp_path)
    assert text.code == 0
    assert [line.split()[0] for line in text.out.splitlines()] == [
        rule.code for rule in registry.rules()
    ]
    rows = json.loads(run("rules", "--output-format", "json", cwd=tmp_path).out)
    assert [row["name"] for row in rows] == [rule.name for rule in registry.rules()]
    assert set(rows[0]) >= {"code", "name", "summary", "severity", "fix"}


OLD_SCALER = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"


@pytest.mark.parametrize(("pins", "is_assumed"), [("torch==2.6.0\n", False), ("numpy\n", True)])
def test_a_release_of_torch_that_is_assumed_is_named(
    pins: str, is_assumed: bool, tmp_path: Path
) -> None:
    files = {"a.py": OLD_SCALER, "requirements.txt": pins}
    ran = run("--output-format", "full", cwd=project(tmp_path, files))
    assert "torch has warned since 2.4" in ran.out
    assert ("so the newest is assumed" in ran.out) is is_assumed
