"""The places that a finding about results in half precision names."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine.job import Job
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.project.discovery import files
from precision_lint.project.files import Project

SCORES = """\
import argparse

import torch
from transformers import AutoModelForCausalLM


def named(name):
    if name == "bf16":
        return torch.bfloat16
    return torch.float32


parser = argparse.ArgumentParser()
parser.add_argument("--dtype", choices=["fp32", "bf16"], default="fp32")
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("m", dtype=named(args.dtype))
logits = model(torch.ones(1, 3, dtype=torch.long)).logits
print(torch.log_softmax(logits, -1)[0, 0, :2].sum().item())
"""

SQUARES = """\
import torch


def size(accelerator, images):
    weight_dtype = torch.float32
    if accelerator.mixed_precision == "fp16":
        weight_dtype = torch.float16
    elif accelerator.mixed_precision == "bf16":
        weight_dtype = torch.bfloat16
    x = images.to(dtype=weight_dtype)
    return torch.mean(x ** 2)
"""


@pytest.mark.parametrize(
    ("code", "said", "not_said"),
    [
        (SCORES, "with `--dtype bf16`", "the dtype is chosen here"),
        (SQUARES, "the dtype is chosen here", "bfloat16 is chosen here"),
    ],
)
def test_the_place_is_that_of_the_dtype_of_the_message(
    code: str, said: str, not_said: str, tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text(code, "utf-8")
    results = run(Job(Project(tmp_path), Settings(preview=True)), files([tmp_path], tmp_path))
    (finding,) = [finding for result in results for finding in result.findings]
    messages = [related.message for related in finding.related]
    assert said in messages
    assert not_said not in messages


TWO_LOOPS = """\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("m", dtype=torch.bfloat16)


def scores(rows):
    found = []
    for row in rows:
        for ids in row:
            out = model(ids).logits.log_softmax(-1)
            kept = out[0, 0]
            found.append(kept[1].item())
        for ids in row:
            out = model(ids).logits.log_softmax(-1)
            kept = out[0, 0]
            found.append(kept[2].item())
    return found
"""


def test_the_use_of_the_same_iteration_is_named_first(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(TWO_LOOPS)
    project = Project(tmp_path)
    results = run(Job(project, Settings(select=("MP309",))), files([tmp_path], tmp_path))
    found = [finding for result in results for finding in result.findings]
    rows = [
        [one.place.start.row for one in each.related if "exact" in one.message] for each in found
    ]
    assert rows == [[13], [17]]
