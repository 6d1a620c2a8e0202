"""What a condition says of the dtype, read from its source: `dtype == torch.float16`, `args.fp16`.

Names carry the meaning here, not values: `cfg.fp16` is nowhere defined in a file that tests it.
"""

from __future__ import annotations

import re

from precision_lint.dtypes.calls import Guard
from precision_lint.source.text import SourceText

_FLOAT16 = re.compile(r"(?<![a-z])(float16|fp16|half)\b|\b16\b")
_BFLOAT16 = re.compile(r"bfloat16|bf16")
_NOT = re.compile(r"!=|\bnot\b")


def excludes_bfloat16(condition: str) -> bool:
    """True if a condition holds for float16 only, or for anything but bfloat16."""
    text = condition.lower()
    if _BFLOAT16.search(text):
        return _NOT.search(text) is not None
    return _FLOAT16.search(text) is not None


def admits_bfloat16(condition: str) -> bool:
    """True if a condition names bfloat16 as one of the dtypes that it holds for."""
    return _BFLOAT16.search(condition.lower()) is not None and not excludes_bfloat16(condition)


def guard_excludes_bfloat16(guard: Guard, text: SourceText) -> bool:
    """True if what stands under a guard does not run in bfloat16."""
    condition = text[guard.span]
    if guard.holds:
        return excludes_bfloat16(condition)
    return admits_bfloat16(condition)
