"""Programs that measure how fast something trains, and keep nothing of it: benchmarks."""

from __future__ import annotations

from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.code import code_of
from precision_lint.source.python.parse import ParsedPython

_WAITS = regex(r"\bcuda\.synchronize\(|\benable_timing=True")
"""The clock is read when the GPU is done."""
_TRAINS = regex(r"\.backward\(")
_KEEPS = regex(
    r"(?i)save|checkpoint|ckpt|state_dict|push_to_hub|export|eval|valid|\btest|log_|wandb"
)


@fact
def only_measures(file: ParsedPython) -> bool:
    """True for a program that times how a GPU trains, and neither saves, evaluates nor logs it."""
    code = code_of(file)
    is_timed = _WAITS.search(code) is not None and _TRAINS.search(code) is not None
    return is_timed and _KEEPS.search(code) is None
