"""Records which dtypes occur at each expression of some files while they run.

A torch function mode sees every operator and function of torch that these files call, a profiler
what their Python calls return. The instruction that their frame is at has the position of its
expression, which is that of the syntax tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from inspect import CO_GENERATOR
from types import CodeType, FrameType, TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tests.model_zoo.facts import Result, Span

_MOST_ITEMS = 16
"""Longer tuples and lists are no results of one call."""


class Tracer(TorchFunctionMode):
    """Collects the results at each expression of the files that `includes` names, by mode."""

    def __init__(self, includes: Callable[[str], bool]) -> None:
        super().__init__()
        self.mode = ""
        self.results: dict[tuple[str, Span], dict[str, set[Result]]] = {}
        self._includes = lru_cache(None)(includes)
        self._in_builtin: set[FrameType] = set()
        """Frames that call a builtin: what it calls in turn gives other values than it does."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        self._record(sys._getframe(1), result)
        return result

    def __enter__(self) -> Any:
        entered = super().__enter__()
        sys.setprofile(self._profile)
        return entered

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.setprofile(None)
        super().__exit__(kind, error, traceback)

    def _profile(self, frame: FrameType, event: str, value: Any) -> None:
        match event:
            case "return" if frame.f_back is not None and not frame.f_code.co_flags & CO_GENERATOR:
                self._record(frame.f_back, value)
            case "c_call" if value.__module__ == "builtins" and value.__name__ != "getattr":
                self._in_builtin.add(frame)
            case "c_return" | "c_exception":
                self._in_builtin.discard(frame)

    def _record(self, frame: FrameType, value: object) -> None:
        path = frame.f_code.co_filename
        if not self._includes(path) or frame in self._in_builtin:
            return
        result = result_of(value)
        span = _positions(frame.f_code)[frame.f_lasti // 2]
        if result is not None and span is not None:
            by_mode = self.results.setdefault((path, span), {})
            by_mode.setdefault(self.mode, set()).add(result)


@lru_cache(None)
def _positions(code: CodeType) -> list[Span | None]:
    """The expression of each instruction: first and last row, columns in bytes, as in `ast`."""
    return [
        None
        if row is None or end_row is None or column is None or end_column is None
        else (row, column, end_row, end_column)
        for row, end_row, column, end_column in code.co_positions()
    ]


def result_of(value: object, depth: int = 0) -> Result | None:
    """The dtype of a tensor, the results of a tuple that holds one; None for anything else."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype).removeprefix("torch.")
    if type(value) in {tuple, list} and depth < 2 and len(value) <= _MOST_ITEMS:  # type: ignore[arg-type]
        items = tuple(result_of(item, depth + 1) for item in value)  # type: ignore[attr-defined]
        return items if any(item is not None for item in items) else None
    return None
