"""Facts that a process keeps between two checks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from precision_lint.engine.options import Options
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.session import Session
from precision_lint.engine.warm import WarmJobs
from precision_lint.facts.project import modules
from precision_lint.source.text.text import SourceText

MODEL = "import torch\n\n\ndef hidden():\n    return torch.zeros(2, dtype=torch.{dtype})\n"
USER = b"import torch\nfrom model import hidden\n\nprint(hidden().numpy())\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "model.py").write_text(MODEL.format(dtype="bfloat16"))
    (tmp_path / "user.py").write_bytes(USER)
    return tmp_path


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def codes(warm: WarmJobs, path: Path, content: bytes = USER) -> list[str]:
    job = warm.job(Session.open([path], Options()))
    return [one.code for one in lint_bytes(job, path, content, "python").findings]


def test_files_are_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[Path] = []
    parse = modules._parsed

    def recorded(text: SourceText) -> modules._Read:
        parsed.append(text.path)
        return parse(text)

    monkeypatch.setattr(modules, "_parsed", recorded)
    warm = WarmJobs(Clock())
    path = root / "user.py"
    assert codes(warm, path) == ["MP101"]
    assert root / "model.py" in parsed
    parsed.clear()
    assert codes(warm, path, b"\n" + USER) == ["MP101"]
    assert parsed == [path]


def test_a_change_is_seen_after_a_while_or_once_a_file_is_saved(root: Path) -> None:
    clock = Clock()
    warm = WarmJobs(clock)
    path, model = root / "user.py", root / "model.py"
    assert codes(warm, path) == ["MP101"]

    model.write_text(MODEL.format(dtype="float32"))
    assert codes(warm, path) == ["MP101"]  # trusted for a few seconds
    clock.now += 10
    assert codes(warm, path) == []

    model.write_text(MODEL.format(dtype="bfloat16"))
    os.utime(model, ns=(1, 1))
    warm.look_again()
    assert codes(warm, path) == ["MP101"]


def test_settings_and_projects_have_facts_of_their_own(root: Path, tmp_path: Path) -> None:
    warm = WarmJobs(Clock())
    path = root / "user.py"
    assert codes(warm, path) == ["MP101"]
    (root / ".precision-lint.toml").write_text('ignore = ["MP101"]\n')
    assert codes(warm, path) == []
    for name in ("one", "two", "three"):
        folder = tmp_path / name
        (folder / ".git").mkdir(parents=True)
        assert codes(warm, folder / "user.py") == []  # no model here


def test_each_document_is_one_that_was_named(root: Path) -> None:
    warm = WarmJobs(Clock())
    for name in ("user.py", "other.py"):
        assert codes(warm, root / name, b"def :\n") == ["MP904"]
