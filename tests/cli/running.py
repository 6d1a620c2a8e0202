"""The command line, run in this process: exit code, standard output and standard error."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from precision_lint.cli.main import main

BAD = """\
import torch

scores = torch.zeros(2, dtype=torch.bfloat16)
array = scores.numpy()  # for the plot
"""
FIXED = BAD.replace("scores.numpy()", "scores.float().numpy()")
CLEAN = "import torch\n\narray = torch.zeros(2).numpy()\n"
BROKEN = "import torch\nx.numpy(\n"
SCALER = """\
import torch

scaler = torch.amp.GradScaler("cuda")
for batch in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""
CONFIG = """\
output_dir: out
learning_rate: 1.0e-5
per_device_train_batch_size: 2
fp16: true
bf16: true
"""


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    code: int
    stdout: bytes
    err: str

    @property
    def out(self) -> str:
        return self.stdout.decode()


def run(*arguments: str | Path, cwd: Path, stdin: bytes = b"") -> Ran:
    """Run `precision-lint` in a folder."""
    before = sys.stdin, sys.stdout, sys.stderr
    folder = Path.cwd()
    out, err = TextIOWrapper(BytesIO(), "utf-8"), TextIOWrapper(BytesIO(), "utf-8")
    sys.stdin, sys.stdout, sys.stderr = TextIOWrapper(BytesIO(stdin)), out, err
    os.chdir(cwd)
    try:
        with pytest.raises(SystemExit) as stop:
            main([os.fspath(argument) for argument in arguments])
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        os.chdir(folder)
    assert isinstance(stop.value.code, int)
    return Ran(stop.value.code, written(out), written(err).decode())


def written(stream: TextIOWrapper) -> bytes:
    """What was written to a stream."""
    stream.flush()
    stream.seek(0)
    return bytes(stream.buffer.read())


def codes(ran: Ran) -> list[str]:
    """The codes in a report of format `concise`."""
    return [line.split()[1] for line in ran.out.splitlines() if ": MP" in line]


def project(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder, which becomes a project."""
    (root / ".git").mkdir(exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return root


def explained(root: Path, files: dict[str, str], *paths: str) -> str:
    """What `explain-config` says of a project with some files."""
    return run("explain-config", *paths, cwd=project(root, files)).out
