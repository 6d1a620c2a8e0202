"""Fixes that take a newer torch name the version, where the project names none."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine.job import Job
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Applicability
from precision_lint.project.files import Project

EMULATED = b"""\
import torch

if torch.cuda.is_bf16_supported():
    dtype = torch.bfloat16
else:
    dtype = torch.float16
model = torch.nn.Linear(2, 2).to("cuda", dtype)
"""
SCALER = b"""\
import torch

scaler = torch.cuda.amp.GradScaler()
"""


@pytest.mark.parametrize(
    ("rule", "source", "requirement", "level", "bound"),
    [
        ("MP604", EMULATED, "", Applicability.UNSAFE, "require `torch>=2.4`"),
        ("MP604", EMULATED, "torch>=2.5", Applicability.UNSAFE, ""),
        ("MP604", EMULATED, "torch>=2.3", Applicability.DISPLAY, "(torch 2.4)"),
        ("MP801", SCALER, "", Applicability.UNSAFE, "require `torch>=2.3`"),
        ("MP801", SCALER, "torch>=2.5", Applicability.SAFE, ""),
    ],
)
def test_the_fix_names_the_version_that_it_takes(
    rule: str, source: bytes, requirement: str, level: Applicability, bound: str, tmp_path: Path
) -> None:
    if requirement:
        (tmp_path / "requirements.txt").write_text(f"{requirement}\n")
    path = tmp_path / "case.py"
    path.write_bytes(source)
    settings = Settings(select=(rule,))
    job = Job(Project(tmp_path), settings, None, write=False, named=frozenset([path]))
    [finding] = lint_bytes(job, path, source, "python").findings
    assert finding.fix is not None
    assert finding.fix.applicability is level
    assert finding.fix.message.endswith(bound)
    assert ("require" in finding.fix.message) == ("require" in bound)
