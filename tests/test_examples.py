"""The example repository: the mistakes that its README lists are found, and the fixes are sound."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Applicability
from precision_lint.project.discovery import files, kind_of
from precision_lint.project.files import Project

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
EXPECTED = {
    ("finetune/config/config.env", "MP701", "high"),
    ("finetune/config/config.json", "MP701", "high"),
    ("finetune/evaluate.py", "MP101", "medium"),
    ("finetune/evaluate.py", "MP309", "medium"),
    ("finetune/kernels/cross_entropy.py", "MP501", "medium"),
    ("finetune/train.py", "MP201", "high"),
    ("finetune/train_config.yaml", "MP702", "high"),
    ("finetune/vocab.py", "MP101", "high"),
}
LEFT_TO_PEOPLE = {
    ("finetune/evaluate.py", "MP309", "medium"),
    ("finetune/train_config.yaml", "MP702", "high"),
}
"""Whether there is memory for float32 logits, and which of fp16 and bf16 is meant."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The examples in a project of their own."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / ".git").mkdir()
    return tmp_path / "examples"


def lint(folder: Path, fix: Applicability | None = None) -> list[Result]:
    project = Project(folder.parent)
    return run(Job(project, Settings(), fix), files([folder], project.root))


def found(results: list[Result], folder: Path) -> list[tuple[str, str, str]]:
    assert not [result.failure for result in results if result.failure]
    return sorted(
        (finding.place.path.relative_to(folder).as_posix(), finding.code, str(finding.confidence))
        for result in results
        for finding in result.findings
    )


def test_finds_each_mistake_once_and_nothing_else(copy: Path) -> None:
    assert found(lint(copy), copy) == sorted(EXPECTED)


def test_finds_the_same_where_they_lie() -> None:
    assert found(run(Job(Project(ROOT), Settings()), files([EXAMPLES], ROOT)), EXAMPLES) == sorted(
        EXPECTED
    )


def test_the_readme_lists_them() -> None:
    table = (EXAMPLES / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| \[(MP\d+)\]", table, re.MULTILINE)
    listed = {
        (f"finetune/{path}", code)
        for places, code in rows
        for path in re.findall(r"`([\w/]+\.\w+)`", places)
    }
    assert listed == {(path, code) for path, code, _ in EXPECTED}


def test_fixes_what_has_one_right_answer(copy: Path) -> None:
    fixed = lint(copy, Applicability.SAFE)
    assert set(found(fixed, copy)) == LEFT_TO_PEOPLE
    assert sum(len(result.fixed) for result in fixed) == len(EXPECTED - LEFT_TO_PEOPLE)
    assert set(found(lint(copy), copy)) == LEFT_TO_PEOPLE
    before = {path: path.read_bytes() for path in files([copy], copy.parent)}
    lint(copy, Applicability.SAFE)
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.parametrize("fix", [None, Applicability.SAFE], ids=str)
def test_every_file_is_valid_before_and_after(copy: Path, fix: Applicability | None) -> None:
    if fix is not None:
        lint(copy, fix)
    for path in files([copy], copy.parent):
        content = path.read_bytes()
        match kind_of(path):
            case "python":
                compile(content, str(path), "exec")
            case "json":
                json.loads(content)
            case "yaml":
                yaml.safe_load(content)
            case "shell":
                subprocess.run(["bash", "-n", str(path)], check=True, stdin=subprocess.DEVNULL)


def test_the_repaired_environment_keeps_its_other_arguments(copy: Path) -> None:
    lint(copy, Applicability.SAFE)
    script = 'source finetune/config/config.env && printf %s "$TRAINER_EXTRA_ARGS"'
    arguments = subprocess.run(
        ["bash", "-c", script], cwd=copy, check=True, capture_output=True, text=True
    ).stdout
    assert "gradient_precision" not in arguments
    assert arguments.split() == [
        "--lora_rank=16",
        "--lora_init_type=default",
        "--aspect_bucket_rounding=2",
        "--flux_guidance_value=1.0",
        "--seed=42",
    ]


KERNEL = """
import importlib.util, sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

spec = importlib.util.spec_from_file_location("cross_entropy", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
types = dict(
    logits_ptr=f"*{sys.argv[2]}", logits_row_stride="i32", loss_ptr="*fp32", logsumexp_ptr="*fp32",
    labels_ptr="*i64", n_classes="i32", logit_scale="fp32", BLOCK_SIZE="constexpr",
)
source = ASTSource(fn=module._forward, signature=types, constexprs={"BLOCK_SIZE": 1024})
triton.compile(source, target=GPUTarget("cuda", 80, 32))
"""


def test_the_kernel_compiles_for_bfloat16_only_when_repaired(copy: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    path = copy / "finetune" / "kernels" / "cross_entropy.py"

    def compiling(dtype: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", KERNEL, str(path), dtype]
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    assert compiling("fp32").returncode == 0
    before = compiling("bf16")
    assert before.returncode == 1
    assert "initial value for `logits` is of type bf16" in before.stderr
    lint(copy, Applicability.SAFE)
    after = compiling("bf16")
    assert after.returncode == 0, after.stderr
