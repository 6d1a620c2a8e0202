"""A pool of worker processes that never imports a module of the linted project.

A spawned worker starts as `python -c`, whose first import path is the working folder: a
`struct.py` in it would be executed. Forked workers import nothing again. Where fork is unavailable,
workers start in an empty folder, with PYTHONSAFEPATH set (Python 3.10 ignores the variable).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_CHUNKS_PER_WORKER = 8
_LARGEST_CHUNK = 32
"""Ctrl-C waits for the chunks that are being worked on."""


class WorkerDied(Exception):
    """A worker process died without a result: killed, or out of memory."""


def default_method() -> str:
    """Fork on Linux, spawn elsewhere (macOS frameworks do not survive a fork)."""
    return "fork" if sys.platform == "linux" else "spawn"


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(
    function: Callable[[T], R], items: Sequence[T], jobs: int, method: str | None = None
) -> Generator[R, None, None]:
    """`map(function, items)` over `jobs` processes, in order. Paths in `items` must be absolute.

    Raises:
        WorkerDied: a worker process did not survive its item.
    """
    if jobs <= 1 or len(items) <= 1:
        yield from map(function, items)
        return
    import multiprocessing
    import tempfile
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    method = method or default_method()
    workers = min(jobs, len(items))
    chunk = min(max(1, len(items) // (workers * _CHUNKS_PER_WORKER)), _LARGEST_CHUNK)
    try:
        with ExitStack() as stack:
            # Workers return to the folder that they started in, so it must exist until they end.
            empty = stack.enter_context(tempfile.TemporaryDirectory())
            with _safe_start(method, empty):  # helpers start with the pool, workers with the work
                pool = ProcessPoolExecutor(
                    workers,
                    mp_context=multiprocessing.get_context(method),
                    initializer=_start,
                    initargs=(function,),
                )
                stack.callback(pool.shutdown, cancel_futures=True)
                results = pool.map(_work, items, chunksize=chunk)
            yield from results
    except BrokenProcessPool as error:
        raise WorkerDied("a worker process died; is there enough memory?") from error


_function: Callable[[Any], Any]
"""The function for each item: sent once per worker, so that its caches are kept."""


def _start(function: Callable[[Any], Any]) -> None:
    import signal

    global _function
    _function = function
    gc.disable()
    # Ctrl-C reaches the whole process group; the parent ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection by the count of objects, here and in the workers.

    Syntax trees have millions of nodes and no cycles: a fifth of a run went into looking at them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _work(item: Any) -> Any:
    return _function(item)


@contextmanager
def _safe_start(method: str, empty: str) -> Iterator[None]:
    """Keep the working folder off the import path of workers started in this block."""
    if method == "fork":
        yield
        return
    before, folder = os.environ.get("PYTHONSAFEPATH"), os.getcwd()
    os.environ["PYTHONSAFEPATH"] = "1"
    os.chdir(empty)
    try:
        yield
    finally:
        os.chdir(folder)
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before
