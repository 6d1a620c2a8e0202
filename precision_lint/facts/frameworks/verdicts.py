"""The combinations of settings that a framework refuses or resolves, by its table of conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from precision_lint.facts.context import ConfigFile, finding_in
from precision_lint.facts.frameworks.conditions import is_met
from precision_lint.facts.frameworks.left_out import is_left_out
from precision_lint.facts.frameworks.precision import precisions_of
from precision_lint.facts.frameworks.reading import EffectiveConfig, Setting
from precision_lint.facts.frameworks.recognition import any_of, program_of, readings
from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    MappingSource,
    Occurrence,
    RolesSource,
    launch_of,
)
from precision_lint.facts.frameworks.table import Conflict, Repair
from precision_lint.facts.frameworks.triggers import may_be_reported_in
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.in_vain.named_in_vain import named_in_vain
from precision_lint.facts.runs.written.started import started_programs
from precision_lint.model.finding import (
    Applicability,
    Confidence,
    Finding,
    Fix,
    Related,
    Severity,
    Span,
)
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.model.rule import Rule
from precision_lint.project.discovery import kind_of
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Member

_IN_CODE = r"(?=[ \t]*[()\[,\r\n]|[ \t]+(?:as|import)\b)"
"""What follows a name in code, and rarely in the sentences of comments and messages."""
_MAIN = rb"__main__"
_VALUE = regex(r"\{([\w.:]+)\}")


@frozen(eq=False, slots=False)
class Verdict:
    """A conflict that holds in a run, at the place where it is to be reported."""

    conflict: Conflict
    run: EffectiveConfig
    project: Recording
    place: Occurrence
    others: tuple[Setting, ...]
    unknown: tuple[Member, ...] = ()
    """The entries that are unknown in their section, where that is the conflict."""

    @property
    def file(self) -> ParsedConfig:
        return self.place.file

    @property
    def repair(self) -> Repair | None:
        return self.conflict.repair

    @property
    def safety(self) -> Applicability:
        """How safe the repair is: at most unsafe if others also refer to the file, or if the caller
        may replace a value.
        """
        assert self.conflict.repair is not None
        safety = self.conflict.repair.safety
        is_of_others = self.is_shared or self.is_replaceable
        return min(safety, Applicability.UNSAFE) if is_of_others else safety

    @property
    def is_replaceable(self) -> bool:
        """True if the conflict rests on a default that the caller's environment may replace."""
        written = (setting.written for setting in self.others)
        return any(one is not None and one.is_replaceable for one in written)

    @property
    def confidence(self) -> Confidence:
        """As the table says; low in the code of tests, and low for what does not raise in tests,
        benchmarks and vendored code; medium for a default that the caller may replace.

        A test writes settings that override each other on purpose, and its code those that raise.
        What a project that runs its own copy of the framework changed there is not known: low.
        """
        path = self.file.text.path
        raises = self.conflict.severity is Severity.ERROR
        is_proved = raises and self.conflict.confidence is Confidence.HIGH
        is_test_code = self.project.is_test(path) and kind_of(path) == "python"
        if self._is_of_a_copy:
            return Confidence.LOW
        if is_test_code or (not is_proved and self.project.is_secondary(path)):
            return Confidence.LOW
        if self.is_replaceable:
            return min(self.conflict.confidence, Confidence.MEDIUM)
        return self.conflict.confidence

    @property
    def _is_of_a_copy(self) -> bool:
        """True if programs import the framework from a folder of the project."""
        name = self.run.framework.library.replace("-", "_")
        package = self.project.locate(self.project.root / self.file.text.path.name, name)
        return package is not None and self.project.is_secondary(package)

    @property
    def is_shared(self) -> bool:
        """True if something refers to the file of the finding that is no run like this one."""
        path = self.file.text.path
        if self.run.file.text.path == path:
            return False
        alike = {
            run.file.text.path
            for run in runs(self.file, self.project)
            for part in run.standalone
            if part.framework.slug == self.run.framework.slug
        }
        files = self.project.config_files
        readers = {file.text.path for file in files.referring(path)}
        return not alike.issuperset(readers.union(files.named_in_python(path)))

    def message(self) -> str:
        names = ", ".join(f"`{member.entry.name}`" for member in self.unknown)
        return self._with_values(self.conflict.message.replace("{unknown}", names))

    def _with_values(self, text: str) -> str:
        """A text of the table with the values of the settings that it names."""

        def value(match: re.Match[str]) -> str:
            setting = self.run.setting(match[1])
            return shown(setting.value) if setting else match[0]

        return _VALUE.sub(value, text)

    def why(self) -> str:
        """The framework's message, and its releases."""
        framework = self.run.framework
        gates = []
        if self.conflict.since:
            gates.append(f"since {self.conflict.since}")
        if self.conflict.before:
            gates.append(f"before {self.conflict.before}")
        where = f" ({framework.library} {', '.join(gates)})" if gates else ""
        return f"{framework.name}: {self._with_values(self.conflict.says)}{where}"

    def finding(self, rule: Rule, fix: Fix | None) -> Finding:
        related = [
            one
            for setting in self.others
            if setting.written is not self.place and (one := setting.related()) is not None
        ]
        used = (setting.written.used_at for setting in self.others if setting.written is not None)
        related += [one for one in used if one is not None]
        source = self.run.source
        if isinstance(source, CallSource) and not isinstance(source, RolesSource):
            place = source.code.text.place(source.call)
            related.append(Related(place, "the program passes it on here"))
        return finding_in(
            self.file.text,
            rule,
            self.place.origin.span,
            self.message(),
            confidence=self.confidence,
            severity=self.conflict.severity,
            why=self.why(),
            fix=fix,
            related=related,
            precisions=precisions_of(self.run),
        )


