"""What settings are for that no run is seen to understand: the places that they go to.

Their values are not followed. A person who asks for the precision of a run still wants to know who
reads a setting, and what for. No rule asks for this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.families import is_of_classes
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.frameworks.sources import MappingSource, Occurrence, RolesSource
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.around_reads import is_within
from precision_lint.facts.runs.code.becoming import Become, shown
from precision_lint.facts.runs.code.cast_types import made_at, turned_on
from precision_lint.facts.runs.code.flows import Asked, Ends, ends_of, first_read
from precision_lint.facts.runs.code.kept_unread import kept_unread
from precision_lint.facts.runs.code.named_classes import is_argument, named_classes
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.facts.runs.options.claims import (
    Claim,
    claims_of,
    is_of_tensor,
    may_be_meant,
    named_first,
)
from precision_lint.facts.runs.readers.asked_settings import as_asked
from precision_lint.facts.runs.readers.readers import (
    is_sure,
    likely_readers,
    possible_readers,
    readers,
)
from precision_lint.facts.runs.roles.named_targets import of_reference, of_target
from precision_lint.facts.runs.roles.passed_over import chosen_texts, passed_over
from precision_lint.facts.runs.roles.piped_programs import of_piped_programs
from precision_lint.facts.runs.roles.roles import distinct, of_place, reading_of
from precision_lint.facts.runs.roles.uses import Use
from precision_lint.facts.runs.written.bare_models import is_bare_model
from precision_lint.facts.runs.written.counterparts import is_of_another, names_in
from precision_lint.facts.runs.written.keys import parts_of, words_of
from precision_lint.facts.runs.written.script_variables import (
    by_launch,
    of_frameworks,
    of_here_documents,
)
from precision_lint.facts.runs.written.understood import Written, understood, written_at
from precision_lint.facts.runs.written.unread import Unread, unread
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Member, Scalar

_MOST = 60
"""Settings of one launch or file that are followed."""
_MOST_LIKELY = 6
"""Programs that are compared where nothing tells them apart."""
_UNKNOWN = "unknown until run time"


@frozen(slots=False)
class Missed:
    """A program that gets a setting, and where it reads it, if it is seen to."""

    program: Path
    read: tuple[Path, int] | None
    is_of_section: bool = True
    """False if something of the name is read, and it is not seen of which section."""
    kept: Place | None = None
    """The member of an object in which it ends, and that nothing reads."""


@frozen(slots=False)
class Purposes:
    """Finds out what settings of a project are for, each way through a program once."""

    project: Recording
    _known: dict[tuple[Path, Asked], Ends] = field(default_factory=dict)
    _programs: dict[Path, Program] = field(default_factory=dict)
    misses: dict[Written, Missed] = field(default_factory=dict)
    """The settings whose programs are known, and not what they have them for."""

    def of(self, rest: Unread) -> Iterator[EffectiveConfig]:
        """What the programs that get these settings have them for, the likely program first."""
        if rest.launch is None and rest.file.script is not None:
            written = [*of_here_documents(rest, self.project), *of_piped_programs(rest)]
            yield from written
            rest = _but_for(rest, written)
            for part in by_launch(rest, self.project):
                known = [*of_frameworks(part, self.project)]
                yield from known
                yield from self.of(_but_for(part, known))
            return
        if rest.launch is None and is_bare_model(rest.file, self.project):
            return  # what loads the model is no program that reads these keys
        if rest.launch is None:
            for run, used in self._of_classes(rest):
                yield from _shown_with(used, run)
                rest = _without(rest, used)
        later: list[tuple[RunEnvironment, list[Use]]] = []
        own = readers(rest.file, self.project) if rest.launch is None else ()
        whole = rest
        for path in self._programs_of(rest):
            rest = rest if path in own else self._without_read(rest, own)
            asked = whole if path in own else rest  # each of the readers has them for something
            if not asked.settings:
                return
            run = self._run(path, rest)
            used = [*self._uses(as_asked(asked, run), run)]
            later.append((run, [use for use in used if not _runs(use, run)]))
            used = [use for use in used if _runs(use, run)]
            yield from _shown_with(used, run, rest.only_if)
            rest = _without(rest, used)
            self._note_misses(rest, run)
        for run, used in later:  # no program is seen to come to the place
            left = {written_at(one) for one in rest.settings}
            used = [use for use in used if not left.isdisjoint(map(written_at, use.settings))]
            yield from _shown_with(used, run, rest.only_if)
            rest = _without(rest, used)
        if rest.launch is None and rest.settings:
            yield from self._agreed(rest)

    def _without_read(self, rest: Unread, own: Sequence[Path]) -> Unread:
        """The settings that no reader of the file mentions: what those are for that one does is not
        asked of other programs, which have keys of the same names.
        """
        words = (words_of(parts_of(path, self.project), self.project) for path in own)
        read = frozenset[str]().union(*words)
        left = tuple(one for one in rest.settings if one.name.rpartition(".")[2] not in read)
        return replace(rest, settings=left)

    def _note_misses(self, rest: Unread, run: RunEnvironment) -> None:
        """The first program that reads a setting counts, or else the first that gets it."""
        for one, asked in islice(as_asked(rest, run), _MOST):
            known = self.misses.get(written_at(one))
            if known is None or known.read is None:
                passed = passed_over(chosen_texts(run), run.program)
                found = first_read(replace(asked, passed=passed), run.program)
                is_of_section = found is not None or not asked.others
                if not is_of_section:
                    found = first_read(Asked(asked.name, passed=passed), run.program)
                at = (found[1].text.path, found[0].lineno) if found is not None else None
                if known is None or at is not None:
                    is_of_section = is_of_section or at is None
                    kept = self._kept(asked, passed, run) if at and is_of_section else None
                    missed = Missed(run.program.path, at, is_of_section, kept)
                    self.misses[written_at(one)] = missed

    def _kept(self, asked: Asked, passed: frozenset[str], run: RunEnvironment) -> Place | None:
        """Where a setting ends that its program keeps and never reads."""
        found = kept_unread(replace(asked, passed=passed), run.program)
        return found[1].text.place(found[1].span_of(found[0])) if found is not None else None

    def _of_classes(self, rest: Unread) -> Iterator[tuple[RunEnvironment, list[Use]]]:
        """What the classes that sections name have their settings for."""
        classes = named_classes(rest.file, self.project)
        by_path: dict[Path, list[tuple[Occurrence, Asked]]] = {}
        for one in rest.settings:
            if isinstance(one.origin, Member):
                named = classes.get(id(one.origin.mapping))
                if named is not None and is_argument(one.origin.mapping, one.name, rest.file):
                    asked = Asked(one.name, owner=named.name)
                    by_path.setdefault(named.path, []).append((one, asked))
        for path, settings in by_path.items():
            run = self._run(path, rest)
            yield run, [*self._uses(settings, run)]

    def _run(self, path: Path, rest: Unread) -> RunEnvironment:
        opened = rest.file.text.path if rest.launch is None else None
        if path not in self._programs:
            self._programs[path] = Program(path, self.project)
        program = self._programs[path]
        return environment(path, rest.file, rest.launch, self.project, opened, program)

    def _agreed(self, rest: Unread) -> Iterator[EffectiveConfig]:
        """What settings are for where several programs may read the file, and share the place that
        they have for them: it is the same whichever of them runs.
        """
        programs = (*islice(likely_readers(rest.file, self.project), _MOST_LIKELY),)
        found: dict[Written, list[tuple[Use, RunEnvironment]]] = {}
        for path in programs:
            run = self._run(path, rest)
            for use in self._uses(as_asked(rest, run), run):
                for one in use.settings:
                    found.setdefault(written_at(one), []).append((use, run))
        by_program: dict[Path, list[tuple[Use, RunEnvironment]]] = {}
        for rows in found.values():
            use, run = rows[0]
            places = {(each.sink.file.text.path, each.sink.node.lineno) for each, _ in rows}
            having = {each.program.path for _, each in rows}
            if len(places) > 1 or not having.issuperset(
                self._mentioning(use.settings[0].name, programs)
            ):
                continue
            if len(rows) > 1:  # which of them runs is not known
                run = self._run(use.sink.file.text.path, rest)
            by_program.setdefault(run.program.path, []).append((use, run))
        for rows in by_program.values():
            for reading in _shown_with([use for use, _ in rows], rows[0][1]):
                yield replace(reading, is_by_keys=True)

    def _mentioning(self, name: str, programs: Iterable[Path]) -> Iterator[Path]:
        """The programs that mention a setting: what each has it for must be seen."""
        for path in programs:
            if name in words_of(parts_of(path, self.project), self.project):
                yield path

    def _programs_of(self, rest: Unread) -> tuple[Path, ...]:
        if rest.launch is None:
            return possible_readers(rest.file, self.project)
        path = program_of(rest.launch, rest.file, self.project)
        return (path,) if path is not None else ()

    def _uses(
        self, settings: Iterable[tuple[Occurrence, Asked]], run: RunEnvironment
    ) -> Iterator[Use]:
        evaluator = Evaluator(run)
        names = names_in(run.file) if run.opened is not None else frozenset[str]()
        paths = run.program.paths if names else ()
        passed = passed_over(chosen_texts(run), run.program)
        for written, asked in islice(settings, _MOST):
            asked = asked if asked.owner else replace(asked, passed=passed)
            key = (run.program.path, asked)
            if key not in self._known:
                self._known[key] = ends_of(asked, run.program)
            places = [
                place
                for place in self._known[key].places
                if may_be_meant(place, written, asked.name)
                and not is_of_another(place.file.text.path, paths, names)
                and not is_within(place.node, place.file, asked.passed)
            ]
            places = named_first(places, names)
            claims = claims_of(
                self._known[key],
                places,
                asked.name,
                written,
                evaluator,
                is_called=bool(asked.owner),
            )
            if all(is_of_tensor(claim.place) for claim in claims):
                claim = of_target(written, run.program) or of_reference(written, run)
                claims = [claim] if claim is not None else claims
            for claim in claims:
                become = None
                if written.value is not None:
                    become = self._known[key].become(claim.place, written.value, evaluator.truth)
                value = _said(claim, become, written)
                by = claim.kept_by
                if by is not None:
                    value = f"not used: {by.name} is {shown(by.value)}"
                yield Use(
                    claim.place,
                    value,
                    False,
                    (written,),
                    written,
                    alike=claim.alike,
                    only_if=claim.only_if or (become.only_if if become is not None else ""),
                    at=claim.at,
                )


def read_as_well(
    file: ParsedConfig, runs: Iterable[EffectiveConfig], project: Recording
) -> Iterator[Unread]:
    """The settings of a file that classes of a framework get, where the program that reads the file
    may have them for more: `fp16` of a Trainer, and of the weights.
    """
    read = [
        run
        for run in runs
        if isinstance(run.source, MappingSource) and run.file.python is None
        if is_of_classes(run.framework) and not run.is_by_keys
    ]
    if read and readers(file, project):
        known = understood(read)
        for one in unread(file, ()):
            settings = tuple(each for each in one.settings if written_at(each) in known)
            if one.launch is None and settings:
                yield replace(one, settings=settings)


def of_torch(reading: EffectiveConfig) -> EffectiveConfig | None:
    """What a program has settings for in torch's own terms; None if it has them for nothing."""
    source = reading.source
    assert isinstance(source, RolesSource)
    given = {
        name: one
        for name, one in source.given.items()
        if not name.startswith(("argument of", "cast of"))
    }
    settings = tuple(given.values())
    if not given:
        return None
    return replace(reading, source=replace(source, given=given, settings=settings))


