"""What the equation of `torch.einsum` says about the products it is computed by."""

from __future__ import annotations

import re


def multiplies_elements(equation: str) -> bool:
    """True if no index is summed over two operands: `i,j->ij` multiplies elements.

    Then torch calls `mul`, which autocast leaves alone, and otherwise `bmm` (torch 2.13).
    """
    inputs, arrow, output = re.sub(r"[\s.]", "", equation).partition("->")
    operands = [set(operand) for operand in inputs.split(",")]
    shared = {
        index
        for position, operand in enumerate(operands)
        for other in operands[:position]
        for index in operand & other
    }
    return not shared - (set(output) if arrow else set())
