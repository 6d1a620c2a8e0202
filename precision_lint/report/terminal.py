"""Output for interactive terminals only: color and progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TextIO

PATIENCE = 1.0
"""Seconds before progress is shown."""
_REFRESH = 0.1


def wants_color(stream: TextIO, environ: Mapping[str, str], asked: str = "auto") -> bool:
    """True if color should be used: what was asked, NO_COLOR, FORCE_COLOR, the kind of stream."""
    if asked != "auto":
        return asked == "always"
    if environ.get("NO_COLOR"):
        return False
    if forced := environ.get("FORCE_COLOR"):
        return forced.lower() not in {"0", "false"}
    return environ.get("TERM") != "dumb" and stream.isatty()


@contextmanager
def progress(
    total: int, stream: TextIO, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[], None]]:
    """Yield `advance()`, to be called after each of `total` steps.

    On a terminal a bar appears after a delay. It is drawn by `advance` itself, so that no thread
    runs next to worker processes, and is removed at the end.
    """
    if not stream.isatty():
        yield _nothing
        return
    with ExitStack() as shown:
        yield _Bar(total, stream, clock, shown).advance


def _nothing() -> None:
    """The `advance` that shows nothing."""


class _Bar:
    def __init__(
        self, total: int, stream: TextIO, clock: Callable[[], float], shown: ExitStack
    ) -> None:
        self.total = total
        self.done = 0
        self.stream = stream
        self.clock = clock
        self.shown = shown
        self.next_draw = clock() + PATIENCE
        self.draw: Callable[[int], None] | None = None

    def advance(self) -> None:
        self.done += 1
        if (now := self.clock()) < self.next_draw:
            return
        self.next_draw = now + _REFRESH
        if self.draw is None:
            self.draw = self._show()
        self.draw(self.done)

    def _show(self) -> Callable[[int], None]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress

        bar = Progress(
            "Checking",
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(file=self.stream),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        task = bar.add_task("", total=self.total)
        self.shown.enter_context(bar)
        return lambda done: bar.update(task, completed=done, refresh=True)