def verdicts(file: ConfigFile, rule: str) -> Iterator[Verdict]:
    """The conflicts of a rule that are to be reported in a file, each once.

    One reading finds an argument (`bf16=bf16`), another one the value in it.
    """
    seen: dict[str, list[Span]] = {}
    for verdict in _all(file):
        if verdict.conflict.rule != rule:
            continue
        span = verdict.place.origin.span
        before = seen.setdefault(verdict.message(), [])
        if not any(_is_within(span, one) or _is_within(one, span) for one in before):
            before.append(span)
            yield verdict


def _is_within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def verdicts_of(run: EffectiveConfig, project: Recording) -> Iterator[Verdict]:
    """The conflicts of a run, in any of its files; none of a file that nothing reads."""
    found = _verdicts_of(run, project)
    return (each for each in found if named_in_vain(run, project) is None)


def _verdicts_of(run: EffectiveConfig, project: Recording) -> Iterator[Verdict]:
    for part in run.standalone:
        for conflict in part.framework.conflicts:
            if conflict.by_trainer and run.is_unread:
                continue
            if _is_of_version(conflict, part, project) and _is_done(conflict, part, project):
                yield from _judged(conflict, part, project)


@fact
def _all(file: ConfigFile) -> tuple[Verdict, ...]:
    return tuple(
        verdict
        for run in runs(file, file.project)
        if not is_left_out(run, file.project)
        for verdict in verdicts_of(run, file.project)
        if verdict.file.text.path == file.text.path
    )


def _is_of_version(conflict: Conflict, run: EffectiveConfig, project: Recording) -> bool:
    """True if every release that the project pins does it; the newest where none is pinned."""
    if not (conflict.since or conflict.before):
        return True
    names = (run.framework.library, *run.framework.aliases)
    pinned = [release for name in names if (release := project.release_of(name))]
    if not pinned:
        return not conflict.before
    return _release(conflict.since) <= min(pinned) and (
        not conflict.before or max(pinned) < _release(conflict.before)
    )


def _is_done(conflict: Conflict, run: EffectiveConfig, project: Recording) -> bool:
    """False for what a trainer does, in programs that only take over the class of its settings."""
    framework = run.framework
    has_names = framework.trainers and framework.reach  # what only a launcher starts has no `reach`
    if not conflict.by_trainer or not has_names or not is_met(conflict, run):
        return True
    programs = [
        path for path in _programs(run, project) if project.reaches(path, any_of(framework.reach))
    ]
    trainers = any_of(framework.trainers) + _IN_CODE
    return not programs or any(project.reaches(path, trainers) for path in programs)


def _programs(run: EffectiveConfig, project: Recording) -> Iterator[Path]:
    """The programs of the project that are started for a run, or with its file. If no launch is
    seen, those that are the closest to the file.
    """
    started = launch_of(run.source)
    if started is not None:
        path = program_of(started, run.file, project)
        yield from () if path is None else (path,)
        return
    file = run.file.text.path
    with_file = [
        path
        for other in project.config_files.referring(file)
        for _, launch, path in started_programs(other, project)
        if any(word.text.endswith(file.name) for word in launch.words)
    ]
    if with_file or run.file.python is not None:
        yield from with_file
        return
    folders = {*file.parents}
    near = {path: len(folders & {*path.parents}) for path in project.python_sources_matching(_MAIN)}
    yield from (path for path, shared in near.items() if shared == max(near.values()))


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")) if text else ()


