"""`--watch`: what is new and what is gone after each change."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from precision_lint.cli import watch
from tests.cli.running import BAD, CLEAN, FIXED, Ran, project, run

Step = Callable[[], object]


def watched(root: Path, monkeypatch: pytest.MonkeyPatch, *steps: Step, options: str = "") -> Ran:
    """Do a step at each look at the files once the step before was seen; then interrupt."""
    pending = [one for step in steps for one in (step, lambda: None, lambda: None)]

    def pause() -> None:
        if not pending:
            raise KeyboardInterrupt
        pending.pop(0)()

    monkeypatch.setattr(watch, "pause", pause)
    return run("--watch", "--output-format", "concise", "--no-cache", *options.split(), cwd=root)


def changes(ran: Ran) -> list[str]:
    return [line for line in ran.out.splitlines() if line[:2] in ("+ ", "- ")]


def test_new_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path, {"a.py": BAD, "b.py": CLEAN})
    ran = watched(
        root,
        monkeypatch,
        lambda: (root / "a.py").write_text(FIXED),
        lambda: (root / "b.py").write_text("# moved\n\n" + BAD),
        lambda: (root / "b.py").write_text(BAD + "# moved back\n"),
        lambda: (root / "c.py").write_text(BAD),
        lambda: (root / "b.py").unlink(),
    )
    assert ran.code == 130
    assert ran.out.startswith("a.py:4:9: MP101 ")
    assert [line[: line.index(" MP101 ")] for line in changes(ran)] == [
        "- a.py:4:9:", "+ b.py:6:9:", "+ c.py:4:9:", "- b.py:4:9:"
    ]  # fmt: skip
    assert ran.err.count("waiting for changes") == 6
    assert "note: 1 finding; waiting for changes" in ran.err


def test_a_change_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = "import torch\n\n\ndef made():\n    return torch.zeros(2, dtype=torch.{})\n"
    user = "import torch\nfrom helper import made\n\nprint(made().numpy())\n"
    root = project(tmp_path, {"helper.py": made.format("float32"), "user.py": user})
    ran = watched(
        root, monkeypatch, lambda: (root / "helper.py").write_text(made.format("bfloat16"))
    )
    (line,) = changes(ran)
    assert line.startswith("+ user.py:4:")


def test_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path, {"a.py": BAD})
    ran = watched(root, monkeypatch, lambda: None, lambda: None)
    assert ran.err.count("waiting for changes") == 1
    assert changes(ran) == []


def test_a_configuration_that_is_broken_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path, {"a.py": BAD})
    config = root / ".precision-lint.toml"
    ran = watched(
        root,
        monkeypatch,
        lambda: config.write_text("ignore = [\n"),
        lambda: config.write_text('ignore = ["MP101"]\n'),
        lambda: config.unlink(),
    )
    assert "error: " in ran.err
    assert [line[0] for line in changes(ran)] == ["-", "+"]


@pytest.mark.parametrize(
    "options", ["--fix", "--diff", "--write-baseline b.json", "-o out.txt", "--output-format json"]
)
def test_it_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    root = project(tmp_path, {"a.py": BAD})
    before = sorted(os.listdir(root))
    ran = watched(root, monkeypatch, options=options)
    assert ran.code == 2
    assert "--watch" in ran.err
    assert sorted(os.listdir(root)) == before
