"""Scripts of the project that other scripts start with words: `bash train.sh 8 fp16`.

A script is read again for each of these commands. What its own commands then get is a run of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.parse import parse_config
from precision_lint.source.shell.alternatives import added
from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.parse import Arguments
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
    if file.script is None or file.around is not None or not file.script.taken:
        return ()
    return file.fact(called, lambda: tuple(_called(file, project)))


def _called(file: ParsedConfig, project: Recording) -> Iterator[ParsedConfig]:
    assert file.script is not None
    path = file.text.path
    known = list(file.script.commands)
    for arguments in islice(_arguments(path, project), _MOST):
        if not arguments.tells(file.script.taken):
            continue
        follow = project.config_files.follow(path)
        read = parse_config(file.text, "shell", follow=follow, arguments=arguments)
        if read.script is not None and (commands := tuple(added(known, read.script.commands))):
            known += commands
            yield replace(read, script=replace(read.script, commands=commands))


def _arguments(path: Path, project: Recording) -> Iterator[Arguments]:
    """The words that other scripts start the script at a path with."""
    for other in project.config_files.referring(path):
        if other.text.path == path:
            continue
        for each in other.with_embedded:
            for command in each.commands if not each.is_excerpt else ():
                at = _started(command)
                words = command.words[at + 1 :]
                if not words or _found(command, at, each, project) != path:
                    continue
                assert each.script is not None
                yield Arguments(words, each.script.places)


def scripts_called(file: ParsedConfig, project: Recording) -> Iterator[Path]:
    """The scripts of the project that the commands of a file start with words."""
    for each in file.with_embedded:
        for command in each.commands if not each.is_excerpt else ():
            at = _started(command)
            path = _found(command, at, each, project) if command.words[at + 1 :] else None
            if path is not None:
                yield path


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
