"""How an exception that nobody expected is reported."""

from __future__ import annotations

from pathlib import Path


def internal_error(error: BaseException) -> str:
    """One line for a bug of ours: where the exception was raised, and what it says."""
    return f"internal error at {_raised_at(error)}: {error!r}"


def _raised_at(error: BaseException) -> str:
    """The file and row where an exception was raised."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return "an unknown place"
    return f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"


def is_interrupt(error: BaseException) -> bool:
    """True if a Ctrl-C caused an exception.

    Before Python 3.12, one while a class is made becomes a RuntimeError: "Error calling
    __set_name__". Modules that are imported late make classes during a run.
    """
    return isinstance(error.__cause__, KeyboardInterrupt)
