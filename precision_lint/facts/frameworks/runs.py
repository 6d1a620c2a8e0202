"""Runs: a configuration together with the others that it refers to, across files.

A launch script names an accelerate file, which names a DeepSpeed file; the run is the same for each
of them. References are followed from a file, and back to the files that refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import field, replace
from fnmatch import fnmatch
from functools import lru_cache
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.called_scripts import called, called_by, scripts_called
from precision_lint.facts.frameworks.families import (
    above,
    any_of_family,
    family,
    is_of_classes,
    named_by,
)
from precision_lint.facts.frameworks.hardware import gpu_of
from precision_lint.facts.frameworks.hydra import composed
from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.programs import ProgramSource
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import (
    ancestors,
    any_of,
    calls_pattern,
    is_left_unread,
    is_made_in,
    program_of,
    readings,
)
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    CommandSource,
    EnvironmentSource,
    MappingSource,
    OverrideSource,
    launch_of,
)
from precision_lint.facts.frameworks.table import Framework, Link, frameworks
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.calls import called_frameworks, readings_of_calls
from precision_lint.facts.runs.code.filled_classes import filled_by
from precision_lint.facts.runs.formats.hydra import configuration, starts_hydra
from precision_lint.facts.runs.formats.lightning_cli import CLI, readings_of_cli
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.readers.composed_keys import composer_of, reads_keys
from precision_lint.facts.runs.readers.composing_programs import composing_folders
from precision_lint.facts.runs.readers.given_in_calls import giving_by_path, programs_with
from precision_lint.facts.runs.readers.giving_commands import given, given_beside
from precision_lint.facts.runs.readers.instantiated import Maker, maker_of
from precision_lint.facts.runs.readers.launcher_files import may_get
from precision_lint.facts.runs.readers.readers import candidates, is_sure, is_witnessed, readers
from precision_lint.facts.runs.roles.roles import may_give_roles, readings_of_roles
from precision_lint.facts.runs.roles.targets import refused_arguments
from precision_lint.facts.runs.roles.yacs_files import refused_in
from precision_lint.facts.runs.written.defaults import DefaultsSource
from precision_lint.facts.runs.written.records import is_written_by_tool
from precision_lint.facts.runs.written.understood import understood
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.model.trace import note
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option, options
from precision_lint.source.config.settings_tree import Mapping, Opaque, mappings
from precision_lint.source.shell.words import UNKNOWN, Text

_MAX_SECTIONS = 60
_OF_SCRIPT = regex(r"\$\{?[@*\d]")
"""`"$@"`, `${1:-}`."""
_MAX_DEPTH = 4  # script, launcher's file, DeepSpeed's file; one to spare
_MAX_REFERRING = 64  # scripts that start from one file
_MAX_LAUNCHES = 64  # of programs of the project, by one script
_MAX_COMMANDS = 1_000  # of one script
_MAX_PROGRAMS = 16  # that a Python file is a part of
_CONFIGURATION = regex(r".+\.(?:ya?ml|json)")
_FILLS_FROM_FILES = r"\bparse_(?:yaml|json)_(?:file|and_args)\b|\bTrlParser\b"
"""How a program makes objects of the settings in a file."""
_PARSED_CLASSES = r"ArgumentParser\(\(|HfArgumentParser|TrlParser"
"""How a program makes options of the fields of classes."""


def runs(file: ParsedConfig, project: Recording) -> tuple[EffectiveConfig, ...]:
    """The runs that a file takes part in.

    A file that others merge into their own settings is no run by itself.
    """
    return file.fact(runs, lambda: _runs(file, project))


def _runs(file: ParsedConfig, project: Recording) -> tuple[EffectiveConfig, ...]:
    shared = project.config(file.text, file.format)
    file = shared or file  # what others know of it is known here
    linker = _Linker(file, project, is_shared=shared is not None)
    started = list(linker.started(file))
    own_readings = (one for reading in linker.readings(file) for one in linker.as_called(reading))
    found = map(linker.linked, (*own_readings, *linker.instantiated(file)))
    own = [*started, *(run for run in found if not _has_known_words(run, started))]
    path = file.text.path
    others = [
        run
        for other in _referring(file, project)
        for reading in map(linker.confirmed, linker.taking(path, other))
        if path in (run := linker.linked(reading)).paths
    ]
    for script in dict.fromkeys(scripts_called(file, project)):
        if (read := linker.part(script)) is not None:
            others += linker.started(read, by=file)
    if any(_is_composed_of(path, run) for run in others):
        own = []
    elif not any(at == path for at, _ in understood(others)):
        own += map(linker.linked, (*linker.filled(file), *linker.opened(file)))
    own += (*refused_in(file, project), *refused_arguments(file, project))
    merged = {
        (slug, part.file.text.path, part.source.span)
        for run in (*own, *others)
        for above in run.parts
        for part in above.fallbacks
        for slug in (part.framework.slug, *ancestors(part.framework))
    }
    # What another run takes its settings from is a part of that one.
    return tuple(run for run in (*own, *others) if not _is_merged(run, merged))


def environment(
    path: Path,
    file: ParsedConfig,
    started: Launch | None,
    project: Recording,
    opened: Path | None = None,
    program: Program | None = None,
) -> RunEnvironment:
    """The run of the program at a path that a launch in a file starts, or that nothing does; or
    that opens the file. The program may be known from another run of it.
    """
    linker = _Linker(file, project)
    program = program or file.fact((Program, path), lambda: Program(path, project))
    if opened is not None:
        return linker.opening(program, file, opened)
    return RunEnvironment(program, file, started, linker.composition)


def _unknown_words(started: Launch, file: ParsedConfig) -> str:
    """The word of a launch that stands for words which only run time knows, if there is one. What a
    script is given itself is none: it is started without any.
    """
    for word in started.words:
        said = file.text[word.span].strip("\"'") if word.elsewhere is None else ""
        if word.text == UNKNOWN and said.startswith("$") and not _OF_SCRIPT.match(said):
            return said
    return ""


def _has_known_words(run: EffectiveConfig, started: Sequence[EffectiveConfig]) -> bool:
    """True for a launch with unknown words, if another script is seen to give them."""
    place = launch_of(run.source)
    if place is None or not any(UNKNOWN in word.text for word in place.words):
        return False
    known = {word.text for word in place.words if UNKNOWN not in word.text}
    others = (launch_of(one.source) for one in started)
    return any(
        other is not None
        and other.span.start == place.span.start
        and known.issubset(word.text for word in other.words)
        for other in others
    )


def _takes_arguments(reading: EffectiveConfig) -> bool:
    """True if a call in Python has arguments that the file alone does not say."""
    source = reading.source
    return isinstance(source, MappingSource) and any(
        isinstance(entry.value, Opaque) for entry in source.root.entries
    )


def _is_merged(run: EffectiveConfig, merged: Set[tuple[str, Path, Span]]) -> bool:
    is_file = isinstance(run.source, MappingSource) and run.file.python is None
    return is_file and (run.framework.slug, run.file.text.path, run.source.span) in merged


def _readings(file: ParsedConfig, project: Recording) -> tuple[EffectiveConfig, ...]:
    """What frameworks read from a file and from what is embedded in it."""

    def read() -> tuple[EffectiveConfig, ...]:
        files = file.with_embedded
        return tuple(reading for each in files for reading in readings(each, project))

    return file.fact(_readings, read)


def _referring(file: ParsedConfig, project: Recording) -> Sequence[ParsedConfig]:
    """The files that refer to a file, or to one that does, the nearest first."""
    found = {file.text.path: file}
    pending = [file.text.path]
    if file.python is not None and _readings(file, project):
        pending += project.users(file.text.path)[:_MAX_PROGRAMS]
    for _ in range(_MAX_DEPTH):
        near = [
            other
            for path in pending
            for other in project.config_files.referring(path)
            if other.text.path not in found
        ][: _MAX_REFERRING - len(found)]
        found |= {other.text.path: other for other in near}
        pending = [other.text.path for other in near]
    return [other for path, other in found.items() if path != file.text.path]


def _without_guesses(
    read: Sequence[EffectiveConfig], called: Sequence[EffectiveConfig], project: Recording
) -> Iterator[EffectiveConfig]:
    """The readings of commands whose program does not hand their options to a call instead, or what
    its files say.

    A program that parses its command line as a class of the framework may do both.
    """
    handed = {
        (reading.source.launch.span, slug)
        for reading in called
        if isinstance(reading.source, CallSource) and reading.source.launch is not None
        if any(not isinstance(one.origin, CodePlace) for one in reading.source.given.values())
        for slug in (reading.framework.slug, reading.framework.extends)
    }
    for reading in read:
        started = launch_of(reading.source)
        is_handed = started is not None and (started.span, reading.framework.slug) in handed
        if not is_handed or _is_parsed_as(reading, project):
            yield reading


def _is_parsed_as(reading: EffectiveConfig, project: Recording) -> bool:
    """True if the program of a command makes its options of a class that extends a framework's."""
    started = launch_of(reading.source)
    path = program_of(started, reading.file, project) if started is not None else None
    return (
        path is not None
        and project.reaches(path, _PARSED_CLASSES)
        and project.reaches(path, _extended(reading.framework.slug))
    )


