"""A row of the matrix before findings are put into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from precision_lint.facts.runs.code.sinks import Sink
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.options.offers import Offer
from precision_lint.facts.runs.written.domains import domains
from precision_lint.model.finding import Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import Precision

Kind: TypeAlias = Literal["entry point", "launch", "file"]
Key: TypeAlias = "tuple[str, Span, str, str]"
"""What a finding is sorted by, which identifies it."""


USUAL: frozenset[Precision] = frozenset({"fp32", "fp16", "bf16"})
"""What something unknown may choose; little chooses float8."""


@frozen
class NotUnderstood:
    """Something that may decide a precision, and that is not followed."""

    text: str
    place: Place


@frozen(slots=False)
class Candidate:
    """An entry point, a launch, or a file that a framework reads."""

    kind: Kind
    place: Place
    is_whole: bool
    """It is a file as a whole, so that its row need not be shown."""
    program: Path | None
    """The file of the project that is started, if it is one."""
    started: str = ""
    """The program as a launch calls it."""
    frameworks: tuple[str, ...] = ()
    """The names of the frameworks that read its settings."""
    offers: tuple[Offer, ...] = ()
    open: frozenset[Precision] = frozenset()
    """The precisions that it may offer as well, for all that is known."""
    unread: tuple[NotUnderstood, ...] = ()
    verdicts: frozenset[Key] = frozenset()
    """The findings in its settings."""
    refused: frozenset[tuple[Path, Span, str]] = frozenset()
    """The places and messages of those after which it does not start."""
    files: frozenset[Path] = frozenset()
    """The files that its settings come from."""
    environment: RunEnvironment | None = None

    def values_of(self, option: str) -> tuple[object, ...] | None:
        """The values that an option has or can have; None if that is not known."""
        if self.environment is None:
            return None
        if self.kind == "launch":
            known = self.environment.option(option)
            if known is not None:
                return (known.value,)
            if self.environment.given(option) is not None:
                return None
        declared = (each for each in domains(self.environment.program) if each.name == option)
        return next((tuple(each.values) for each in declared), None)


def is_followed(offers: Iterable[Offer]) -> bool:
    """True if one of some offers is understood. TF32 says nothing of other precisions."""
    return any(one.kind == "followed" and one.precision != "tf32" for one in offers)


def is_chosen(offer: Offer) -> bool:
    """True if a setting chooses, and not the code itself. TF32 chooses no other precision."""
    return bool(offer.setting or offer.is_default) and offer.precision != "tf32"


def may_be(unknown: Iterable[Sink]) -> frozenset[Precision]:
    """What sinks of which nothing is known may come to."""
    products = frozenset[Precision]({"tf32"})
    return frozenset().union(*(products if one.part == "matmul" else USUAL for one in unknown))


def sinks_not_understood(unknown: Iterable[Sink]) -> Iterator[NotUnderstood]:
    """The sinks of which nothing is known, for a report."""
    yield from (NotUnderstood(one.shown, one.place) for one in unknown)
