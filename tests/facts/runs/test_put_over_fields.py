"""Options that a program puts over the fields of its settings, if a run gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
from dataclasses import dataclass
import torch

DTYPES = {{"bf16": torch.bfloat16, "fp16": torch.float16}}

@dataclass
class Settings:
    precision: str = "bf16"

def train(settings):
    with torch.no_grad(), torch.autocast("cuda", dtype=DTYPES[settings.precision]):
        target = teacher()
    with torch.autocast("cuda", dtype=DTYPES[settings.precision]):
        return model(target)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--precision", choices=["bf16", "fp16"], default={default})
    args = parser.parse_args()
    settings = Settings()
    {put}
    train(settings)

if __name__ == "__main__":
    main()
"""
PUT = "if args.precision is not None:\n        settings.precision = args.precision"
FOUND = "bfloat16 by default (autocast, train.py:14)  train.py:9  precision"


def out(put: str, tmp_path: Path, default: str = "None") -> str:
    return explained(tmp_path, {"train.py": PROGRAM.format(put=put, default=default)})


@pytest.mark.parametrize(
    "put", [PUT, "if args.precision:\n        settings.precision = args.precision"]
)
def test_the_field_has_its_default(put: str, tmp_path: Path) -> None:
    assert FOUND in out(put, tmp_path)


@pytest.mark.parametrize(
    ("put", "default"),
    [
        (PUT, '"fp16"'),
        ("settings.precision = args.precision", "None"),
        ("if args.other is not None:\n        settings.precision = args.precision", "None"),
        ("if args.precision is None:\n        settings.precision = args.precision", "None"),
        (f"{PUT}\n    settings.precision = 'fp16'", "None"),
        (f"{PUT}\n    else:\n        settings.precision = args.precision", "None"),
    ],
)
def test_what_may_put_something_else_there(put: str, default: str, tmp_path: Path) -> None:
    assert FOUND not in out(put, tmp_path, default)
