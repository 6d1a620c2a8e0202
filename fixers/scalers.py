"""The `enabled=` of a gradient scaler."""

from __future__ import annotations

import re

from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.fixers.calls import set_keyword
from precision_lint.model.finding import Edit
from precision_lint.source.python.parse import ParsedPython


def turn_off(file: ParsedPython, call: Call, enabled: Argument | None) -> Edit | None:
    """`GradScaler()` to `GradScaler(enabled=False)`; None where `enabled` is positional."""
    if enabled is not None and "enabled" not in call.keywords:
        return None
    return set_keyword(file, call, "enabled", "False")


def only_for_float16(
    file: ParsedPython, call: Call, enabled: Argument | None, dtype: str
) -> Edit | None:
    """`GradScaler()` to `GradScaler(enabled=dtype == torch.float16)`.

    A condition that is there stays: `enabled=use_amp and dtype == torch.float16`. None where it is
    positional.
    """
    condition = f"{_operand(dtype)} == torch.float16"
    if enabled is not None:
        if "enabled" not in call.keywords:
            return None
        condition = f"{_operand(file.text[enabled.span])} and {condition}"
    return set_keyword(file, call, "enabled", condition)


def _operand(expression: str) -> str:
    return expression if re.fullmatch(r"[\w.]+", expression) else f"({expression})"
