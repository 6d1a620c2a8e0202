"""Which precisions the runs of a project offer, and what breaks in each of them.

The rows are the entry points and the launches, the columns the precisions. A finding belongs to a
row if the program reaches its file and its witness holds in the run: a witness is the value of a
setting, or a dtype that the code itself names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from precision_lint.engine.matrix_candidate import USUAL, Candidate, NotUnderstood
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.options.offers import Offer
from precision_lint.model.finding import Finding, Place, Witness
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import PRECISIONS, Precision, precision_of

State: TypeAlias = Literal["ok", "findings", "refused", "unknown", "not offered"]
"""`ok`: it is offered, the way of the setting into the program is understood, and nothing is found;
`findings`: what is found happens in it; `refused`: the program or a framework rejects it;
`unknown`: it may be offered, and what the program does is not understood; `not offered`."""


_NOTHING_KNOWN = "how it chooses its precision"


@frozen
class Cell:
    """A run in one precision: what offers it, and what breaks."""

    state: State
    offers: tuple[Offer, ...] = ()
    findings: tuple[Finding, ...] = ()


@frozen
class Row:
    """An entry point or a launch. `others` are its findings that happen in any precision."""

    candidate: Candidate
    cells: Mapping[Precision, Cell]
    others: tuple[Finding, ...] = ()
    alike: tuple[Candidate, ...] = ()
    """Further ones with the same cells."""

    @property
    def findings(self) -> Iterator[Finding]:
        """All findings, each as often as it is in a cell."""
        for cell in self.cells.values():
            yield from cell.findings
        yield from self.others


@frozen
class Matrix:
    """The rows; `elsewhere` are the findings in code that no row reaches, or in none of its
    precisions. `silent` is how many entry points and launches say nothing of precision.
    """

    rows: tuple[Row, ...]
    elsewhere: tuple[Finding, ...] = ()
    silent: int = 0


def reached(rows: Sequence[Candidate], facts: Recording) -> list[Path]:
    """The files that the programs of some rows are made of."""
    programs = (facts.program(one.program) for one in rows if one.program is not None)
    return sorted({path for program in programs for path in program})


def matrix(rows: Sequence[Candidate], facts: Recording, findings: Iterable[Finding]) -> Matrix:
    """The rows with the findings of all that they reach."""
    findings = sorted(findings, key=lambda one: one.sort_key)
    runs = [_Runs(each, facts) for each in rows]
    launched = frozenset(path for each in rows for path in each.files)
    made = [run.row(findings, launched) for run in runs]
    shown = [row for row in made if _says_something(row)]
    known = {one.sort_key for row in shown for one in row.findings}
    left = tuple(one for one in findings if one.sort_key not in known)
    return Matrix(tuple(_grouped(shown)), left, len(made) - len(shown))


def _says_something(row: Row) -> bool:
    is_said = any(cell.state != "not offered" for cell in row.cells.values())
    return is_said or bool(row.candidate.unread or row.candidate.verdicts)


def _grouped(rows: Iterable[Row]) -> Iterator[Row]:
    """Equal rows once, in the order of the first of each."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(_signature(row), []).append(row)
    for first, *rest in groups.values():
        yield replace(first, alike=tuple(one.candidate for one in rest))


def _signature(row: Row) -> tuple[object, ...]:
    """What equal rows have in common; where the options of a program are followed into it, the
    frameworks that it calls are no difference.
    """
    cells = tuple(
        (
            cell.state,
            tuple((one.setting, str(one.value), one.kind, _callee(one)) for one in cell.offers),
            tuple(one.sort_key for one in cell.findings),
        )
        for cell in row.cells.values()
    )
    others = tuple(one.sort_key for one in row.others)
    unread = tuple(one.text for one in row.candidate.unread)
    is_own = any(one.option for one in row.candidate.offers)
    return () if is_own else row.candidate.frameworks, cells, others, unread


def _callee(offer: Offer) -> str:
    """The name of what is called where the code itself decides."""
    return offer.why.partition("(")[0].rpartition(".")[2] if not offer.setting else ""


