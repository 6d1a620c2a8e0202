"""The oracle: the front end of the real compiler, which needs no GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

# Triton keeps state in the process and reads functions back from files: a process of its own.
_WORKER = Path(__file__).with_name("compiling_worker.py")


@dataclass(frozen=True)
class Job:
    """A kernel in a file, and the types or compile-time values of its parameters."""

    path: str
    kernel: str
    types: dict[str, str]
    constants: dict[str, object]
    wants: str = ""
    """`code` of the front end instead of nothing; or `machine code`, to see whether it comes."""


def verdicts(jobs: list[Job], folder: Path, python: str = sys.executable) -> list[str]:
    """What the Triton of an interpreter says of each job: its error, else nothing or the code.

    A job that takes the process down is rejected as well, with the last words of the process.
    """
    listed, found = folder / "jobs.json", folder / "verdicts.jsonl"
    listed.write_text(json.dumps([asdict(job) for job in jobs]))
    found.write_text("")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"},
        "TRITON_CACHE_DIR": str(folder / "cache"),
        # Left unset, triton 3.9 warns that its default is about to change.
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    while (done := len(found.read_text().splitlines())) < len(jobs):
        run = subprocess.run(
            [python, str(_WORKER), str(listed), str(found)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        if run.returncode < 0:
            last = (run.stderr.strip().splitlines() or [""])[-1]
            with found.open("a") as lines:
                lines.write(json.dumps(f"aborts: {last}") + "\n")
        assert run.returncode <= 0, run.stderr[-4000:]
        assert len(found.read_text().splitlines()) > done
    return [json.loads(line) for line in found.read_text().splitlines()]
