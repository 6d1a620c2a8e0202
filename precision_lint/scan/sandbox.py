"""A unit checked in a process of its own, which is killed when it takes too much.

A task of Ray has no limit of time, and its limit of memory is one of planning. An analysis that
runs away is in the middle of Python code, so nothing less than the end of its process stops it. The
process of one unit takes nothing over to the next: no memory, and no crash.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import precision_lint
from precision_lint.engine.settings import Settings
from precision_lint.model.frozen import frozen
from precision_lint.scan.memory import peak_memory
from precision_lint.scan.outcome import Limits, Outcome, Status
from precision_lint.scan.unit import Unit

_PROGRAM = """\
import sys
sys.path.append(sys.argv[1])
from precision_lint.scan.child import main
main()
"""
_HOME = str(Path(precision_lint.__file__).parent.parent)
_FIRST_LOOK, _LONGEST_PAUSE = 0.005, 0.1
"""Seconds between two looks at a process."""
_MOST_FINDINGS = 10_000
"""Findings of one unit that are kept; whoever has more needs no more to see why."""
_MOST_WORDS = 500
"""Characters of what a crashed process said that are kept."""
_MOST_NOTES = 100


def check(unit: Unit, settings: Settings, limits: Limits) -> Outcome:
    """What is found in a unit, or why nothing is; this never raises because of the unit."""
    if unit.problem is not None:
        return unit.outcome(*unit.problem)
    try:
        return _checked(unit, settings, limits)
    except OSError as problem:  # the disk is full, or no process can start
        return unit.outcome(Status.CRASHED, str(problem))


def _checked(unit: Unit, settings: Settings, limits: Limits) -> Outcome:
    started = time.perf_counter()
    with TemporaryDirectory(prefix="precision-lint-scan-", ignore_cleanup_errors=True) as made:
        scratch = Path(made)
        (scratch / "request").write_bytes(pickle.dumps((unit, settings)))
        ended = _run(scratch, limits)
        outcome = _outcome(unit, ended, scratch, limits)
    spent = time.perf_counter() - started
    return replace(outcome, seconds=spent, cpu_seconds=ended.cpu_seconds)


@frozen(slots=False)
class _Ended:
    """A process that has ended."""

    code: int
    """The exit code; minus the number of the signal that killed it."""
    cpu_seconds: float
    peak_memory: int | None
    """Bytes when somebody looked last; None if nobody could."""
    stopped: Status | None
    """Why it was killed from here."""


def _run(scratch: Path, limits: Limits) -> _Ended:
    # Where pages fill faster than somebody looks, the kernel has the last word.
    words = [_PROGRAM, _HOME, str(2 * limits.memory), str(int(limits.seconds) + 10)]
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    with (
        (scratch / "request").open("rb") as request,
        (scratch / "answer").open("wb") as answer,
        (scratch / "errors").open("wb") as errors,
    ):
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", *words],
            stdin=request,
            stdout=answer,
            stderr=errors,
            cwd=scratch,
            env={**kept, "TMPDIR": str(scratch), "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
            start_new_session=True,
        )
    try:
        return _watched(process, limits)
    finally:
        if process.returncode is None:  # an interrupt came in between
            process.kill()
            process.wait()


def _watched(process: subprocess.Popen[bytes], limits: Limits) -> _Ended:
    deadline = time.monotonic() + limits.seconds
    pause, peak, stopped = _FIRST_LOOK, None, None
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu = usage.ru_utime + usage.ru_stime
            return _Ended(process.returncode, cpu, peak, stopped)
        peak = peak_memory(process.pid) or peak
        if stopped is None:
            if time.monotonic() > deadline:
                stopped = Status.TIMEOUT
            elif peak is not None and peak > limits.memory:
                stopped = Status.OUT_OF_MEMORY
            if stopped is not None:
                os.killpg(process.pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _outcome(unit: Unit, ended: _Ended, scratch: Path, limits: Limits) -> Outcome:
    if ended.code == 0:
        return _answered(unit, json.loads((scratch / "answer").read_bytes()))
    status, said = ended.stopped or Status.CRASHED, _last_words(scratch)
    if status is Status.TIMEOUT:
        said = f"stopped after {limits.seconds:g} seconds"
    elif status is Status.OUT_OF_MEMORY:
        said = f"stopped at {ended.peak_memory:,} bytes of memory; the limit is {limits.memory:,}"
    elif said.startswith("MemoryError"):
        status = Status.OUT_OF_MEMORY
    elif ended.code < 0:
        said = f"the process died of {signal.Signals(-ended.code).name} {said}".rstrip()
    return replace(unit.outcome(status, said), peak_memory=ended.peak_memory)


def _answered(unit: Unit, answer: dict[str, Any]) -> Outcome:
    records, notes, failures = answer["records"], answer["notes"], answer["failures"]
    if len(records) > _MOST_FINDINGS:
        notes = [f"only the first {_MOST_FINDINGS:,} of {len(records):,} findings are kept", *notes]
    outcome = unit.outcome()
    if failures:
        others = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        outcome = unit.outcome(Status.FAILED, failures[0] + others)
    return replace(
        outcome,
        peak_memory=answer["peak_memory"],
        records=tuple(records[:_MOST_FINDINGS]),
        notes=tuple(notes[:_MOST_NOTES]),
    )


def _last_words(scratch: Path) -> str:
    """The last line of what a process said on standard error."""
    lines = (scratch / "errors").read_text("utf-8", "replace").splitlines()
    return lines[-1][:_MOST_WORDS] if lines else ""
