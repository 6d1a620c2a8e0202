"""Time and peak memory of one piece of work, on a GPU or a CPU, and rivals that take turns at it.

A piece of work is prepared first, which is not measured: a function returns the function to time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import torch
from cross_entropy_report import Timing, first_line

Work = Callable[[], object]
Prepare = Callable[[], Work]

# Larger than any cache: 256 MiB on MI300X, 126 MB on B200, 50 MB on H100.
_EVICTED = 2**29
# About a millisecond: longer than the host takes to queue a forward and a backward pass.
_HEAD_START = 2_000_000


class Stopwatch(Protocol):
    """Measures on one kind of device."""

    def time(self, work: Work) -> float:
        """Milliseconds."""

    def peak(self, prepare: Prepare) -> int | None:
        """Bytes above what was allocated before the preparation; None if that is unknown.

        What the work allocates at most while it runs, and what its preparation left behind.
        """


class GpuStopwatch:
    """CUDA events (ROCm's too) around work on the current device and stream."""

    def __init__(self) -> None:
        self._evictor = torch.zeros(_EVICTED // 4, dtype=torch.int32, device="cuda")

    def time(self, work: Work) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        # Read, not written: lines that were written would go back to memory in the timed part.
        self._evictor.amax()
        # While the device is busy the host queues the work, so that its time is not the host's.
        torch.cuda._sleep(_HEAD_START)
        start.record()
        work()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end))

    def peak(self, prepare: Prepare) -> int | None:
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        work = prepare()
        torch.cuda.reset_peak_memory_stats()
        work()
        torch.cuda.synchronize()
        return int(torch.cuda.max_memory_allocated()) - before


class CpuStopwatch:
    """Wall time. The caches are as the preparation left them, which is the same for all."""

    def time(self, work: Work) -> float:
        start = time.perf_counter()
        work()
        return (time.perf_counter() - start) * 1000

    def peak(self, prepare: Prepare) -> int | None:
        """The growth of the resident memory: exact for tensors of more than 32 MiB.

        Smaller ones may lie in memory that the process had kept. Linux only.
        """
        try:
            before = _resident("VmRSS")
            work = prepare()
            Path("/proc/self/clear_refs").write_text("5")  # VmHWM becomes VmRSS: proc(5)
        except OSError:
            return None
        work()
        return max(0, _resident("VmHWM") - before)


def _resident(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    if found is None:
        raise OSError(f"/proc/self/status has no {name}")
    return int(found[1]) * 1024


def compare(
    contenders: Mapping[str, Prepare], stopwatch: Stopwatch, *, warmup: int, repetitions: int
) -> tuple[dict[str, Timing], dict[str, int | None], dict[str, str]]:
    """Times, peak memory and failures of contenders that take turns.

    Every round begins with another contender, so that none always follows the same one, and a
    clock that slows down does so for all of them. One that raises is out.
    """
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    peaks: dict[str, int | None] = {}
    failures: dict[str, str] = {}
    names = list(contenders)
    for turn in range(warmup + repetitions):
        first = turn % max(1, len(names))
        for name in names[first:] + names[:first]:
            if name in failures:
                continue
            try:
                taken = stopwatch.time(contenders[name]())
            except Exception as error:
                failures[name] = first_line(error)
            else:
                samples[name] += [taken] if turn >= warmup else []
    for name, prepare in contenders.items():
        if name in failures:
            continue
        try:
            peaks[name] = stopwatch.peak(prepare)
        except Exception as error:
            failures[name] = first_line(error)
    timings = {name: Timing.of(taken) for name, taken in samples.items() if name not in failures}
    return timings, peaks, failures
