"""A pool of worker processes that never imports a module of the linted project.

A spawned worker starts as `python -c`, whose first import path is the working folder: a
`struct.py` lying there would run. Forked workers import nothing anew. Where fork is not to be had,
workers start with PYTHONSAFEPATH set, in an empty folder (Python 3.10 does not know the variable).
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_CHUNKS_PER_WORKER = 8


def default_method() -> str:
    """Fork on Linux, spawn elsewhere (macOS frameworks do not survive a fork)."""
    return "fork" if sys.platform == "linux" else "spawn"


def ordered_map(
    function: Callable[[T], R], items: Sequence[T], jobs: int, method: str | None = None
) -> Iterator[R]:
    """`map(function, items)` over `jobs` processes, in order. Paths in `items` must be absolute."""
    if jobs <= 1 or len(items) <= 1:
        yield from map(function, items)
        return
    context = multiprocessing.get_context(method or default_method())
    workers = min(jobs, len(items))
    chunk = max(1, len(items) // (workers * _CHUNKS_PER_WORKER))
    with _safe_start(context.get_start_method()):
        pool = ProcessPoolExecutor(workers, mp_context=context)
        results = pool.map(function, items, chunksize=chunk)
        list(pool.map(_ready, range(workers)))
    with pool:
        yield from results


def _ready(index: int) -> int:
    return index


@contextmanager
def _safe_start(method: str) -> Iterator[None]:
    """Keep the working folder off the import path of the workers that start inside."""
    if method == "fork":
        yield
        return
    before, folder = os.environ.get("PYTHONSAFEPATH"), os.getcwd()
    os.environ["PYTHONSAFEPATH"] = "1"
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        try:
            yield
        finally:
            os.chdir(folder)
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before