def _runs(use: Use, run: RunEnvironment) -> bool:
    """True if what a program mentions leads to a place: it may only share the file of it."""
    return use.at is not None or may_run(use.sink.node, use.sink.file, run.program)


def _shown_with(
    used: Sequence[Use], run: RunEnvironment, only_if: str = ""
) -> Iterator[EffectiveConfig]:
    given = distinct(of_place(use, run) for use in used)
    settings = tuple(one for use in used for one in use.settings)
    reading = reading_of(given, settings, run, only_if) if used else None
    if reading is not None:
        program, project = run.program.path, run.program.project
        is_opened = run.launch is None and run.opened is not None
        yield replace(reading, is_by_keys=is_opened and not is_sure(program, run.file, project))


def _without(rest: Unread, used: Sequence[Use]) -> Unread:
    told = {written_at(one) for use in used for one in use.settings}
    left = (one for one in rest.settings if written_at(one) not in told)
    return replace(rest, settings=tuple(left))


def _but_for(rest: Unread, known: Iterable[EffectiveConfig]) -> Unread:
    told = understood(known)
    left = (one for one in rest.settings if written_at(one) not in told)
    return replace(rest, settings=tuple(left))


def _said(claim: Claim, become: Become | None, written: Occurrence) -> str:
    """What a place gets of a setting; what it says itself counts if no other one may be meant."""
    is_only = claim.alike == 1
    if become is not None:
        return made_at(claim.place, become, is_only)
    on = turned_on(claim.place) if written.value is True and is_only else ""
    return on or _shown_of(written)


def _shown_of(written: Occurrence) -> str:
    match written.origin:
        case Member(entry=entry) if isinstance(entry.value, Scalar):
            return shown(written.value)
    return shown(written.value) if written.value is not None else _UNKNOWN
