"""Layers that reject what they are given: an input of another dtype than their parameters.

Which pairs of dtypes a layer takes was measured (`scripts/measure_kernels.py`).
"""

from __future__ import annotations

from itertools import product

from precision_lint.facts.dtypes._generated.kernels import TAKEN
from precision_lint.facts.dtypes.domain.values import Model, Tensor, Value
from precision_lint.facts.dtypes.operators.agreement import MEASURED
from precision_lint.facts.dtypes.operators.operands import OR_THE_LIKE

LAYERS = frozenset(TAKEN)
"""The classes of `torch.nn` that were measured."""

REJECTED = f"RuntimeError: mat1 and mat2 must have the same dtype{OR_THE_LIKE}"
"""What they raise."""

_HANDING_ON = frozenset(
    {
        "Dropout", "ELU", "Flatten", "GELU", "Identity", "LeakyReLU", "ReLU", "SiLU", "Sigmoid",
        "Softplus", "Tanh", "Unflatten",
    }
)  # fmt: skip
"""Classes whose result has the dtype of what comes in."""


def rejected(model: Value, given: Value) -> tuple[str, str] | None:
    """The dtypes of input and parameters, if a layer certainly rejects what it is given."""
    if not isinstance(model, Model) or not isinstance(given, Tensor):
        return None
    taken = TAKEN.get(_first_layer(model) or "")
    parameters = model.parameters
    if taken is None or not (parameters.must_be(MEASURED) and given.must_be(MEASURED)):
        return None
    pairs = sorted(product(given.dtypes, parameters.dtypes))
    is_rejected = all(one != other and (one, other) not in taken for one, other in pairs)
    return pairs[0] if is_rejected else None


def _first_layer(model: Model) -> str | None:
    """The class that takes the input: of a `Sequential` the first that has parameters."""
    if model.name != "Sequential":
        return model.name
    return next((name for name in model.layers if name not in _HANDING_ON), None)
