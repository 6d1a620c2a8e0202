"""Which programs get a file from the commands of scripts and pages, and with which options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.sources import typed
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.readers.unknown_names import given_in_part
from precision_lint.facts.runs.written.handed_words import launches_with
from precision_lint.facts.runs.written.nearby_files import (
    MOST_SIBLINGS,
    is_nearest,
    names_in,
)
from precision_lint.facts.runs.written.started import started_programs
from precision_lint.facts.runs.written.typed_commands import typed_commands
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option, options
from precision_lint.source.config.settings_tree import Mapping as Tree
from precision_lint.source.config.settings_tree import Scalar
from precision_lint.source.shell.variables import Word
from precision_lint.source.shell.words import UNKNOWN

_OUTPUT = regex(r"^(?:out|output|save|log|work|result|results|exp)(?:[_-](?:dir|path|folder))?$")
"""Options that name the folder which a run writes to."""
_LEAST_WORDS = 8
_AGREEING = 0.6
"""Of the options of a command that a file has with the same values."""
_ABSENT = object()
_CONFIG_NAMES = ("config-name", "config_name", "cn")
"""Options of Hydra."""


def given(path: Path, project: Recording) -> tuple[Path, ...]:
    """The programs that scripts and documents start with the name of a file."""
    return tuple(dict.fromkeys(program for program, _ in gifts(path, project)))


def given_beside(path: Path, program: Path, project: Recording) -> Mapping[str, Option | None]:
    """The options that commands give to a program together with a file; None for one that not all
    of them give, or give alike.
    """
    rows = [
        {option.name.replace("-", "_"): option for option in options(_said(started))}
        for one, started in gifts(path, project)
        if one == program
    ]
    found: dict[str, Option | None] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        same = {row[name].value if name in row else None for row in rows}
        found[name] = rows[0].get(name) if len(same) == 1 else None
    return found


def _said(started: Launch) -> tuple[Word, ...]:
    """The words of a command, but for what a backslash at its end leaves."""
    words = started.words
    return words[:-1] if words and not words[-1].text else words


def gifts(path: Path, project: Recording) -> tuple[tuple[Path, Launch], ...]:
    """The programs that get a file, with the commands."""
    return project.config_files.once(
        ("given to", path), lambda: tuple(_given(path, project)) or tuple(_agreeing(path, project))
    )


def gets_others(program: Path, path: Path, project: Recording) -> bool:
    """True for a program that commands give other files of this kind, where they give those of the
    file's folder to other programs: a viewer that gets what the training wrote.
    """
    own = _given_in(path.parent, path.suffix, project)
    return bool(own) and program not in own and _gets_files(program, path.suffix, project)


def _given_in(folder: Path, suffix: str, project: Recording) -> frozenset[Path]:
    """The programs that commands give some file of a folder."""

    def compute() -> frozenset[Path]:
        names = [name for name in names_in(folder) if name.endswith(suffix)]
        paths = (folder / name for name in names[:MOST_SIBLINGS])
        return frozenset(program for each in paths for program in given(each, project))

    return project.config_files.once(("given in", folder, suffix), compute)


def _gets_files(program: Path, suffix: str, project: Recording) -> bool:
    """True if a command starts a program with a word that names a file of a kind."""

    def compute() -> bool:
        scripts = project.config_files.referring(program)
        return any(
            word.text.endswith(suffix)
            for script in scripts
            for _, launch, started in started_programs(script, project, by_example=True)
            if started == program
            for word in launch.words
        )

    return project.config_files.once(("gets files", program, suffix), compute)


def _agrees(launch: Launch, path: Path, project: Recording) -> bool:
    """True for a file that says what a command says: the run with these words has written it."""
    file = project.config_files.at(path)
    root = file.documents[0] if file is not None and file.documents else None
    if not isinstance(root, Tree):
        return False
    said = {
        entry.name: entry.value.value
        for entry in root.entries
        if entry.name and isinstance(entry.value, Scalar)
    }
    words = [
        said.get(option.name.replace("-", "_"), _ABSENT) == typed(option.value)
        for option in options(launch.words)
        if len(option.name) > 1
    ]
    return len(words) >= _LEAST_WORDS and sum(words) >= _AGREEING * len(words)


def _agreeing(path: Path, project: Recording) -> Iterator[tuple[Path, Launch]]:
    """The programs whose runs have written a file that no command gives to a program."""
    for script in _scripts(path, project):
        for _, launch, program in started_programs(script, project, by_example=True):
            if _agrees(launch, path, project) and not project.is_test(program):
                yield program, launch


def _scripts(path: Path, project: Recording) -> tuple[ParsedConfig, ...]:
    """The file, which may hold commands, and the scripts and documents that name it."""
    files = project.config_files
    own = filter(None, (files.at(path),))
    return tuple(dict.fromkeys((*own, *files.scripts_naming(path))))


def _given(path: Path, project: Recording) -> Iterator[tuple[Path, Launch]]:
    files = project.config_files
    for script in _scripts(path, project):
        for part, launch, program in started_programs(script, project, by_example=True):
            named = (word.text for word in (*launch.words, *launch.launcher))
            paths = (text.rpartition("=")[2] for text in named if text.endswith(path.name))
            found = ((text, files.find(text, part.text.path, launch.directory)) for text in paths)
            is_it = (_names_it(text, at, path, program, project) for text, at in found)
            is_its = any(is_it) or _writes_there(launch, path, project)
            if is_its and not project.is_test(program):
                yield program, launch
        yield from _given_by_variables(script, path, project)
        if script.python is None:
            yield from _typed(script.text.text, script, path, project)
    yield from given_in_part(path, project)


def _given_by_variables(
    script: ParsedConfig, path: Path, project: Recording
) -> Iterator[tuple[Path, Launch]]:
    """The programs that get a file by a variable which branches of a script assign: the file is
    what the script takes without a word, or with one.
    """
    for part in script.with_embedded:
        for name, one in part.script.assigned if part.script is not None else ():
            text = one.text.chars.strip()
            if not text.endswith(path.name) or UNKNOWN in text:
                continue
            for started in launches_with(name, part):
                program = program_of(started, part, project)
                found = project.config_files.find(text, part.text.path, started.directory)
                if program is None or project.is_test(program):
                    continue
                if _names_it(text, found, path, program, project):
                    yield program, started


def _typed(
    text: str, near: ParsedConfig, path: Path, project: Recording
) -> Iterator[tuple[Path, Launch]]:
    """The programs of commands in a text that get a file: `# python train.py -c conf/a.yaml`."""
    files = project.config_files
    for started in typed_commands(text, path.stem, near.text.path, project):
        named = (word.text for word in (*started.words, *started.launcher))
        named = (text.rpartition("=")[2] for text in named if text.endswith(path.name))
        program = program_of(started, near, project)
        if program is not None and not project.is_test(program):
            found = ((text, files.find(text, near.text.path)) for text in named)
            is_its = any(_names_it(text, at, path, program, project) for text, at in found)
            if is_its or _config_name(started) == path.stem:
                yield program, started


def _config_name(started: Launch) -> str:
    """The name of the file that a command makes Hydra start from, without its suffix."""
    given = {option.name: option.value for option in options(started.words)}
    name = next((given[each] for each in _CONFIG_NAMES if each in given), None)
    return name.removesuffix(".yaml") if isinstance(name, str) else ""


def _names_it(text: str, found: Path | None, path: Path, program: Path, project: Recording) -> bool:
    """True for a word that means a file: its path, or its name alone, where the program knows the
    folder and no other file of that name is as near.
    """
    if found is not None or "/" in text:
        return found == path
    return text == path.name and is_nearest(path, program, project)


def _writes_there(launch: Launch, path: Path, project: Recording) -> bool:
    """True for `--output checkpoint` and a file in `checkpoint/run1`, which the run has written."""
    inside = path.relative_to(project.root).parent.parts
    written = (
        PurePosixPath(option.value).parts
        for option in options(launch.words)
        if isinstance(option.value, str) and _OUTPUT.search(option.name)
    )
    return any(parts and parts == inside[: len(parts)] for parts in written)
