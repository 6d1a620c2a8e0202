"""What configuration files cost: CPU milliseconds for each, by what they say.

    python benchmarks/configurations.py [--files 10000]

The files are written to a temporary folder, and a process of its own checks them without a cache
and without workers. CPU time is user and system time together.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = {
    "no word of precision": "",
    "composed by Hydra": "defaults:\n  - base\n  - _self_\n",
    "a precision": "precision: bf16-mixed\n",
}
_TEXT = """\
name: run_{number}
model:
  hidden_size: 1024
  num_layers: {number}
  dropout: 0.1
  activation: gelu
optimizer:
  name: adamw
  lr: 1.0e-4
  betas: [0.9, 0.95]
data:
  path: /data/{number}
  batch_size: 32
  workers: 8
trainer:
  max_steps: {number}
  log_every: 10
  gradient_clip_val: 1.0
"""
_MOST_IN_A_FOLDER = 200


def write(root: Path, files: int, words: str) -> None:
    """Files of one kind, in folders as projects have them."""
    (root / ".git").mkdir()
    for number in range(files):
        folder = root / f"conf{number // _MOST_IN_A_FOLDER}"
        folder.mkdir(exist_ok=True)
        (folder / f"run{number}.yaml").write_text(words + _TEXT.format(number=number))


def cpu_seconds(root: Path) -> float:
    """What a run over a folder takes, with the start of the process."""
    before = os.times()
    program = str(Path(sys.executable).with_name("precision-lint"))
    command = [program, "--isolated", "--no-cache", "-j1"]
    subprocess.run([*command, str(root)], check=False, stdout=subprocess.DEVNULL, cwd=root)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def main() -> None:
    """Print one line for each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    files = parser.parse_args().files
    for kind, words in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            write(root, files, words)
            seconds = cpu_seconds(root)
        print(f"{kind:24} {seconds:6.1f} s  {1000 * seconds / files:5.2f} ms a file")


if __name__ == "__main__":
    main()
