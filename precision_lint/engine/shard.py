"""A share of a run: several machines check one project, each its part of the files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from precision_lint.model.frozen import frozen


@frozen
class Shard:
    """Share `number` (from 1) of `count` shares."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """`2/4`.

        Raises:
            ValueError: that is no share of a number of shares.
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.number <= shard.count:
            raise ValueError(f"`{text}` is not I/N with I from 1 to N, such as 2/4")
        return shard

    def of(self, files: Sequence[Path]) -> list[Path]:
        """The files of this share, in order: neighbors take about as long as each other."""
        return list(files[self.number - 1 :: self.count])
