"""What the uses of a kernel's parameters say about them."""

from __future__ import annotations

from dataclasses import dataclass, field

from precision_lint.facts.triton.dtypes import FLOATS, HALF, INTEGERS, Dtypes
from precision_lint.facts.triton.values import NO_PROVENANCE, Constant, Provenance, Tensor, Value
from precision_lint.model.finding import Span


@dataclass(slots=True)
class Usage:
    """Collected while a kernel is evaluated."""

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
    varying: set[str] = field(default_factory=set)
    """Pointers whose dtype the kernel asks for: it is not one only."""
    read: set[str] = field(default_factory=set)
    """Pointers from which half-precision elements are loaded."""
    pinned: set[Span] = field(default_factory=set)
    """Loads whose elements are used where their dtype matters beyond its precision."""

    def learn(self, other: Usage) -> bool:
        """Add what another evaluation shows of the parameters; True if any of it is new.

        What meets floats is learned anew: those were integers if their pointer is found to be one.
        """
        roles = (
            (self.pointers, other.pointers),
            (self.indices, other.indices),
            (self.integer_elements, other.integer_elements),
            (self.doubtful_elements, other.doubtful_elements),
        )
        is_new = self.floats != other.floats or any(not theirs <= mine for mine, theirs in roles)
        self.floats = other.floats
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

    def vary(self, value: Value) -> None:
        """Somebody prepares for more than one dtype of what `value` holds: of one pointer."""
        if isinstance(value, Tensor) and len(value.provenance.elements) == 1:
            self.varying |= value.provenance.elements

    def loaded(self, parameter: str | None, dtypes: Dtypes) -> Provenance:
        """The provenance of what is loaded from a pointer parameter."""
        if parameter is None:
            return NO_PROVENANCE
        if dtypes <= HALF:
            self.read.add(parameter)
        return Provenance(elements=frozenset({parameter}))
