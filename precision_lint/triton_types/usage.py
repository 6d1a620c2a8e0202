"""What the uses of a kernel's parameters say about them, and what Triton would reject."""

from __future__ import annotations

from dataclasses import dataclass, field

from precision_lint.finding import Span
from precision_lint.triton_types.dtypes import FLOATS, INTEGERS
from precision_lint.triton_types.values import (
    NO_PROVENANCE,
    Constant,
    Provenance,
    Tensor,
    Value,
)


@dataclass(slots=True)
class Usage:
    """Collected while a kernel is evaluated."""

    site: Span = field(default_factory=lambda: Span(0, 0))
    """The call that is being evaluated."""
    pointers: set[str] = field(default_factory=set)
    """Parameters that stand at the front of an address."""
    indices: set[str] = field(default_factory=set)
    """Parameters that take part in offsets, bounds and integer arithmetic."""
    floats: set[str] = field(default_factory=set)
    """Parameters that meet floats in arithmetic."""
    integer_elements: set[str] = field(default_factory=set)
    """Pointers whose elements index other pointers."""
    doubtful_elements: set[str] = field(default_factory=set)
    """Pointers whose elements are compared with integers, truncated, or used as masks."""
    pinned: set[Span] = field(default_factory=set)
    """Loads whose elements are used where their dtype matters beyond its precision."""
    rejected: set[tuple[str, Span]] = field(default_factory=set)
    """What Triton rejects at other places than branches."""

    def learn(self, other: Usage) -> bool:
        """Add what another evaluation shows of the parameters; True if any of it is new."""
        roles = (
            (self.pointers, other.pointers),
            (self.indices, other.indices),
            (self.floats, other.floats),
            (self.integer_elements, other.integer_elements),
            (self.doubtful_elements, other.doubtful_elements),
        )
        is_new = any(not theirs <= mine for mine, theirs in roles)
        for mine, theirs in roles:
            mine.update(theirs)
        return is_new

    def address(self, value: Value) -> None:
        """`value` is where something is loaded or stored."""
        if isinstance(value, Tensor):
            if value.provenance.base is not None:
                self.pointers.add(value.provenance.base)
            self.pin(value)

    def index(self, value: Value) -> None:
        """`value` must be an integer."""
        if isinstance(value, Tensor):
            self.indices |= value.provenance.parameters
            self.integer_elements |= value.provenance.elements
            self.pin(value)

    def compare(self, left: Value, right: Value) -> None:
        """Values that are compared are of one kind."""
        for value, other in ((left, right), (right, left)):
            if not isinstance(value, Tensor):
                continue
            match other:
                case Tensor(dtypes=dtypes) if dtypes <= INTEGERS:
                    self.indices |= value.provenance.parameters
                    self.doubtful_elements |= value.provenance.elements
                case Constant(value=float()):
                    self.floats |= value.provenance.parameters

    def meet(self, left: Tensor, right: Tensor) -> None:
        """Two tensors in arithmetic."""
        for value, other in ((left, right), (right, left)):
            if other.dtypes <= FLOATS:
                self.floats |= value.provenance.parameters

    def mask(self, value: Value) -> None:
        """`value` is used as a condition for each element."""
        self.truncate(value)
        self.pin(value)

    def truncate(self, value: Value) -> None:
        """`value` is converted to an integer."""
        if isinstance(value, Tensor):
            self.doubtful_elements |= value.provenance.elements

    def pin(self, *values: Value) -> None:
        """The dtype of these values must stay what it is, as far as we can see."""
        for value in values:
            if isinstance(value, Tensor):
                self.pinned |= value.loads

    def reject(self, what: str) -> None:
        """Triton raises at the current call."""
        self.rejected.add((what, self.site))

    def loaded(self, parameter: str | None) -> Provenance:
        """The provenance of what is loaded from a pointer parameter."""
        if parameter is None:
            return NO_PROVENANCE
        return Provenance(elements=frozenset({parameter}))
