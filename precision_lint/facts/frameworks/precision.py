"""The precision of a run that a framework reads, from the roles of its settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.frameworks.table import Framework, Key
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import LOW, PRECISIONS, Precision, precision_of, switched_by

Part: TypeAlias = Literal["compute", "weights", "matmul"]

_ROLES: dict[str, Part] = {"compute": "compute", "weights": "weights", "matmul": "matmul"}
_NOT_CHOOSING = frozenset(
    {"half_precision_backend", "downcast_bf16", "ACCELERATE_DOWNCAST_BF16", "XLA_DOWNCAST_BF16"}
)
"""Keys with the role of a precision that say how it is computed, and not in which."""
_NO_RUNS = frozenset({"gpu", "program"})
"""Links that say where a run computes, and what its program does."""


@frozen
class Chosen:
    """What one setting chooses: for computing, for the weights, or for products of float32.

    The precision is None if only run time knows it.
    """

    part: Part
    precision: Precision | None
    key: str
    written: Occurrence | None
    """None for a default."""


def chosen(reading: EffectiveConfig) -> Iterator[Chosen]:
    """What the settings of a run choose, those of the configurations that it refers to included."""
    for part in reading.standalone:
        if part.framework.slug in _NO_RUNS:
            continue
        for key in part.framework.keys.values():
            role = _ROLES.get(key.role)
            setting = part.setting(key.name) if role is not None else None
            if role is None or setting is None or key.name in _NOT_CHOOSING:
                continue
            value = setting.value
            if value == "auto" or (value is None and setting.written is None):
                continue
            yield Chosen(role, _precision(key, value), key.name, setting.written)


def _precision(key: Key, value: object) -> Precision | None:
    """What a value of a key means; a switch that is off leaves float32."""
    if isinstance(value, bool):
        return (switched_by(key.name) or None) if value else "fp32"
    return precision_of(value)


def precisions_of(reading: EffectiveConfig) -> tuple[Precision, ...]:
    """The precisions in which a run computes, as far as its settings say; none if they do not.

    What computes in few bits counts, then the weights, then products of float32.
    """
    found = list(chosen(reading))
    return combined((one.part, one.precision) for one in found)


def combined(found: Iterable[tuple[Part, Precision | None]]) -> tuple[Precision, ...]:
    """What the choices for the parts of a run come to; none if that is not known."""
    found = list(found)
    for part in ("compute", "weights"):
        low = {one for each, one in found if each == part and one in LOW}
        if low:
            return tuple(one for one in PRECISIONS if one in low)
    decisive = [one for part, one in found if part != "matmul"]
    if not decisive and not found:
        return ()
    if None in decisive:
        return ()
    return ("tf32",) if ("matmul", "tf32") in found else ("fp32",)


def offered_switches(framework: Framework) -> Iterator[tuple[str, Precision]]:
    """The options of a framework's own parser that switch a precision on: `--bf16`, `--tf32`."""
    for key in framework.keys.values():
        is_chosen = key.role in ("compute", "matmul") and "." not in key.name
        precision = switched_by(key.name) if is_chosen and key.kind == "boolean" else None
        if precision is not None:
            yield key.name, precision
