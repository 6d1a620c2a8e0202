"""The precisions that a program offers: by its options, or by what its code fixes.

Each value of each option is supposed in turn, and the sinks of the program are evaluated in that
run. An option that changes no sink is not understood: it may do something that is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal, TypeAlias

from precision_lint.facts.frameworks.precision import Part, combined, offered_switches
from precision_lint.facts.frameworks.recognition import called
from precision_lint.facts.runs.code.sinks import Sink, sinks
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.written.domains import Domain, Value, domains
from precision_lint.facts.runs.written.refusals import refusals
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import Precision, precision_of, switched_by

Kind: TypeAlias = Literal["followed", "refused", "not followed"]
"""What becomes of a value: it is followed to the sinks; the program or a framework rejects it; it
names a precision, but no sink is seen to depend on it."""

_MOST_SWITCHES = 4
_TRAINERS = r"\b\w*Trainer\s*\("
"""What arguments are made for: a program that calls none only borrows their parser."""
_Position: TypeAlias = "tuple[Place, Part, str]"
_Outcome: TypeAlias = "tuple[Precision | None, str]"


@frozen
class Offer:
    """A precision that a run of a program can have, and what chooses it."""

    precision: Precision
    kind: Kind
    place: Place
    setting: str = ""
    """How a command line or a class calls the option; empty if the code itself decides."""
    option: str = ""
    """The name of the option in the program."""
    value: Value | None = None
    is_default: bool = False
    why: str = ""
    """Why it is refused, or the source of what decides."""


@frozen
class Offers:
    """All that a program offers. `decisive` are the sinks that its options decide."""

    offers: tuple[Offer, ...]
    decisive: frozenset[_Position]
    fixed: tuple[Sink, ...]
    """What it decides whatever its options are."""


@frozen
class _Followed:
    """An option that sinks depend on: what they come to for each value, and which they are."""

    domain: Domain
    outcomes: Mapping[Value, tuple[Sink, ...]]
    positions: frozenset[_Position]

    @property
    def computes(self) -> bool:
        return any(part == "compute" for _, part, _ in self.positions)

    @property
    def is_of_products(self) -> bool:
        """True if it only decides how products of float32 are computed."""
        return all(part == "matmul" for _, part, _ in self.positions)

    @property
    def part_of_run(self) -> bool:
        """False if it decides the weights alone."""
        return any(part != "weights" for _, part, _ in self.positions)


def offers_of(base: RunEnvironment) -> Offers:
    """The precisions of the program of a run that is started without a word."""
    unchosen = tuple(sinks(Evaluator(base)))
    found: list[Offer] = []
    followed: list[_Followed] = []
    for domain in domains(base.program):
        one = _follow(base, domain)
        if one is not None:
            followed.append(one)
        else:
            found += _not_followed(domain)
    if any(one.computes for one in followed):
        # The dtype of some model is no precision of the run then.
        followed = [one for one in followed if one.part_of_run]
    decisive = frozenset[_Position]().union(*(one.positions for one in followed))
    fixed = tuple(one for one in unchosen if one.is_of_all and _position(one) not in decisive)
    switches = tuple(_of_parsed_classes(base.program))
    chosen = [one for one in followed if not one.is_of_products]
    in_code = () if chosen or switches else tuple(_in_code(fixed))
    for one in followed:
        is_alone = not (chosen or switches or in_code)
        for value, outcome in one.outcomes.items():
            for offer in _offers(base, one.domain, value, _at(outcome, one.positions)):
                # A run in float16 is no run in float32 because TF32 is off.
                if is_alone or not one.is_of_products or offer.precision == "tf32":
                    found.append(offer)
    said = {one.precision for one in found if one.setting}
    first = {one.precision: one for one in reversed(found) if not one.setting}
    found = [
        one
        for one in found
        if one.setting or (one.precision not in said and one is first[one.precision])
    ]
    found += (*switches, *in_code)
    return Offers(tuple(found), decisive, fixed)


def launched_sinks(run: RunEnvironment, offers: Offers) -> list[Sink]:
    """The sinks of a launch that the options of its program decide."""
    return _at(sinks(Evaluator(run)), offers.decisive)


def precisions_of(found: Iterable[Sink]) -> tuple[Precision, ...]:
    """The precisions that the sinks of a run come to; none if that is not known."""
    return combined((one.part, one.precision) for one in found)


def _follow(base: RunEnvironment, domain: Domain) -> _Followed | None:
    """The sinks that an option decides, those that compute first; None if it decides none."""
    found: _Followed | None = None
    for run in _bases(base, domain):
        outcomes: Mapping[Value, tuple[Sink, ...]] = {
            value: tuple(sinks(Evaluator(_with(run, domain, value)))) for value in domain.values
        }
        varying = _varying([_by_position(each) for each in outcomes.values()])
        if any(part == "compute" for _, part, _ in varying):
            computing = frozenset(each for each in varying if each[1] != "weights")
            return _Followed(domain, outcomes, computing)
        if varying and found is None:
            found = _Followed(domain, outcomes, varying)
    return found


def _bases(base: RunEnvironment, domain: Domain) -> Iterator[RunEnvironment]:
    """The runs in which the values of an option are compared: that without a word, and those with
    one switch more, such as `--amp` for `--amp_dtype`.
    """
    yield base
    switches = (each for each in domains(base.program) if each is not domain and each.is_switch)
    for other in islice(switches, _MOST_SWITCHES):
        yield _with(base, other, other.default is not True)


def _with(base: RunEnvironment, domain: Domain, value: Value) -> RunEnvironment:
    chosen = {**base.chosen, domain.name: value}
    return RunEnvironment(base.program, base.file, base.launch, base.read, chosen)


def _position(one: Sink) -> _Position:
    return one.place, one.part, one.shown


def _by_position(found: Iterable[Sink]) -> dict[_Position, frozenset[_Outcome]]:
    outcomes: dict[_Position, set[_Outcome]] = {}
    for one in found:
        outcomes.setdefault(_position(one), set()).add((one.precision, one.refused))
    return {position: frozenset(one) for position, one in outcomes.items()}


def _varying(outcomes: list[dict[_Position, frozenset[_Outcome]]]) -> frozenset[_Position]:
    """The sinks that are not the same for all values."""
    positions = frozenset(position for outcome in outcomes for position in outcome)
    return frozenset(
        position
        for position in positions
        if len({outcome.get(position) for outcome in outcomes}) > 1
    )


def _at(found: Iterable[Sink], positions: frozenset[_Position]) -> list[Sink]:
    return [one for one in found if _position(one) in positions]


def _offers(
    base: RunEnvironment, domain: Domain, value: Value, found: list[Sink]
) -> Iterator[Offer]:
    """What one value of an option gives."""
    place = domain.values[value]
    is_default = value == domain.default and type(value) is type(domain.default)
    named = precision_of(value) or (switched_by(domain.name) if value is True else None)
    evaluator = Evaluator(_with(base, domain, value))
    why = next((one.refused for one in found if one.refused), "")
    if not why:
        why = next((f"{one.shown}" for one in refusals(evaluator, domain.name)), "")
    if why:
        if named is not None:
            yield Offer(named, "refused", place, domain.shown, domain.name, value, is_default, why)
        return
    precisions = precisions_of(found)
    if not found and (named == "fp32" or value is False):
        precisions = ("fp32",)  # nothing lower is reached
    for precision in precisions:
        if value is False and is_default:
            yield Offer(precision, "followed", place, is_default=True)
        else:
            yield Offer(precision, "followed", place, domain.shown, domain.name, value, is_default)
    if not precisions and named is not None:
        yield Offer(named, "not followed", place, domain.shown, domain.name, value, is_default)


def _not_followed(domain: Domain) -> Iterator[Offer]:
    """An option whose values name precisions, and that no sink is seen to depend on."""
    for value, place in domain.values.items():
        named = precision_of(value) or (switched_by(domain.name) if value is True else None)
        is_default = value == domain.default and type(value) is type(domain.default)
        if named is not None:
            yield Offer(named, "not followed", place, domain.shown, domain.name, value, is_default)


def _of_parsed_classes(program: Program) -> Iterator[Offer]:
    """The options that a framework's own class of arguments gives to a command line."""
    seen = set()
    is_handed_on = program.project.reaches(program.path, _TRAINERS)
    for place, name in program.parsed_classes if is_handed_on else ():
        for framework in called(name):
            for option, precision in offered_switches(framework):
                if precision not in seen:
                    seen.add(precision)
                    yield Offer(precision, "followed", place, f"--{option}", option, True)
            if seen and "fp32" not in seen:
                seen.add("fp32")
                yield Offer("fp32", "followed", place, name, is_default=True)


def _in_code(fixed: tuple[Sink, ...]) -> Iterator[Offer]:
    """What the code decides without any option."""
    known = precisions_of(one for one in fixed if one.precision is not None)
    for precision in known:
        place = next(one for one in fixed if one.precision == precision)
        yield Offer(precision, "followed", place.place, why=place.shown)
