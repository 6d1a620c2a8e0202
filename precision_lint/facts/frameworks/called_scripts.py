"""Scripts of the project that other scripts start with words: `bash train.sh 8 fp16`.

A script is read again for each of these commands. What its own commands then get is a run of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.project.facts import Recording
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.parse import parse_config
from precision_lint.source.shell.alternatives import added
from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.parse import Arguments
from precision_lint.source.shell.variables import Word
from precision_lint.source.shell.words import UNKNOWN

_MOST = 8
"""Commands that start one script and are followed."""
_STARTING = frozenset({
    "bash", "sh", "dash", "zsh", "ksh", "sbatch", "srun", "qsub", "nohup", "time", "env", "sudo",
    "exec", "timeout",
})  # fmt: skip
_SUFFIXES = (".sh", ".bash", ".ksh", ".zsh", ".slurm", ".sbatch", ".pbs", ".lsf", ".qsub")


def called(file: ParsedConfig, project: Recording) -> tuple[ParsedConfig, ...]:
    """A script as others of the project start it, with the commands that their words alter."""
    if not _takes_words(file):
        return ()
    found = (
        arguments
        for other in project.config_files.referring(file.text.path)
        if other.text.path != file.text.path and not other.is_excerpt
        for arguments in _arguments(file.text.path, other, project)
    )
    return file.fact(called, lambda: tuple(_read_with(found, file, project)))


def called_by(
    caller: ParsedConfig, file: ParsedConfig, project: Recording
) -> tuple[ParsedConfig, ...]:
    """The same for one file that starts it. What a document starts counts in the document alone."""
    if not caller.is_excerpt:
        path = caller.text.path
        found = called(file, project)
        return tuple(one for one in found if one.script and path in one.script.places.others)
    if not _takes_words(file):
        return ()
    return tuple(_read_with(_arguments(file.text.path, caller, project), file, project))


def _takes_words(file: ParsedConfig) -> bool:
    return file.script is not None and file.around is None and bool(file.script.taken)


def _read_with(
    given: Iterable[Arguments], file: ParsedConfig, project: Recording
) -> Iterator[ParsedConfig]:
    assert file.script is not None
    path = file.text.path
    known = list(file.script.commands)
    for arguments in islice(given, _MOST):
        if not arguments.tells(file.script.taken):
            continue
        follow = project.config_files.follow(path)
        read = parse_config(file.text, "shell", follow=follow, arguments=arguments)
        if read.script is not None and (commands := tuple(added(known, read.script.commands))):
            known += commands
            yield replace(read, script=replace(read.script, commands=commands))


def _arguments(path: Path, caller: ParsedConfig, project: Recording) -> Iterator[Arguments]:
    """The words that a file starts the script at a path with."""
    for each, words, found in _started_scripts(caller, project):
        if found == path and each.script is not None:
            yield Arguments(words, each.script.places)


def scripts_called(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The scripts of the project that the commands of a file start with words."""
    return (path for _, _, path in _started_scripts(file, project))


def script_of(started: Launch, file: ParsedConfig, project: Recording) -> Path | None:
    """The script of the project that a command is seen to start, whatever its words are."""
    shell = started.program.partition(" ")[0].rpartition("/")[2]
    names = (started.program, *(word.text for word in started.words if shell in _STARTING))
    name = next((name for name in names if name.endswith(_SUFFIXES)), None)
    if name is None:
        return None
    return project.config_files.find(name, file.text.path, started.directory)


def _started_scripts(
    file: ParsedConfig, project: Recording
) -> Iterator[tuple[ParsedConfig, tuple[Word, ...], Path]]:
    """The scripts that commands of a file start with words, each with the part that starts it."""
    for each in file.with_embedded:
        if each.is_excerpt and not file.is_excerpt:
            continue
        for command in each.commands:
            at = _started(command)
            words = command.words[at + 1 :]
            path = _found(command, at, each, project) if words else None
            if path is not None:
                yield each, words, path


def _started(command: Command) -> int:
    """The index of the script that a command starts; the number of words if it starts none."""
    words = command.words
    at = next(
        (index for index, word in enumerate(words) if word.text.endswith((*_SUFFIXES, ".py"))),
        len(words),
    )
    is_started = at == 0 or words[0].text.rpartition("/")[2] in _STARTING
    return at if is_started else len(words)


def _found(command: Command, at: int, file: ParsedConfig, project: Recording) -> Path | None:
    directory = command.directory
    if directory is not None and UNKNOWN in directory:
        directory = None
    return project.config_files.find(command.words[at].text, file.text.path, directory)
