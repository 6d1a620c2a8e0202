"""A rule that comes to the end of Python's stack says so, and the other rules go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from precision_lint.engine import registry
from precision_lint.engine.job import Job
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Finding
from precision_lint.project.files import Project

SOURCE = b"""\
import torch
x = torch.zeros(2).bfloat16()
y = x.numpy()
ok = torch.cuda.is_bf16_supported()
"""


def _too_deep(file: PythonFile) -> Iterator[Finding]:
    raise RecursionError
    yield


def test_the_other_rules_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = registry.module(registry.rule("MP604"))
    monkeypatch.setattr(module, "check_source", _too_deep)
    path = tmp_path / "a.py"
    job = Job(Project(tmp_path), Settings(), None, write=False, named=frozenset([path]))
    result = lint_bytes(job, path, SOURCE, "python")
    assert [finding.code for finding in result.findings] == ["MP101"]
    assert any("too deeply nested for MP604" in note for note in result.notes)
