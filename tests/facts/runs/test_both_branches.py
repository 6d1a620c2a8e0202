"""Places in several branches that are given the same by one setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import sys

import torch
import yaml

config = yaml.safe_load(open(sys.argv[1]))
for index, batch in enumerate(batches):
    {}
"""
REGION = """\
with torch.autocast("cuda", dtype=torch.bfloat16, enabled=config["amp"]):
            loss = model(batch)
"""


def rows(lines: str, tmp_path: Path) -> list[str]:
    files = {
        "run.sh": "python train.py conf/a.yaml\n",
        "conf/a.yaml": "amp: true\nlr: 1\n",
        "train.py": PROGRAM.format(lines.replace("REGION", REGION)),
    }
    out = explained(tmp_path, files).splitlines()
    return [row for row in out if "(autocast" in row]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("if index % 4:\n        REGION\n    else:\n        REGION", "one of 2 places"),
        (
            "if index % 4:\n        REGION\n    if index % 4 == 0:\n        REGION",
            "one of 2 places",
        ),
    ],
)
def test_one_of_the_places_if_each_has_a_condition(lines: str, said: str, tmp_path: Path) -> None:
    (row,) = rows(lines, tmp_path)
    assert said in row
    assert "only if" not in row


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("if index % 4:\n        REGION", "only if index % 4"),
        ("if index % 4:\n        REGION\n    else:\n        step(batch)", "only if index % 4"),
        ("if index % 4:\n        REGION\n        REGION", "only if index % 4"),
    ],
)
def test_a_condition_that_all_places_have(lines: str, said: str, tmp_path: Path) -> None:
    (row,) = rows(lines, tmp_path)
    assert said in row


def test_another_value_in_the_other_branch(tmp_path: Path) -> None:
    half = REGION.replace("bfloat16", "float16")
    lines = f"if index % 4:\n        REGION\n    else:\n        {half}"
    found = rows(lines, tmp_path)
    assert len(found) == 2
    assert all("only if" in row for row in found)
