"""What is known of an operator of torch: which arguments decide the dtype of its result, and how.

The rows are measured (scripts/measure_operators.py) and stand in `operators.py`.
"""

from __future__ import annotations

from typing import NamedTuple


class Operator(NamedTuple):
    """One function or method of torch; the receiver of a method is its argument 0."""

    result: str
    """The kind of the result (a key of `KINDS`, a dtype, or "python" for what is no tensor);
    "a, b" for a tuple of results, "[a]" for a list of them."""
    operands: tuple[tuple[int, str], ...] = ()
    """Position and keyword of the arguments whose promoted dtype decides."""
    dtype: int | None = None
    """The position of `dtype=`, where it can be given by position."""
    dim: int | None = None
    """The position of `dim=`, without which the operator reduces all dimensions."""
    shape: str = "keeps"
    """Dimensions of the result: it "reduces" all or those of `dim`, "drops" one, "contracts" two
    vectors to none, "makes" some of none, or "keeps" them."""
    cuda: str = ""
    """What autocast does to the operands on CUDA: casts them to its dtype ("lower"), to "float32",
    or nothing."""
    cpu: str = ""
    """The same on CPU."""
    composed: bool = False
    """Made of several operations: operands of mixed dtypes need not promote as those of one."""


class Lack(NamedTuple):
    """What an operator raises for a half dtype and not for float32, by device; empty if nothing."""

    cpu: str = ""
    cuda: str = ""
    in_regions: tuple[str, ...] = ()
    """The devices on which it raises inside of an autocast region, too."""


class Agreement(NamedTuple):
    """Operands of an operator that need one floating dtype: torch raises for any other pair."""

    operands: tuple[tuple[int, str], ...]
    """Position and keyword; the receiver of a method is its argument 0."""
    message: str
    """The error; `{first}` and `{First}` are two spellings of the dtype of the first operand,
    `{second}` and `{Second}` those of the others."""
    in_regions: tuple[str, ...] = ()
    """The devices on which it raises inside of an autocast region, too."""