@frozen(slots=False)
class _Runs:
    """One entry point or launch, and the findings that belong to it."""

    candidate: Candidate
    facts: Recording

    @cached_property
    def reach(self) -> frozenset[Path]:
        """The files of its program."""
        program = self.candidate.program
        return frozenset(self.facts.program(program) if program is not None else ())

    def row(self, findings: Sequence[Finding], launched: frozenset[Path]) -> Row:
        """The row with what is found in its runs. `launched` are the files of any launch."""
        inside: dict[Precision, list[Finding]] = {precision: [] for precision in PRECISIONS}
        others = []
        for finding in findings:
            if not self.concerns(finding, launched):
                continue
            columns = self.columns(finding)
            for precision in columns:
                inside[precision].append(finding)
            if not columns and not finding.precisions:
                others.append(finding)
        cells = {
            precision: self.cell(precision, tuple(found)) for precision, found in inside.items()
        }
        if not self.candidate.offers and any(inside.values()):
            return self.not_understood(cells, tuple(others))
        return Row(self.candidate, cells, tuple(others))

    def not_understood(self, cells: Mapping[Precision, Cell], others: tuple[Finding, ...]) -> Row:
        """A row with findings, of which nobody knows what it offers."""
        unread = (*self.candidate.unread, NotUnderstood(_NOTHING_KNOWN, self.candidate.place))
        unknown = {
            precision: replace(cell, state="unknown")
            for precision, cell in cells.items()
            if cell.state == "not offered" and precision in USUAL
        }
        return Row(replace(self.candidate, unread=unread), {**cells, **unknown}, others)

    def cell(self, precision: Precision, findings: tuple[Finding, ...]) -> Cell:
        """What is known of one precision."""
        offers = tuple(one for one in self.candidate.offers if one.precision == precision)
        kinds = {one.kind for one in offers}
        refused = self.candidate.refused
        is_refused = any(
            (one.place.path, one.place.span, one.message) in refused for one in findings
        )
        if is_refused or kinds == {"refused"}:
            state: State = "refused"
        elif findings:
            state = "findings"
        elif "followed" in kinds:
            state = "ok"
        elif offers or precision in self.candidate.open:
            state = "unknown"
        else:
            state = "not offered"
        return Cell(state, offers, findings)

    def concerns(self, finding: Finding, launched: frozenset[Path]) -> bool:
        """True if a finding is in the program or the files of the run, and its witness holds."""
        if finding.sort_key in self.candidate.verdicts:
            return True
        path = finding.place.path
        if path not in self.reach:
            return False
        witnesses = [one for one in finding.related if one.witness is not None]
        return not witnesses or any(
            self.holds(one.witness, one.place, launched)
            for one in witnesses
            if one.witness is not None
        )

    def holds(self, witness: Witness, place: Place, launched: frozenset[Path]) -> bool:
        """True if the run may give the setting this value.

        The place is one that gives it; where the program declares the option, its values count.
        """
        candidate = self.candidate
        values = candidate.values_of(witness.setting.rpartition(".")[2])
        if values is not None:
            return any(_same(value, witness.value) for value in values)
        if place.path.suffix == ".py":
            return place.path in self.reach
        if place.path == candidate.place.path and candidate.kind == "launch":
            return candidate.place.span.start <= place.span.start < candidate.place.span.end
        is_free = place.path not in launched and candidate.kind == "entry point"
        return place.path in candidate.files or is_free

    def columns(self, finding: Finding) -> list[Precision]:
        """The precisions of the run in which a finding happens."""
        wanted = set(finding.precisions)
        named = {
            precision
            for one in finding.related
            if one.witness is not None
            and (precision := precision_of(one.witness.value)) in finding.precisions
        }
        wanted = named & wanted or wanted
        offered = {one.precision for one in self.candidate.offers}
        if (self.candidate.kind != "entry point" and offered) or wanted & offered:
            wanted &= offered
        return [precision for precision in PRECISIONS if precision in wanted]


def _same(one: object, other: object) -> bool:
    """True for equal values, and for two names of one precision."""
    named = precision_of(one)
    return one == other or (named is not None and named == precision_of(other))
