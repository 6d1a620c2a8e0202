"""Bounds on CPU time: what a test needs on a busy machine, where the clock proves nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

HANG = 600.0
"""Seconds on the clock after which a process has hung, however busy the machine is."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail if the block takes that much CPU time of this process, or more."""
    start = time.process_time()
    yield
    taken = time.process_time() - start
    assert taken < seconds, f"{taken:.1f} s of CPU time"


def of_children() -> float:
    """CPU seconds of the child processes that have ended, and of theirs."""
    times = os.times()
    return times.children_user + times.children_system
