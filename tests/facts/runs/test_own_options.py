"""Options that a program takes from its command line alone, though it loads other files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

FILE = "layers: 3\nwidth: 8\nlr: 0.1\nsteps: 5\nnorm: batch\nmixed_precision: true\n"
OPTIONS = """\
import argparse
import torch
import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--mixed-precision", action="store_true")
for name in ("layers", "width", "lr", "steps", "norm", "data"):
    parser.add_argument(f"--{name}")
args = parser.parse_args()
data = yaml.safe_load(open(args.data))
"""
READS = """\
print(args.layers, args.width, args.lr, args.steps, args.norm, data)
with torch.autocast("cuda", enabled=args.mixed_precision):
    pass
if __name__ == "__main__":
    main()
"""


def explained(tmp_path: Path, merge: str, reads: str = READS) -> str:
    files = {"a.yaml": FILE, "train.py": OPTIONS + merge + reads}
    return run("explain-config", cwd=project(tmp_path, files)).out


@pytest.mark.parametrize("reads", [READS, READS.replace("args.m", "model.args.m")])
def test_a_file_whose_keys_are_options_is_not_read(reads: str, tmp_path: Path) -> None:
    assert "read by train.py" not in explained(tmp_path, "", reads)


@pytest.mark.parametrize(
    ("merge", "old", "new"),
    [
        ("vars(args).update(data)\n", "", ""),
        ("parser.set_defaults(**data)\nargs = parser.parse_args()\n", "", ""),
        ("for key, value in data.items():\n    setattr(args, key, value)\n", "", ""),
        ("args = argparse.Namespace(**data)\n", "", ""),
        ("", "enabled=args.mixed_precision", "enabled=data['mixed_precision']"),
        ("", "enabled=args.mixed_precision", "enabled=data.get('mixed_precision')"),
        ("config = merged(args, data)\n", "enabled=args.", "enabled=config."),
    ],
)
def test_programs_that_bring_what_they_load_and_their_options_together(
    merge: str, old: str, new: str, tmp_path: Path
) -> None:
    assert "read by train.py" in explained(tmp_path, merge, READS.replace(old, new))


READS_VARIABLE = """\
import os
import torch

kind = getattr(torch, {})
with torch.autocast("cuda", dtype=kind):
    pass
"""


@pytest.mark.parametrize(
    "read",
    ['os.environ.get("RUN_DTYPE", "float32")', 'os.environ["RUN_DTYPE"]', 'os.getenv("RUN_DTYPE")'],
)
def test_a_variable_that_the_program_reads(read: str, tmp_path: Path) -> None:
    program = READS_VARIABLE.format(read)
    files = {"run.sh": "export RUN_DTYPE=bfloat16\npython train.py\n", "train.py": program}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert "bfloat16 (autocast, train.py:5)  run.sh:1" in out
