"""Autocast that other code may open around a call: a caller in another file, or a framework."""

from __future__ import annotations

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.model.regex import regex

_OPENING = rb"autocast|Trainer\b|LightningModule|\bFabric\(|Accelerator\(|mixed_precision"
_IN_TEXT = regex(_OPENING.decode())


def may_run_under_autocast(call: Call, file: PythonFile) -> bool:
    """True if a region may be around a call that its own body and its callers here do not show.

    The top level of a program runs as it is written. A function may be called by a framework, or by
    files that run with this one and open regions.
    """
    if not call.scope:
        return False
    return file.fact(may_run_under_autocast, lambda: _opens_regions(file))


def _opens_regions(file: PythonFile) -> bool:
    path = file.text.path
    return _IN_TEXT.search(file.text.text) is not None or any(
        file.project.runs_with(other, path)
        for other in file.project.python_sources_matching(_OPENING)
        if other != path
    )
