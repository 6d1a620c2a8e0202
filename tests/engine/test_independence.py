"""What a rule finds does not depend on which other rules are selected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from precision_lint.engine import registry
from precision_lint.engine.job import Job
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence, Finding
from precision_lint.project.discovery import files
from precision_lint.project.files import Project
from tests import cases

_PYTHON = {rule.name for rule in registry.rules() if "check_call" in rule.hooks}
_SETTLED = {rule.code for rule in registry.rules() if not rule.preview}
_ABOUT_THE_LINTER = ("MP901", "MP902")
"""What they report follows from what the others do."""

_MOST_OF_A_RULE = 5


def _cases() -> Iterator[cases.Case]:
    """Cases of several Python files, a few of each rule."""
    for path in sorted(cases.RULES.glob("*.md")):
        several = [
            case
            for case in cases.load(path)
            if case.rule in _PYTHON and sum(name.endswith(".py") for name in case.files) > 1
        ]
        yield from several[-_MOST_OF_A_RULE:]


CASES = list(_cases())

AVERAGED = {
    "models.py": """
from torch import nn

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 8)

MODELS = {"small": Small, "large": Large}

def build(name, dtype):
    return MODELS[name]().to(dtype)
""",
    "train.py": """
import copy

import torch
from models import build

def main(args, loader):
    model = build(args.model, torch.float16).cuda()
    ema = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = (model(x) - y).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        for average, weight in zip(ema.parameters(), model.parameters()):
            average.data.mul_(0.999).add_(weight.data, alpha=0.001)
""",
}
"""The copy and the optimizer are asked about by rules of both tiers."""


def found(root: Path, *, select: tuple[str, ...], preview: bool = False) -> set[Finding]:
    settings = Settings(select=select, preview=preview, min_confidence=Confidence.LOW)
    results = run(Job(Project(root), settings, None), files([root], root))
    assert not [result.failure for result in results if result.failure]
    findings = {finding for result in results for finding in result.findings}
    return {each for each in findings if each.code not in _ABOUT_THE_LINTER}


def written(content: dict[str, str], root: Path) -> Path:
    (root / ".git").mkdir()
    for name, text in content.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def check(root: Path) -> set[Finding]:
    settled = found(root, select=("ALL",))
    every = found(root, select=("ALL",), preview=True)
    assert {each for each in every if each.code in _SETTLED} == settled
    for code in {each.code for each in every}:
        alone = found(root, select=(code,), preview=True)
        assert alone == {each for each in every if each.code == code}
    return every


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cases(case: cases.Case, tmp_path: Path) -> None:
    check(written(case.files, tmp_path))


def test_a_model_that_rules_of_both_tiers_ask_about(tmp_path: Path) -> None:
    codes = {each.code for each in check(written(AVERAGED, tmp_path))}
    assert {"MP202", "MP307"} <= codes


def test_there_are_cases_of_many_rules() -> None:
    assert len({case.rule for case in CASES}) >= 8
