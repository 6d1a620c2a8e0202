"""What the rules for Python report of a program by themselves: a run need not repeat it."""

from __future__ import annotations

from itertools import chain

from precision_lint.facts.amp.scaling.bfloat16_scaling import SCALING_CALLS, scaling_at, scaling_in
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.project.facts import Recording


def is_reported(run: EffectiveConfig, project: Recording) -> bool:
    """True if the scaler of a program is reported in its code, for any run in bfloat16."""
    scaler, region = run.setting("scaler"), run.setting("autocast")
    if scaler is None or region is None or region.value != "bfloat16":
        return False
    used_at = scaler.written.used_at if scaler.written is not None else None
    python = project.module(used_at.place.path) if used_at is not None else None
    if python is None:
        return False

    def compute() -> bool:
        file = PythonFile.of(python, project)
        calls = calls_in(file, SCALING_CALLS, SCALING_CALLS)
        found = chain(scaling_in(file), *(scaling_at(call, file) for call in calls))
        return any(not scaling.is_optional for scaling in found)  # those have low confidence

    return project.config_files.once(("reported", python.text.path), compute)
