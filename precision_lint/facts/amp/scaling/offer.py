"""A value in bfloat16 that a run of the project offers."""

from __future__ import annotations

from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen


@frozen
class Offer:
    """A value in bfloat16, as a message shows it, and the place that says it."""

    shown: str
    related: Related

    @property
    def with_place(self) -> str:
        """The value and where it is given: `amp_dtype=bf16` (train.yaml:12)."""
        place = self.related.place
        return f"`{self.shown}` ({place.path.name}:{place.start.row})"
