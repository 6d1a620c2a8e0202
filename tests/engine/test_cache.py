"""The cache of clean files: same bytes, same settings, same version, or no hit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from precision_lint.engine import run as run_module
from precision_lint.engine.cache import CleanFiles
from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence
from precision_lint.project.discovery import files
from precision_lint.project.files import Project

CODES = ("MP101", "MP201")


def test_what_was_added_is_there_in_the_next_run(tmp_path: Path) -> None:
    cache = CleanFiles(tmp_path, Settings())
    cache.add(cache.digest(b"x = 1\n", CODES))
    assert cache.digest(b"x = 1\n", CODES) not in cache
    cache.save()
    again = CleanFiles(tmp_path, Settings())
    assert again.digest(b"x = 1\n", reversed(CODES)) in again
    assert again.digest(b"x = 2\n", CODES) not in again
    assert again.digest(b"x = 1\n", CODES[:1]) not in again


def test_settings_have_caches_of_their_own(tmp_path: Path) -> None:
    cache = CleanFiles(tmp_path, Settings())
    cache.add(cache.digest(b"", CODES))
    cache.save()
    for other in (
        replace(Settings(), min_confidence=Confidence.LOW),
        replace(Settings(), target={"torch": "2.3"}),
        replace(Settings(), target_gpu="T4"),
    ):
        strange = CleanFiles(tmp_path, other)
        assert strange.digest(b"", CODES) not in strange


def test_a_broken_or_unwritable_cache_is_no_cache(tmp_path: Path) -> None:
    cache = CleanFiles(tmp_path, Settings())
    cache.add(cache.digest(b"", CODES))
    cache.save()
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"garbage")
    assert cache.digest(b"", CODES) not in CleanFiles(tmp_path, Settings())
    blocked = CleanFiles(file / "below a file", Settings())
    blocked.add(blocked.digest(b"", CODES))
    blocked.save()


BAD = "import torch\n\nprint(torch.zeros(2, dtype=torch.bfloat16).numpy())\n"
BY_PROJECT = "import torch\n\n\ndef rows(model):\n    return model.head.weight.cpu().numpy()\n"
FILLER = "# a comment\n" * 100_000  # runs over less than a megabyte use no cache


def lint(root: Path, cache: Path) -> list[str]:
    job = Job(Project(root), Settings())
    results = run(job, files([root], root), cache_folder=cache)
    return [finding.code for result in results for finding in result.findings]


def test_a_warm_run_reads_no_clean_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, cache = tmp_path / "project", tmp_path / "cache"
    root.mkdir()
    (root / "clean.py").write_text(FILLER + "import torch\nx = torch.ones(2).numpy()\n")
    (root / "bad.py").write_text(BAD)
    checked: list[str] = []

    def spy(job: Job, path: Path) -> Result:
        checked.append(path.name)
        return lint_one(job, path)

    lint_one = run_module.lint
    monkeypatch.setattr(run_module, "lint", spy)
    assert lint(root, cache) == ["MP101"]
    assert sorted(checked) == ["bad.py", "clean.py"]
    checked.clear()
    assert lint(root, cache) == ["MP101"]
    assert checked == ["bad.py"]
    (root / "clean.py").write_text(FILLER + BAD)
    assert lint(root, cache) == ["MP101", "MP101"]


def test_what_depends_on_the_project_is_checked_anew_when_that_changes(tmp_path: Path) -> None:
    root, cache = tmp_path / "project", tmp_path / "cache"
    root.mkdir()
    (root / "filler.py").write_text(FILLER)
    (root / "vocab.py").write_text(BY_PROJECT)
    assert lint(root, cache) == []
    (root / "train.yaml").write_text("bf16: true\n")
    assert lint(root, cache) == ["MP101"]
