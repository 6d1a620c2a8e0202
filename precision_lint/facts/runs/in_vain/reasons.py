"""Why a setting of precision is not understood, where that can be said in a few words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from precision_lint.facts.frameworks.called_scripts import script_of
from precision_lint.facts.frameworks.recognition import program_of, readings
from precision_lint.facts.frameworks.sources import CodePlace, MappingSource, Occurrence
from precision_lint.facts.frameworks.trainer_fields import TRAINER_FIELDS
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.filled_classes import filled_by
from precision_lint.facts.runs.code.named_classes import foreign_class
from precision_lint.facts.runs.code.replaced import put_in_place
from precision_lint.facts.runs.in_vain.never_asked import is_never_loaded
from precision_lint.facts.runs.interpreter.imported_by_name import program_of as files_of
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.options.never_read import declared_in_vain
from precision_lint.facts.runs.readers.composing_programs import stopping_at
from precision_lint.facts.runs.roles.purposes import Missed
from precision_lint.facts.runs.written.bare_models import is_bare_model
from precision_lint.facts.runs.written.names_of_outputs import is_never_used, names_outputs
from precision_lint.facts.runs.written.quoted_commands import STARTS_NOTHING, quoted_at
from precision_lint.facts.runs.written.tools import tools_given
from precision_lint.facts.runs.written.understood import Written, written_at
from precision_lint.facts.runs.written.unread import Unread
from precision_lint.facts.settings.given import normal
from precision_lint.model.regex import regex
from precision_lint.project.discovery import is_of_unread_format, kind_of
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option
from precision_lint.source.config.settings_tree import Member
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN

_MOST_CLASSES = 3
_FOR_TRAINING = regex(r"Train\w*(?:Arg|Config|Option|Param)")
_NO_CODE = "no Python file of the project mentions it"
_NOT_IN_PROGRAM = "no file that the program imports mentions it"
_NO_PROGRAM = "the program is not where the command looks for it"
_UNKNOWN_PROGRAM = "which program it starts is not known"
_NO_READER = "no program is seen to read the file"
_STOPPED = "%s would compose the file, but starts from %s, which is not there"
_OF_SCRIPT = "%s gets it; what for is not seen"
_NOT_PARSED = "the file cannot be parsed"
_NOT_READ = "the keys of `%s` files are not read"
_NAMES = "nothing reads it: it is printed, or a part of the names of outputs"
_NEVER_USED = "nothing reads it: the script never uses the variable"
_BARE_MODEL = "no weights are beside the model: its loader decides what a dtype means"
_NO_COMMAND = "no program is seen to get it"
_OF_NO_COMMAND = "no program gets it: `%s`, a line below its command, starts one of its own"
_IN_QUOTES = "only the command in line"
_IN_PROGRAM = "a program that the script pipes into Python has it"
_VAIN = "; nothing reads it"
_IN_VAIN = (_NAMES, _NEVER_USED, _OF_NO_COMMAND.partition("%")[0], _IN_QUOTES)
"""How the reasons start that say that nothing reads a setting."""


def with_reasons(
    rest: Unread, misses: Mapping[Written, Missed], project: Recording
) -> tuple[Occurrence, ...]:
    """The settings, each with the reason why nothing is said of it, if there is one."""

    def found() -> Iterator[Occurrence]:
        for one in rest.settings:
            reason = (
                one.reason
                or _of_section(one, rest, project)
                or _of_class(one, project)
                or _of_bare_model(one, rest, project)
                or _reason(one, rest, project)
                or _of_miss(one, misses, project)
                or _of_nothing(one, rest, project)
            )
            is_in_vain = one.is_in_vain or reason.startswith(_IN_VAIN) or reason.endswith(_VAIN)
            yield replace(one, reason=reason, is_in_vain=is_in_vain)

    return tuple(found())


def _of_section(one: Occurrence, rest: Unread, project: Recording) -> str:
    """The framework that has a section, and does not have this key in it."""
    if not isinstance(one.origin, Member) or rest.launch is not None:
        return ""
    lacking = rest.file.fact(_of_section, lambda: dict(_lacking(rest.file, project)))
    return lacking.get(id(one.origin.entry), "")


def _lacking(file: ParsedConfig, project: Recording) -> Iterator[tuple[int, str]]:
    """The entries of sections that a framework has without them."""
    for reading in readings(file, project):
        source = reading.source
        for conflict in reading.framework.conflicts if isinstance(source, MappingSource) else ():
            name = conflict.unknown_in
            section = source.section(name) if name and isinstance(source, MappingSource) else None
            for entry in section.entries if section is not None else ():
                if entry.name is not None and not conflict.allows(entry.name):
                    reason = f"the `{name}` section of {reading.framework.name} has no such key"
                    yield id(entry), reason


def _of_class(one: Occurrence, project: Recording) -> str:
    """The class of a library that gets a section: `class_path: torch.optim.AdamW`."""
    if not isinstance(one.origin, Member):
        return ""
    name = foreign_class(one.origin.mapping, one.file, project)
    return f"given to {name}, which is not in the project" if name else ""


def _of_bare_model(one: Occurrence, rest: Unread, project: Recording) -> str:
    is_entry = isinstance(one.origin, Member) and rest.launch is None
    return _BARE_MODEL if is_entry and is_bare_model(rest.file, project) else ""


def _of_miss(one: Occurrence, misses: Mapping[Written, Missed], project: Recording) -> str:
    missed = misses.get(written_at(one))
    if missed is None:
        return ""
    if missed.read is None:
        program = _shown(missed.program, project)
        if not _is_mentioned(one.name, missed.program, project):
            return f"neither {program} nor what it imports mentions it"
        name = normal(one.name.rpartition(".")[2])
        declared = declared_in_vain(name, Program(missed.program, project))
        if declared is not None:
            file, call = declared
            place = _shown(file.text.path, project)
            return f"declared in {place}, line {call.lineno}{_VAIN}"
        put = put_in_place(name, Program(missed.program, project))
        if put is not None:
            place = _shown(put[1].text.path, project)
            return f"{place}, line {put[0].lineno}, puts something else in its place"
        return f"{program} is not seen to read it"
    if (kept := missed.kept) is not None:
        return f"kept in {_shown(kept.path, project)}, line {kept.start.row}{_VAIN}"
    path, row = missed.read
    place = f"{_shown(path, project)}, line {row}"
    if not missed.is_of_section:
        return f"read in {place}; of which section is not seen"
    return f"read in {place}; what for is not seen"


def _of_nothing(one: Occurrence, rest: Unread, project: Recording) -> str:
    """The reason where nothing leads to a program."""
    if rest.launch is not None:
        return _UNKNOWN_PROGRAM if UNKNOWN in rest.launch.program else ""
    if rest.file.script is not None:
        if _is_in_piped_program(one, rest.file):
            return _IN_PROGRAM
        if not isinstance(one.origin, Assigned):
            if (quoted := _quoted(one, rest.file)) is not None:
                row = rest.file.text.place(quoted.span).start.row
                return f"{_IN_QUOTES} {row} has it, {STARTS_NOTHING}"
            first = _first_of_line(one, rest.file)
            return _OF_NO_COMMAND % first if first else _NO_COMMAND
        if is_never_used(one.name, rest.file, project):
            return _NEVER_USED
        return _NAMES if names_outputs(one.name, rest.file) else _NO_COMMAND
    if isinstance(one.origin, Member) and (tools := tools_given(rest.file.text.path, project)):
        return f"given to `{tools[0]}`, which is not in the project"
    if not isinstance(one.origin, Member):
        path = rest.file.text.path
        return _NOT_READ % path.suffix if is_of_unread_format(path) else _NOT_PARSED
    if is_never_loaded(rest.file, project):
        return f"no code of the project loads {rest.file.format.upper()} files"
    for program, missing in stopping_at(rest.file.text.path, project):
        return _STOPPED % (_shown(program, project), _shown(missing, project))
    return _NO_READER


def _quoted(one: Occurrence, file: ParsedConfig) -> Word | None:
    """The command that quotes make one name of, if it has an option."""
    if not isinstance(one.origin, Option):
        return None
    given = " ".join(word.text for word in one.origin.words)
    return quoted_at(one.origin.span, given if len(one.origin.words) > 1 else "", file)


def _first_of_line(one: Occurrence, file: ParsedConfig) -> str:
    """The option with which a line starts a command: the line above, which ends in an option or its
    value, or is a comment, does not continue.
    """
    commands = file.script.commands if file.script and kind_of(file.text.path) == "shell" else ()
    for command in commands:
        first = command.words[0] if command.words else None
        is_own = isinstance(one.origin, Option) and one.origin.words[0] in command.words
        if first is not None and is_own and first.verbatim and first.text.startswith("--"):
            above, _, before = file.text.text[: first.span.start].rpartition("\n")
            line = above.rpartition("\n")[2].strip()
            return first.text if line.startswith(("-", "#")) and not before.strip() else ""
    return ""


def _is_in_piped_program(one: Occurrence, file: ParsedConfig) -> bool:
    """True for a line of `python - <<EOF`."""
    start = one.origin.span.start
    return isinstance(one.origin, CodePlace) and any(
        part.heredoc.body.start <= start < part.heredoc.body.end
        for part in file.embedded
        if part.heredoc is not None and part.file.python is not None
    )


def _shown(path: Path, project: Recording) -> str:
    return path.relative_to(project.root).as_posix()


def _reason(one: Occurrence, rest: Unread, project: Recording) -> str:
    match one.origin:
        case Option() if rest.launch is not None:
            path = program_of(rest.launch, rest.file, project)
            if path is not None:
                if _is_mentioned(one.name, path, project):
                    return ""
                return _NOT_IN_PROGRAM + _of_library(one.name, path, project)
            if (script := script_of(rest.launch, rest.file, project)) is not None:
                return _OF_SCRIPT % _shown(script, project)
            program = rest.launch.program
            return _NO_PROGRAM if program and UNKNOWN not in program else ""
        case Member():
            found = project.python_source_matches
            is_mentioned = found(rf"\b{re.escape(one.name)}\b".encode()) or not found(b"")
            return "" if is_mentioned else _NO_CODE
    return ""


def _of_library(option: str, program: Path, project: Recording) -> str:
    """The classes of libraries that the parser of a program fills, and whose fields no table
    lists: an option that no code of the project mentions is one of these. What the Trainer of
    transformers has is one of the class that is for training, if there is one.
    """
    names = sorted(filled_by(program, project).of_libraries)
    if normal(option) in TRAINER_FIELDS:
        names = [name for name in names if _FOR_TRAINING.search(name)] or names
    shown = " or ".join(names[:_MOST_CLASSES])
    return f"; {shown}, which its parser fills, may have it" if names else ""


def _is_mentioned(option: str, program: Path, project: Recording) -> bool:
    """True if a program, or what it imports, mentions the last part of an option."""
    name = normal(option.rpartition(".")[2])
    word = re.compile(rf"\b{re.escape(name).replace('_', '[_-]')}\b")
    text = project.config_files.text
    return any(word.search(text(path)) for path in files_of(program, project))
