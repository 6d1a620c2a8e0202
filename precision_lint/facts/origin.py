"""Where a fact comes from, and what the project's configuration makes of a setting."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal

from precision_lint.model.finding import Related, Span, Witness
from precision_lint.model.frozen import frozen
from precision_lint.source.text.text import SourceText


@frozen
class PathCondition:
    """A condition around a place: where it is written, and whether it holds there or fails."""

    span: Span
    holds: bool


Kind = Literal[
    "dtype", "autocast", "test", "loader", "weights", "auto", "load", "checkpoint", "data", "caller"
]


@frozen
class Origin:
    """Where a dtype comes from: a place of any file of the project, and what happens there."""

    source: SourceText
    span: Span
    text: str
    kind: Kind = "dtype"
    """What decides: a dtype that is named there, for tensors or for an autocast region, the runs of
    a test, whoever loads a class of the project, whoever loaded a model that is given, the
    checkpoint of a model that is loaded there (`auto`: with `dtype="auto"`), weights that are read
    from a file, other data of a file, or any caller."""
    route: tuple[Origin, ...] = ()
    """The call sites that hand it on, the first of them first."""
    guards: tuple[PathCondition, ...] = ()
    """The conditions of the `if`s around the place, outermost first."""
    witness: Witness | None = None
    """The setting and the value that the place gives it, if it is one that sets a setting."""
    is_guess: bool = False
    """Code that is not seen lies between the place and what has the dtype: a module whose weights
    have it may return another one. Or only a loop without a pass leaves it."""

    def through(self, site: Origin) -> Origin:
        """The same source, handed on at one more call site."""
        return self if len(self.route) == _LONGEST else replace(self, route=(*self.route, site))

    @property
    def is_named(self) -> bool:
        """True if the code names the dtype, of tensors or of an autocast region."""
        return self.kind in ("dtype", "autocast")

    @property
    def related(self) -> Related:
        """The place, as the other half of a finding."""
        return Related(self.source.place(self.span), self.text, self.witness)


_LONGEST = 4
"""Places of a way that a reader wants to see."""


@frozen
class Setting:
    """What the project's configuration makes of a setting: one choice for each place that sets it.

    `cfg.training.precision` where a YAML file beside the code says `precision: bf16`.
    """

    choices: tuple[Choice, ...]


@frozen
class Choice:
    """A value that a configuration file, an argument's default or an env file gives a setting."""

    value: object
    origin: Origin = field(compare=False)
    option: str = field(default="", compare=False)
    """How a command line gives a value to the setting: `--dtype`; empty if no option does."""
    of_field: Literal["", "dtype", "text"] = field(default="", compare=False)
    """What the default of a field is written as: who makes the object may give another value."""
