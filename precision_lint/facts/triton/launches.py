"""What the launches of a kernel pass to it, in its own file and in the others of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import FLOATS, HALF
from precision_lint.facts.triton.hosts.scopes import Host
from precision_lint.facts.triton.hosts.values import HostValue, OneOf, Open, Several, joined
from precision_lint.facts.triton.values import UNKNOWN, Constant, Pointer, Tensor, Value, agreed
from precision_lint.model.frozen import frozen


@frozen
class Launch:
    """One `kernel[grid](...)`, and the values of its arguments where they are proved."""

    host: Host
    arguments: Mapping[str, HostValue]
    given: Mapping[str, ast.expr]
    """The expressions of the arguments."""
    constants: Mapping[str, Constant | None]
    """What is passed, where it is the same constant in every run."""
    asked: frozenset[str] = frozenset()
    """What is open, and whose dtype the host makes use of."""
    is_complete: bool = True
    """False if `*args` or `**kwargs` pass what is not seen here."""

    def constant(self, parameter: str, default: ast.expr | None) -> Constant | None:
        """The constant that it passes for a parameter."""
        if parameter in self.constants:
            return self.constants[parameter]
        match default:
            case ast.Constant(value=value) if self.is_complete:
                return Constant(value)
        return None

    def follows(self) -> Iterator[str]:
        """The parameters for which it passes a tensor that others are typed by, or one that is.

        Who allocates `torch.empty_like(x)`, or something of `x.dtype`, takes `x` as it comes.
        """
        for name, value in self.arguments.items():
            match value:
                case Open(names=names, or_wide=False) if not names.isdisjoint(self.asked):
                    yield name
                case Pointer(elements=elements) if _is_chosen_here(elements):
                    yield name


@frozen
class Launches:
    """All launches of a kernel that are known."""

    found: tuple[Launch, ...] = ()
    are_all: bool = True
    """False if there may be others."""

    @property
    def following(self) -> frozenset[str]:
        """The parameters that some launch passes as they come."""
        return frozenset(name for launch in self.found for name in launch.follows())

    @property
    def doubtful(self) -> frozenset[str]:
        """The parameters that may well be float32 where it matters: the host offers both."""
        return frozenset(
            name
            for launch in self.found
            for name, value in launch.arguments.items()
            if isinstance(value, Open) and value.or_wide
        )

    def passed(self, parameter: str) -> Value:
        """What every launch passes for a parameter; unknown if one of them may pass anything."""
        if not self.are_all:
            return UNKNOWN
        values: list[HostValue] = []
        for launch in self.found:
            if parameter not in launch.arguments and not launch.is_complete:
                return UNKNOWN
            values.append(launch.arguments.get(parameter, UNKNOWN))
        if UNKNOWN in values:
            return UNKNOWN
        found = joined(values)
        match found:
            case Open() | Several() | OneOf():
                return UNKNOWN
            case Pointer(elements=elements) if _is_chosen_here(elements):
                return UNKNOWN
        return found

    def constant(self, parameter: str, default: ast.expr | None) -> Constant | None:
        """The constant that every launch passes for a parameter; None if they differ.

        Of a branch that no launch chooses, nothing is compiled. A launch that leaves the parameter
        out gets its default.
        """
        if not self.are_all:
            return None
        return agreed(launch.constant(parameter, default) for launch in self.found)

    def is_boolean(self, parameter: str) -> bool:
        """True if every launch passes a bool."""
        return self.passed(parameter) == Tensor(types.BOOL, 0)


def _is_chosen_here(elements: types.Dtypes) -> bool:
    """True for half precision in one launch or branch, and a wider dtype in another."""
    return elements <= FLOATS and not elements.isdisjoint(HALF) and len(elements) > 1