@lru_cache(maxsize=64)
def _extended(slug: str) -> str:
    """A regular expression for a class that extends one of a framework."""
    names = {name.rpartition(".")[2] for way in frameworks()[slug].ways for name in way.callees}
    return rf"\bclass[ \t]+\w+\([^)]*\b(?:{'|'.join(sorted(names)) or '(?!)'})\b"


def _is_composed_of(path: Path, run: EffectiveConfig) -> bool:
    """True if a run treats a file as one of its parts."""
    source = run.source
    return isinstance(source, MappingSource) and any(
        part.text.path == path for part in source.whole.parts[1:]
    )


@frozen(slots=False)
class _Linker:
    """Follows references. The text of the checked file may differ from the one on the disk."""

    current: ParsedConfig
    project: Recording
    is_shared: bool = False
    """The checked file is the one that others see: what is composed of it is the same for all."""
    known: dict[Path, Program] = field(default_factory=dict)

    def readings(self, file: ParsedConfig) -> tuple[EffectiveConfig, ...]:
        """What frameworks read from a file and from those that it is composed of, and what the
        programs that it starts do with their options.
        """
        whole, is_complete = self.composed(file)
        if whole is not file or not is_complete:
            return whole.fact(
                (readings, is_complete),
                lambda: tuple(readings(whole, self.project, is_open=not is_complete)),
            )
        found = file.fact(_Linker, lambda: tuple(self.programs(file)))
        read = _without_guesses(_readings(file, self.project), found, self.project)
        return (*(one for each in read for one in self.as_parsed(each)), *found)

    def taking(self, path: Path, other: ParsedConfig) -> Iterator[EffectiveConfig]:
        """The readings of another file whose runs may take settings from the one at a path.

        Which files each run takes part in is worked out once, if all see the same files.
        """
        found = self.readings(other)
        if not self.is_shared:
            yield from found
            return
        files = other.fact(
            _referring, lambda: tuple(self.linked(reading).paths for reading in found)
        )
        yield from (reading for reading, paths in zip(found, files, strict=True) if path in paths)

    def started(
        self, file: ParsedConfig, by: ParsedConfig | None = None
    ) -> Iterator[EffectiveConfig]:
        """The runs of a script that others start with their words, or that one file does."""
        project = self.project
        for each in called(file, project) if by is None else called_by(by, file, project):
            yield from map(self.linked, self.readings(each))

    def programs(self, file: ParsedConfig) -> Iterator[EffectiveConfig]:
        """What the programs that a file starts call, with the arguments that the run gives."""
        if file.python is not None and any(map(_takes_arguments, _readings(file, self.project))):
            yield from self.unlaunched(file)
        for each in file.with_embedded:
            if each.is_excerpt and file.text.path != self.current.text.path:
                continue  # what a document starts counts only where the document is checked
            count = 0
            for started in filter(None, map(launch, each.commands[:_MAX_COMMANDS])):
                path = program_of(started, each, self.project)
                count += path is not None
                if path is None:
                    absent = Path(started.program.replace(UNKNOWN, ""))
                    yield from self.overridden(absent, each, started)
                elif count <= _MAX_LAUNCHES:
                    called = [*self.calls(path, each, started)]
                    yield from called
                    yield from self.overridden(path, each, started, called)

    def filled(self, file: ParsedConfig) -> Iterator[EffectiveConfig]:
        """A file as the classes have it that the parsers of its readers fill with it, where its
        keys are too few to show a framework.
        """
        match file.documents:
            case (Mapping() as root,) if not _readings(file, self.project):
                found: dict[str, Framework] = {}
                for path in readers(file, self.project):
                    slugs = sorted(filled_by(path, self.project).slugs)
                    found |= {slug: frameworks()[slug] for slug in slugs}
                if found:
                    framework = any_of_family(next(iter(found.values())), found.values())
                    source = MappingSource(file, root, flat=framework.flat)
                    yield EffectiveConfig(framework, source)

    def opening(self, program: Program, file: ParsedConfig, path: Path) -> RunEnvironment:
        """The run of a program that opens the file at a path."""
        beside = given_beside(path, program.path, self.project)
        return RunEnvironment(program, file, None, self.composition, opened=path, beside=beside)

    def opened(self, file: ParsedConfig) -> Iterator[EffectiveConfig]:
        """What the programs that read a file do with it, where no script starts them."""
        for path in readers(file, self.project):
            program = self.program_at(path)
            run = self.opening(program, file, file.text.path)
            evaluator = Evaluator(run)
            for reading in (*readings_of_calls(evaluator), *readings_of_roles(evaluator)):
                source = reading.source
                if not isinstance(source, CallSource):
                    continue
                given = source.given.items()
                precise = [one for name, one in given if reading.key(name).role != "other"]
                precise += source.settings
                if any(one.file.text is file.text for one in precise) or reading.links:
                    yield replace(reading, is_by_keys=not is_sure(path, file, self.project))

    def as_called(self, reading: EffectiveConfig) -> Iterator[EffectiveConfig]:
        """What looks like a framework's file, as the program takes it that reads the file.

        It is that of a more special one, if the program calls only that: the keys of `SFTConfig`
        are mostly those of `TrainingArguments`. A program that knows nothing of the framework
        reads it by itself. Where the program is not known, all that it may be have to agree.
        """
        file, source, framework = reading.file, reading.source, reading.framework
        if not isinstance(source, MappingSource) or file.python is not None:
            yield reading
            return
        kin, older = family(framework), above(framework)
        if not (confirmed := self.confirmed(reading)).is_by_keys:
            yield confirmed
            return
        if reading.is_by_keys and (program := self.giving(reading)) is not None:
            yield replace(reading, is_by_keys=False, read_by=program)
            return
        if not framework.reach:
            yield self.of_program(reading)
            return
        if is_written_by_tool(file.text.path):
            return  # it says what a run had, and starts none
        found = readers(file, self.project)
        programs = found or candidates(file, self.project)
        knowing = [path for path in programs if self.makes(path, reading, (framework, *older))]
        if len(knowing) < len(programs) and not (found and knowing):
            return  # it may be for one that reads it by itself
        slugs = [self.taking_by(path, (*kin, *older)) for path in knowing]
        taken = frozenset[str]().union(*slugs)
        called = [one for one in kin if one.slug in taken]
        called = called or [one for one in older if one.slug in taken]
        parsed = [path for path in knowing if filled_by(path, self.project).is_parsed]
        if not called and is_of_classes(framework) and parsed:
            return  # classes of the project have these fields, and are of no framework
        named = (
            called
            or [*named_by(kin, knowing, self.project)]
            or [*named_by(older, knowing, self.project)]
        )
        is_by_keys = reading.is_by_keys and not any(
            self.gives(path, reading, (*kin, *older)) for path in knowing
        )
        framework = any_of_family(framework, named)
        is_unread = parsed == knowing and is_left_unread(reading, knowing, self.project)
        yield replace(reading, framework=framework, is_by_keys=is_by_keys, is_unread=is_unread)

    def of_program(self, reading: EffectiveConfig) -> EffectiveConfig:
        """The file of a framework that is a program itself, which the project may have."""
        if not reading.is_by_keys or self.is_named(reading.file, reading.framework):
            return replace(reading, is_by_keys=False)
        composer = composer_of(reading, self.project)
        if composer is None:
            return reading
        program, word = composer.program, composer.word
        return replace(reading, is_by_keys=False, read_by=program, chosen_by=word)

    def confirmed(self, reading: EffectiveConfig) -> EffectiveConfig:
        """A section that only its keys give to a framework, if a program makes an object of it."""
        source, framework = reading.source, reading.framework
        if not reading.is_by_keys or not isinstance(source, MappingSource):
            return reading
        maker = maker_of(source.root, source.section_name or "", reading.file, self.project)
        kin = (*family(framework), *above(framework))
        found = [one for one in kin if maker is not None and one.slug in maker.slugs]
        if maker is None or not found:
            return reading
        return self.made_by(maker, replace(reading, framework=any_of_family(framework, found)))

    def made_by(self, maker: Maker, reading: EffectiveConfig) -> EffectiveConfig:
        """A section as the program has it that makes an object of it, with the word that chooses
        its file, if the program does not compose it of itself.
        """
        first = self.part(maker.first) if maker.first is not None else None
        whole = self.composed(first)[0] if first is not None else None
        paths = {each.text.path for each in whole.parts} if whole is not None else set()
        own = reading.file.text.path
        word = "" if own in paths or own == maker.first else maker.word
        return replace(reading, is_by_keys=False, read_by=maker.program, chosen_by=word)

    def instantiated(self, file: ParsedConfig) -> Iterator[EffectiveConfig]:
        """The sections of a file of which a program makes objects of frameworks, where their keys
        are too few to show one.
        """
        if file.format != "yaml" or not composing_folders(file.text.path, self.project):
            return
        known = {
            id(one.source.root)
            for one in self.readings(file)
            if isinstance(one.source, MappingSource)
        }
        whole, _ = self.composed(file)
        for section in islice(mappings(whole.documents), _MAX_SECTIONS):
            if id(section) in known:
                continue
            source = MappingSource(whole, section)
            maker = maker_of(section, source.section_name or "", file, self.project)
            for slug in maker.slugs if maker is not None else ():
                assert maker is not None
                framework = frameworks()[slug]
                precise = (name for name, key in framework.keys.items() if key.role != "other")
                given = filter(None, map(source.get, precise))
                if any(one.file.text is file.text for one in given):
                    yield self.made_by(maker, EffectiveConfig(framework, source, is_open=True))

    def giving(self, reading: EffectiveConfig) -> Path | None:
        """The program that gives a whole file to a framework by its path."""
        file, framework = reading.file, reading.framework
        source = reading.source
        if not isinstance(source, MappingSource) or source.section_name != "":
            return None
        programs = map(self.program_at, programs_with(file, framework, self.project))
        runs = (RunEnvironment(each, file, None, self.composition) for each in programs)
        return giving_by_path(runs, file, framework, self.project)

    def is_named(self, file: ParsedConfig, framework: Framework) -> bool:
        """True if a command is seen to give a file to something; that of a launcher to one."""
        path = file.text.path
        if any(way.form == "launcher" for way in framework.ways):
            return may_get(path, self.project)
        referring = self.project.config_files.referring(path)
        return any(one.script is not None for one in referring) or bool(given(path, self.project))

    def makes(self, path: Path, reading: EffectiveConfig, kin: Sequence[Framework]) -> bool:
        """True if a program makes what reads such settings, or the section itself says what does:
        `_target_: lightning.Trainer`.
        """
        source = reading.source
        if isinstance(source, MappingSource) and source.root.get("_target_") is not None:
            return self.project.reaches(path, any_of(tuple(n for one in kin for n in one.reach)))
        return is_made_in(path, kin, self.project)

    def gives(self, path: Path, reading: EffectiveConfig, kin: Sequence[Framework]) -> bool:
        """True if a program that reads a file is seen to give it to one of some frameworks: its
        precisions, where it has any, as `fp16=torch.cuda.is_available()` is none of the file's.
        """
        if not is_of_classes(reading.framework):
            return is_witnessed(path, reading.file, self.project)
        slugs = frozenset(one.slug for one in kin)
        if filled_by(path, self.project).slugs & slugs or self.project.reaches(path, rf"\b{CLI}\b"):
            return True
        precise = {
            name
            for name, key in reading.framework.keys.items()
            if key.role != "other" and reading.source.get(name) is not None
        }
        for call in self.calls_for(path, reading.file):
            if call.framework.slug in slugs and isinstance(call.source, CallSource):
                given = call.source.given.items()
                of_file = {name for name, one in given if one.file.text is reading.file.text}
                if of_file and precise <= of_file:
                    return True
        return False

    def calls_for(self, path: Path, file: ParsedConfig) -> tuple[EffectiveConfig, ...]:
        """What the calls of a program make of a file that it opens."""

        def compute() -> tuple[EffectiveConfig, ...]:
            run = self.opening(self.program_at(path), file, file.text.path)
            return tuple(readings_of_calls(Evaluator(run)))

        return file.fact((_Linker.calls_for, path), compute)

    def as_parsed(self, reading: EffectiveConfig) -> Iterator[EffectiveConfig]:
        """What looks like options of a framework, as the class has them that the program fills."""
        source, framework = reading.source, reading.framework
        path = None
        if isinstance(source, CommandSource) and is_of_classes(framework):
            path = program_of(source.launch, source.file, self.project)
        filled = filled_by(path, self.project) if path is not None else None
        if not isinstance(source, CommandSource) or filled is None or not filled.is_parsed:
            yield reading
            return
        kin = (*family(framework), *above(framework))
        found = [one for one in kin if one.slug in filled.slugs]
        if found:
            framework = any_of_family(framework, found)
            source = replace(source, framework=framework)
            is_unread = is_left_unread(reading, filter(None, [path]), self.project)
            yield replace(reading, framework=framework, source=source, is_unread=is_unread)

    def taking_by(self, path: Path, kin: Sequence[Framework]) -> frozenset[str]:
        """Which of some frameworks the classes are of that a program fills, or else calls."""
        slugs = frozenset(one.slug for one in kin)
        parsed = filled_by(path, self.project).slugs & slugs
        return parsed or called_frameworks(self.program_at(path)) & slugs

    def overridden(
        self,
        path: Path,
        file: ParsedConfig,
        started: Launch,
        called: Sequence[EffectiveConfig] | None = None,
    ) -> Iterator[EffectiveConfig]:
        """What frameworks read from the file that Hydra composes, below the words of a launch, if
        its program makes what reads that; `called` is what it is seen to call, None if the program
        is not in the project.
        """
        if not starts_hydra(started, self.project.config_files.text(path)):
            return
        run = RunEnvironment(self.program_at(path), file, started, self.composition)
        found = configuration(run)
        config = self.part(found) if found else None
        unless = _unknown_words(started, file)
        for reading in self.readings(config) if config else ():
            source, framework = reading.source, reading.framework
            if not isinstance(source, MappingSource):
                continue
            kin = (*family(framework), *above(framework))
            if called is not None and framework.reach and not self.makes(path, reading, kin):
                continue
            section = source.section_name
            if section is not None:
                slugs = {one.slug for one in kin}
                is_given = any(one.framework.slug in slugs for one in called or ())
                is_own = called is not None and reads_keys(path, reading, self.project)
                is_by_keys = not (is_given or is_own)
                words = OverrideSource(file, framework, started.words, started, section=section)
                whole = EffectiveConfig(framework, words, fallbacks=(reading,), unless=unless)
                yield replace(whole, is_by_keys=is_by_keys)

    def unlaunched(self, file: ParsedConfig) -> Iterator[EffectiveConfig]:
        """The same for the programs with a file that no script starts."""
        path = file.text.path
        for program in (path, *self.project.users(path)[:_MAX_PROGRAMS]):
            starting = self.project.config_files.referring(program)
            code = self.part(program)
            if code is None or any(one.script or one.embedded for one in starting):
                continue
            for reading in self.calls(program, code, None):
                source = reading.source
                if (
                    isinstance(source, CallSource)
                    and source.given
                    and source.code.text.path == path
                ):
                    yield reading

    def calls(
        self, path: Path, file: ParsedConfig, started: Launch | None
    ) -> Iterator[EffectiveConfig]:
        run = RunEnvironment(self.program_at(path), file, started, self.composition)
        evaluator = Evaluator(run)
        if self.project.reaches(path, calls_pattern()):
            yield from readings_of_calls(evaluator)
        if started is not None and self.project.reaches(path, rf"\b{CLI}\b"):
            yield from readings_of_cli(run)
        if started is not None and may_give_roles(started):
            yield from readings_of_roles(evaluator)

    def program_at(self, path: Path) -> Program:
        """The program at a path, made once for all launches. No file keeps it: it has trees."""
        if path not in self.known:
            self.known[path] = Program(path, self.project)
        return self.known[path]

    def composition(self, path: Path) -> ParsedConfig | None:
        """A configuration with what it is composed of; None if that is not all known."""
        file = self.part(path)
        if file is None:
            return None
        whole, is_complete = self.composed(file)
        return whole if is_complete else None

    def composed(self, file: ParsedConfig) -> tuple[ParsedConfig, bool]:
        """A file with what it is composed of, and whether that is all known."""
        if not self.is_shared:
            return composed(file, self.part, self.project)
        return file.fact(composed, lambda: composed(file, self.part, self.project))

    def part(self, path: Path) -> ParsedConfig | None:
        """A file that another one is composed of."""
        if path == self.current.text.path:
            note(("read", path))  # a file that others share may come to know of this one
            return self.current
        is_inside = self.project.root in path.parents and disk.is_file(path)
        return self.project.config_files.at(path) if is_inside else None

    def linked(
        self, reading: EffectiveConfig, depth: int = 0, gpu: EffectiveConfig | None = None
    ) -> EffectiveConfig:
        """The reading with all that it refers to. `gpu` is that of what refers to it."""
        if depth >= _MAX_DEPTH:
            return reading
        reading = self.with_program(reading)
        gpu = gpu or gpu_of(reading, self.project)
        is_open = reading.is_open
        for link in (link for link in reading.framework.links if link.merges):
            found = self.target(reading, link)
            if found is not None:
                beneath = (*reading.fallbacks, self.linked(found, depth + 1, gpu))
                reading = replace(reading, fallbacks=beneath)
            elif reading.may_link(link.name):
                is_open = True
        for found, is_read in self.given(reading):
            if is_read:
                reading = replace(reading, fallbacks=(found, *reading.fallbacks))
            is_open = is_open or not is_read
        reading = replace(reading, is_open=is_open)
        links = {**reading.links, "gpu": gpu} if gpu else {**reading.links}
        for link in (link for link in reading.framework.links if not link.merges):
            found = self.target(reading, link)
            if found is not None:
                links[link.name] = self.linked(found, depth + 1, gpu)
        return replace(reading, links=links)

    def with_program(self, reading: EffectiveConfig) -> EffectiveConfig:
        source = reading.source
        if not isinstance(source, CommandSource) or source.program:
            return reading
        path = program_of(source.launch, source.file, self.project)
        if path is None:
            return reading
        text = self.project.config_files.text(path)
        program = self.program_at(path)
        run = RunEnvironment(program, source.file, source.launch, self.part)
        defaults = EffectiveConfig(reading.framework, DefaultsSource(run, reading.source.span))
        beneath = (*reading.fallbacks, defaults)
        return replace(reading, source=replace(source, program=text), fallbacks=beneath)

    def target(self, reading: EffectiveConfig, link: Link) -> EffectiveConfig | None:
        """The configuration that a link leads to, as its framework reads it."""
        to = reading.framework if link.to == "self" else frameworks()[link.to].filled(link.fills)
        source = reading.source
        if link.launcher:
            started = launch_of(source)
            if started is None or not started.launcher:
                return None
            words = started.launcher
            place = replace(started, program="", words=words, launcher=())
            return EffectiveConfig(to, CommandSource(reading.file, to, words, place))
        if link.environment:
            started = launch_of(source)
            return _environment(reading.file, started, to) if started is not None else None
        if link.program:
            return self.program(reading, to)
        if link.positional:
            return self.positional(source, to, link) if isinstance(source, CommandSource) else None
        setting = reading.setting(link.key) if link.key else None
        if setting is None or setting.written is None or reading.without(link) is not None:
            return None
        match setting.written.value:
            case Mapping() as mapping:
                return EffectiveConfig(to, MappingSource(setting.written.file, mapping))
            case str(path):
                if not path.endswith(link.suffix):
                    path += link.suffix
                started = launch_of(source)
                is_here = setting.written.file is reading.file
                directory = started.directory if started is not None and is_here else None
                return self.at(path, setting.written.file, to, directory)
            case None if isinstance(setting.written.origin, Option):
                # `$TMPDIR/ds.json` is not known, but what the same script writes to it is.
                return self.written_to(setting.written.origin.traced, setting.written.file, to)
        return None

    def program(self, reading: EffectiveConfig, to: Framework) -> EffectiveConfig | None:
        """What the program of a command does, given the options of the command."""
        if not isinstance(reading.source, CommandSource):
            return None
        path = program_of(reading.source.launch, reading.source.file, self.project)
        file = self.project.config_files.at(path) if path else None
        if file is None:
            return None
        return EffectiveConfig(to, ProgramSource(file, self.project, reading.switch))

    def given(self, reading: EffectiveConfig) -> Iterator[tuple[EffectiveConfig, bool]]:
        """The files among the words of a launch which have settings of its framework, each with
        whether the program makes objects of such files: `train.py config.yaml --output_dir o`.
        """
        source, framework = reading.source, reading.framework
        if not isinstance(source, CommandSource) or not is_of_classes(framework):
            return
        path = program_of(source.launch, source.file, self.project)
        if path is None:
            return
        taken = {id(word) for option in options(source.words) for word in option.words}
        for word in source.words:
            if id(word) in taken or not _CONFIGURATION.fullmatch(word.text):
                continue
            found = self.at(word.text, source.file, framework, source.launch.directory)
            if found is not None and any(map(found.source.get, framework.keys)):
                yield found, self.project.reaches(path, _FILLS_FROM_FILES)

    def positional(
        self, source: CommandSource, to: Framework, link: Link
    ) -> EffectiveConfig | None:
        taken = {id(word) for option in options(source.words) for word in option.words}
        for word in source.words:
            if id(word) not in taken and fnmatch(word.text, link.positional):
                return self.at(word.text, source.file, to, source.launch.directory)
        return None

    def at(
        self, path: str, near: ParsedConfig, to: Framework, directory: str | None = None
    ) -> EffectiveConfig | None:
        """A file as `to` reads it: the reference determines the framework."""
        if written := self.embedded(path, near, to):
            return written
        found = self.project.config_files.find(path, near.text.path, directory)
        if found is None:
            return None
        if found == self.current.text.path:
            note(("read", found))
            return self.whole(self.current, to)
        file = self.project.config_files.at(found)
        return self.whole(file, to) if file is not None else None

    def embedded(self, path: str, near: ParsedConfig, to: Framework) -> EffectiveConfig | None:
        """What a script writes to a path before it starts the run, or a document shows for it."""
        for embedded in (*near.embedded, *near.beside):
            if path and Path(embedded.name).name == Path(path).name:
                return self.whole(embedded.file, to)
        return None

    def written_to(self, path: Text, near: ParsedConfig, to: Framework) -> EffectiveConfig | None:
        """What a script writes to a path that only run time knows, if it is certainly the same."""
        for embedded in near.embedded:
            target = embedded.heredoc.target if embedded.heredoc else None
            if target is not None and target.is_same(path):
                return self.whole(embedded.file, to)
        return None

    def whole(self, file: ParsedConfig, to: Framework) -> EffectiveConfig | None:
        match file.documents:
            case (Mapping() as root, *_):
                return EffectiveConfig(to, MappingSource(file, root, flat=to.flat))
        return None


def _environment(file: ParsedConfig, started: Launch, to: Framework) -> EffectiveConfig | None:
    """What a framework reads in the environment of a command."""
    environment = started.environment
    names = {name: key for way in to.ways for name, key in way.variables.items()}
    given = {name: environment[name] for name in names if name in environment}
    if not given:
        return None
    return EffectiveConfig(to, EnvironmentSource(file, to, given, names), is_open=True)