def _judged(conflict: Conflict, run: EffectiveConfig, project: Recording) -> Iterator[Verdict]:
    if not is_met(conflict, run):
        return
    if conflict.unknown_in:
        yield from _unknown_keys(conflict, run, project)
        return
    names = dict.fromkeys((*conflict.at, *conflict.when))
    settings = [setting for name in names if (setting := run.setting(name)) is not None]
    references = [one for name in names if (one := run.reference(name)) is not None]
    for candidates in (settings, references):
        written = [setting.written for setting in candidates if setting.written is not None]
        if "scaler" in conflict.when and isinstance(run.source, RolesSource):
            # It needs the dtype flow.
            from precision_lint.facts.runs.written.reported import is_reported

            if is_reported(run, project):
                return
        if place := _place(conflict, run, written, project):
            yield Verdict(conflict, run, project, place, (*settings, *references))
            break


def _place(
    conflict: Conflict, run: EffectiveConfig, written: Sequence[Occurrence], project: Recording
) -> Occurrence | None:
    """Where it is reported: what a fix edits comes first, then the order of the table.

    Only files that are checked get findings; an example counts only in its own document.
    """
    edited: frozenset[int] = frozenset()
    if conflict.repair:
        names = (*conflict.repair.remove, *conflict.repair.set)
        targets = [setting.written for name in names if (setting := run.setting(name))]
        edited = frozenset(
            id(one.file.text)
            for one in targets
            if one is not None and not one.is_derived and not isinstance(one.origin, CodePlace)
        )
    if run.file.is_excerpt:
        written = [one for one in written if one.file.text is run.file.text]
    asked = [one for one in written if project.reports(one.file.text.path) and _is_looked_at(one)]
    asked.sort(key=lambda one: _rank(one, edited))
    if not asked:
        sourced = (_in_sourced_file(one, project) for one in written)
        return next((one for one in sourced if one is not None), None)
    paths = {path for one in written if (path := one.sourced_from) is not None}
    if any(_is_told_in(path, conflict, project) for path in sorted(paths)):
        return None
    first = asked[0]
    if conflict.at:
        return first
    # Of two settings in one file it is the later that contradicts.
    together = [one for one in asked if one.is_beside(first)]
    return max(together, key=lambda one: one.origin.span)


def _is_looked_at(one: Occurrence) -> bool:
    """False for a setting of a program of one's own in a file that no rule of settings reads."""
    return one.used_at is None or may_be_reported_in(one.file.text.text)


def _rank(one: Occurrence, edited: frozenset[int]) -> tuple[bool, bool, bool]:
    """What somebody chose for this run comes before what the program says by itself."""
    is_default = isinstance(one.origin, CodePlace)
    return one.sourced_from is not None, id(one.file.text) not in edited, is_default


def _in_sourced_file(written: Occurrence, project: Recording) -> Occurrence | None:
    """A setting where a sourced file gives it, if that file is checked and the script is not."""
    place = written.elsewhere
    if place is None or not project.reports(place.path):
        return None
    file = project.config_files.at(place.path)
    return replace(written, origin=CodePlace(place.span), file=file) if file else None


def _is_told_in(path: Path, conflict: Conflict, project: Recording) -> bool:
    """True if a file that a script sources has the conflict by itself."""
    file = project.config_files.at(path)
    return file is not None and any(
        conflict in reading.framework.conflicts and is_met(conflict, reading)
        for reading in readings(file, project)
    )


_NAME = regex(r"[A-Za-z][\w.-]*")
"""A key that is a setting. `"fp16?"` and `"_comment"` are remarks where nothing refuses them."""


def _unknown_keys(
    conflict: Conflict, run: EffectiveConfig, project: Recording
) -> Iterator[Verdict]:
    if not isinstance(run.source, MappingSource):
        return
    section = run.source.section(conflict.unknown_in)
    if section is None:
        return
    unknown = [
        Member(section, entry)
        for entry in section.entries
        if entry.name is not None
        and not conflict.allows(entry.name)
        and (conflict.verdict == "error" or _NAME.fullmatch(entry.name))
    ]
    if unknown and project.reports(run.file.text.path):
        first = unknown[0]
        name = f"{conflict.unknown_in}.{first.entry.name}"
        place = Occurrence(name, None, first, run.source.file)
        yield Verdict(conflict, run, project, place, (), tuple(unknown))


def shown(value: object) -> str:
    """A value as messages and reports have it."""
    match value:
        case None:
            return "unknown"
        case bool():
            return str(value).lower()
        case Mapping():
            return "{…}"
    return str(value)
