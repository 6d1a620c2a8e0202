"""What the kind of an operator's result makes of the dtype that its operands promote to."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.dtypes._generated.operators import KINDS
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.model.dtypes import BFLOAT16, DTYPES, FLOAT16, FLOAT32

CHOICES = frozenset({BFLOAT16, FLOAT16, FLOAT32, "float64"})
"""What a caller chooses from."""

COMPLEX_OF = {FLOAT16: "complex32", FLOAT32: "complex64", "float64": "complex128"}


def complex_of(dtype: str) -> str:
    """The complex dtype of a floating one; there is none of bfloat16."""
    return COMPLEX_OF.get(dtype, "complex64")


def is_floating(kind: str) -> bool:
    """True if the result is floating whatever the operand is."""
    return kind.startswith(("float", "real float"))


def result_dtype(kind: str, operand: Tensor, default: str) -> Tensor:
    """The tensor of a kind that an operand gives; `default` is the default dtype."""
    if kind in DTYPES:
        return Tensor(frozenset({kind}), scalar=operand.scalar)
    becomes = KINDS[kind]
    if not becomes:
        return operand

    def of(dtype: str) -> str:
        match becomes.get(dtype, dtype):
            case "default":
                return default
            case "complex default":
                return complex_of(default)
            case name:
                return name

    dtypes = frozenset(map(of, operand.dtypes))
    if operand.clauses and of(BFLOAT16) != BFLOAT16:
        operand = replace(operand, clauses=frozenset())
    if operand.caller_chosen and not (floats := frozenset(map(of, CHOICES))) >= CHOICES:
        # Complex numbers of float16 exist on CUDA alone, and rarely: not worth naming them.
        dtypes |= floats - {"complex32"}
        is_partial = operand.may_be_other or "complex32" in floats
        return replace(operand.decided(), dtypes=dtypes, may_be_other=is_partial)
    return replace(operand, dtypes=dtypes)
