"""`matrix`: its formats, its exit codes, and what it does with files that cannot be read."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import BAD, BROKEN, project, run

TRAIN = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="fp32", choices=["fp32", "fp16", "bf16", "fp8"])


def main():
    args = parser.parse_args()
    if args.dtype == "fp8":
        raise ValueError("fp8 | not here")
    dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[args.dtype]
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        with torch.autocast("cuda", dtype=dtype, enabled=args.dtype != "fp32"):
            loss = model(batch)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


if __name__ == "__main__":
    main()
"""
TREE = {"train.py": TRAIN, "run.sh": "python train.py --dtype bf16\n"}
PRECISIONS = ["fp32", "tf32", "fp16", "bf16", "fp8"]


SHOWN = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="fp32", choices=["fp32", "fp16", "bf16", "fp8"])
parser.add_argument("--tf32", action="store_true")


def main():
    args = parser.parse_args()
    if args.dtype == "fp8":
        raise ValueError("fp8 is not supported")
    torch.backends.cuda.matmul.allow_tf32 = args.tf32
    dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[args.dtype]
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        with torch.autocast("cuda", dtype=dtype, enabled=args.dtype != "fp32"):
            loss = model(batch)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


if __name__ == "__main__":
    main()
"""
PAGE = (Path(__file__).parents[2] / "docs" / "matrix.md").read_text("utf-8")


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    shown = re.search(r"^<!-- matrix -->\n```\n\$ (.+)\n((?:.*\n)*?)```$", PAGE, re.M)
    assert shown is not None
    project(tmp_path, {"train.py": SHOWN, "run.sh": TREE["run.sh"]})
    command, *arguments = shown[1].split()
    assert command == "precision-lint"
    assert run(*arguments, cwd=tmp_path).out == shown[2]


@pytest.mark.parametrize("key", ["rows", "findings", "elsewhere", "silent", "precisions"])
def test_the_page_names_the_keys(key: str) -> None:
    assert f"| `{key}`" in PAGE


def loaded(*arguments: str, cwd: Path) -> dict[str, Any]:
    ran = run("matrix", "--output-format", "json", "--no-cache", *arguments, cwd=cwd)
    assert ran.code == 0
    found: dict[str, Any] = json.loads(ran.out)
    return found


def states(row: dict[str, Any]) -> list[str]:
    return [row["cells"][precision]["state"] for precision in PRECISIONS]


def test_json(tmp_path: Path) -> None:
    found = loaded(cwd=project(tmp_path, TREE))
    assert found.keys() == {"precisions", "rows", "findings", "elsewhere", "silent"}
    assert found["precisions"] == PRECISIONS
    assert (found["elsewhere"], found["silent"]) == ([], 0)
    entry, launch = found["rows"]
    assert entry.keys() == launch.keys() == {
        "kind", "program", "started", "filename", "cell", "location", "frameworks", "cells",
        "any_precision", "not_understood", "alike",
    }  # fmt: skip
    assert (entry["kind"], launch["kind"]) == ("entry point", "launch")
    assert entry["program"] == launch["program"] == str(tmp_path / "train.py")
    assert launch["started"] == "train.py"
    assert launch["filename"] == str(tmp_path / "run.sh")
    assert states(entry) == ["ok", "not offered", "ok", "findings", "refused"]
    assert states(launch) == ["not offered"] * 3 + ["findings", "not offered"]

    (offer,) = entry["cells"]["bf16"]["offers"]
    place = {"filename": str(tmp_path / "train.py"), "cell": None}
    assert offer == {
        "kind": "followed", "setting": "--dtype", "value": "bf16", "default": False, "why": None,
        **place, "location": {"row": 5, "column": 73},
    }  # fmt: skip
    (offer,) = entry["cells"]["fp32"]["offers"]
    assert offer["default"] is True
    (offer,) = entry["cells"]["fp8"]["offers"]
    assert (offer["kind"], offer["why"]) == ("refused", 'raise ValueError("fp8 | not here")')

    (finding,) = found["findings"]
    assert entry["cells"]["bf16"]["findings"] == launch["cells"]["bf16"]["findings"] == [0]
    assert (finding["code"], finding["precisions"]) == ("MP201", ["bf16"])
    assert finding["location"] == {"row": 13, "column": 14}
    assert finding["why"]


def test_a_finding_of_no_run_is_elsewhere(tmp_path: Path) -> None:
    found = loaded(cwd=project(tmp_path, {**TREE, "plots.py": BAD}))
    codes = [one["code"] for one in found["findings"]]
    assert [codes[index] for index in found["elsewhere"]] == ["MP101"]


def test_a_finding_of_any_precision(tmp_path: Path) -> None:
    old = TRAIN.replace('torch.amp.GradScaler("cuda")', "torch.cuda.amp.GradScaler()")
    found = loaded("--target-torch", "2.13", cwd=project(tmp_path, {"train.py": old}))
    (row,) = found["rows"]
    assert [found["findings"][index]["code"] for index in row["any_precision"]] == ["MP801"]


def test_equal_launches_are_told_once(tmp_path: Path) -> None:
    scripts = {f"run{number}.sh": TREE["run.sh"] for number in range(9)}
    found = loaded(cwd=project(tmp_path, {**TREE, **scripts}))
    assert [len(row["alike"]) for row in found["rows"]] == [0, 9]
    assert found["rows"][1]["alike"][0]["filename"] == str(tmp_path / "run0.sh")


def test_markdown(tmp_path: Path) -> None:
    ran = run("matrix", "--output-format", "markdown", cwd=project(tmp_path, TREE))
    rows = ran.out.splitlines()
    assert rows[:4] == [
        "| run | fp32 | tf32 | fp16 | bf16 | fp8 |",
        "|---|---|---|---|---|---|",
        "| train.py | ok | - | ok | 1 | refused |",
        "| run.sh:1: starts train.py | - | - | - | 1 | - |",
    ]
    assert "- fp16: --dtype fp16 (train.py:5)" in rows
    assert r'- fp8: --dtype fp8 refused (train.py:5): raise ValueError("fp8 \| not here")' in rows
    assert rows[rows.index("### Findings") + 2] == (
        "- warning MP201 train.py:13:14: GradScaler is on when the autocast dtype is bfloat16 "
        "(bf16: train.py, run.sh:1)"
    )


class Page(HTMLParser):
    """The elements of a page, its text, and what it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[tuple[str, str]] = []
        self.links: list[str] = []
        self.all: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        given = dict(attrs)
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        if tag == "td":
            self.cells.append((given["class"] or "", ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.cells[-1] = (self.cells[-1][0], data)


def test_html_is_one_page_that_needs_nothing_else(tmp_path: Path) -> None:
    hostile = TRAIN.replace("fp8 | not here", "<script>alert(1)</script>&")
    project(tmp_path, {**TREE, "train.py": hostile, "<b>.sh": TREE["run.sh"]})
    ran = run("matrix", "--output-format", "html", "-o", "out.html", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "")
    text = (tmp_path / "out.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>\n")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert not page.all & {"script", "link", "img", "iframe", "b"}
    assert all(link.startswith("https://github.com/precision-lint/") for link in page.links)
    assert "@import" not in text
    assert "url(" not in text
    assert page.cells[:5] == [
        ("cell ok", "ok"),
        ("cell not-offered", "-"),
        ("cell ok", "ok"),
        ("cell findings", "1"),
        ("cell refused", "refused"),
    ]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in text


def test_nothing_hidden_reaches_a_reader(tmp_path: Path) -> None:
    hostile = TRAIN.replace("fp8 | not here", "\\u202e\u202e\x1b]0;x\x07")
    project(tmp_path, {"train.py": hostile})
    for format in ("text", "markdown", "html"):
        out = run("matrix", "--output-format", format, cwd=tmp_path).out
        assert "refused" in out
        assert not {"\u202e", "\x1b", "\x07"} & set(out), format


def test_rules_can_be_left_out(tmp_path: Path) -> None:
    found = loaded("--ignore", "MP201", cwd=project(tmp_path, TREE))
    assert found["findings"] == []
    assert states(found["rows"][0])[3] == "ok"


def test_what_is_suppressed_is_not_counted(tmp_path: Path) -> None:
    quiet = TRAIN.replace('GradScaler("cuda")', 'GradScaler("cuda")  # noqa: MP201')
    found = loaded(cwd=project(tmp_path, {"train.py": quiet}))
    assert found["findings"] == []


def test_the_files_that_a_named_program_imports_are_checked(tmp_path: Path) -> None:
    main = "import torch\nfrom plots import scores\n\nif __name__ == '__main__':\n    main()\n"
    project(tmp_path, {"main.py": main, "plots.py": BAD, "other.py": BAD})
    found = loaded("main.py", cwd=tmp_path)
    assert [Path(one["filename"]).name for one in found["findings"]] == ["plots.py"]
    (row,) = found["rows"]
    assert states(row)[3] == "findings"


def test_nothing_is_written_to_the_files(tmp_path: Path) -> None:
    settings = '[tool.precision-lint]\nfix = true\nunsafe-fixes = true\ntarget-torch = "2.13"\n'
    project(tmp_path, {**TREE, "plots.py": BAD, "pyproject.toml": settings})
    assert len(loaded(cwd=tmp_path)["findings"]) == 2
    assert (tmp_path / "train.py").read_text("utf-8") == TRAIN
    assert (tmp_path / "plots.py").read_text("utf-8") == BAD


def test_an_empty_folder(tmp_path: Path) -> None:
    ran = run("matrix", cwd=project(tmp_path, {}))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "No entry point or launch here says anything of precision.\n"
    assert loaded(cwd=tmp_path)["rows"] == []
    assert "No entry point" in run("matrix", "--output-format", "html", cwd=tmp_path).out
    assert "No entry point" in run("matrix", "--output-format", "markdown", cwd=tmp_path).out


def test_runs_without_precision_are_counted(tmp_path: Path) -> None:
    silent = "import argparse\n\nif __name__ == '__main__':\n    print(argparse)\n"
    ran = run("matrix", cwd=project(tmp_path, {**TREE, "a.sh": "python b.py\n", "b.py": silent}))
    assert "b.py" not in ran.out
    assert ran.err == "note: not shown, without any precision: 1 run\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [("broken.py", BROKEN), ("broken.yaml", "fp16: [\n")],
)
def test_a_broken_file_is_a_finding(name: str, content: str, tmp_path: Path) -> None:
    project(tmp_path, {**TREE, name: content})
    for arguments in ((), (name, "train.py", "run.sh")):
        found = loaded(*arguments, cwd=tmp_path)
        assert [states(row)[3] for row in found["rows"]] == ["findings", "findings"]
        left = [found["findings"][index] for index in found["elsewhere"]]
        assert [Path(one["filename"]).name for one in left] == [name]


def test_what_cannot_be_done(tmp_path: Path) -> None:
    ran = run("matrix", "gone", cwd=project(tmp_path, {}))
    assert (ran.code, ran.out) == (2, "")
    assert "gone: no such file or folder" in ran.err
    ran = run("matrix", "--output-format", "yaml", cwd=tmp_path)
    assert ran.code == 2
    ran = run("matrix", "--select", "MPX", cwd=tmp_path)
    assert ran.code == 2
