"""The process that checks one unit: `main` is all that it runs.

Its memory and its processor time have limits that the kernel enforces, and it ends with the process
that started it.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import signal
import sys
from contextlib import suppress

from precision_lint.api import Shard, lint_project
from precision_lint.report.json_report import dumps
from precision_lint.scan.memory import peak_memory

_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux."""


def main() -> None:
    """Read a unit and settings from standard input, check it, write what was found."""
    memory, seconds = map(int, sys.argv[-2:])
    _end_with_parent()
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_CPU, seconds)  # in case the parent is gone, which looks at the clock
    _limit(resource.RLIMIT_CORE, 0)
    unit, settings = pickle.load(sys.stdin.buffer)
    shard = Shard(unit.part, unit.parts) if unit.parts > 1 else None
    found = lint_project(unit.files, settings, shard)
    answer = {**vars(found), "peak_memory": peak_memory(os.getpid())}
    sys.stdout.write(dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # nothing is left to do, and taking millions of objects apart takes a while


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with suppress(ValueError, OSError):  # macOS does not limit addresses
        resource.setrlimit(kind, (most, most))


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
