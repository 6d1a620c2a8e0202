"""What floating dtypes can hold: their largest number, their steps, the integers without gaps."""

from __future__ import annotations

import math
from collections.abc import Mapping

from precision_lint.model.dtypes import BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.frozen import frozen


@frozen
class Layout:
    """A binary format by the widths of its exponent and of its fraction."""

    exponent: int
    fraction: int

    @property
    def max(self) -> float:
        """The largest finite number."""
        bias: int = 2 ** (self.exponent - 1) - 1
        largest: float = (2 - 2.0**-self.fraction) * 2.0**bias
        return largest

    @property
    def eps(self) -> float:
        """The step after 1."""
        step: float = 2.0**-self.fraction
        return step

    @property
    def tiny(self) -> float:
        """The smallest normal number."""
        smallest: float = 2.0 ** (2 - 2 ** (self.exponent - 1))
        return smallest

    @property
    def integers(self) -> int:
        """The number up to which every integer is one of the format."""
        count: int = 2 ** (self.fraction + 1)
        return count

    def rounded(self, number: float) -> float:
        """The nearest number of the format; of two, the even one."""
        if number == 0 or math.isinf(number) or math.isnan(number):
            return number
        power = max(math.frexp(number)[1] - 1, math.frexp(self.tiny)[1] - 1) - self.fraction
        nearest = math.ldexp(round(math.ldexp(number, -power)), power)
        return nearest if abs(nearest) <= self.max else math.copysign(math.inf, number)

    def holds(self, number: float) -> bool:
        """True if a number is between the largest ones: it converts without overflow."""
        return abs(number) <= self.max or abs(number) == float("inf") or number != number


LAYOUTS: Mapping[str, Layout] = {
    FLOAT16: Layout(5, 10),
    BFLOAT16: Layout(8, 7),
    FLOAT32: Layout(8, 23),
    "float64": Layout(11, 52),
}
