"""Frozen dataclasses with slots that are as cheap to make as others.

`dataclass(frozen=True)` guards each assignment while a program runs, those of `__init__` included,
which makes it three times as slow. Here the type checker guards them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object):
        return lambda function: function


T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(of: type[T]) -> type[T]:
    """A class whose objects are equal and hashed by their fields, which nobody assigns."""
    return dataclass(slots=True, unsafe_hash=True)(of)
