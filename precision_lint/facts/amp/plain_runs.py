"""The runs of a program that the project offers and that no backend such as DeepSpeed takes over.

They are the commands of scripts and pages that start the program, or the program without a word if
there are none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from precision_lint.facts.amp.launch_backends import may_run_in_backend
from precision_lint.facts.context import PythonFile
from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.known import Known
from precision_lint.facts.runs.written.entries import programs_having
from precision_lint.facts.runs.written.typed_commands import typed_commands
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.shell.variables import Word
from precision_lint.source.shell.words import UNKNOWN

_SETTINGS = frozenset({"yaml", "json", "toml"})
_MOST_RUNS = 12
_MOST_COMMANDS = 64
"""Commands of one file."""
_BACKEND = regex(r"deepspeed|fsdp|zero[_-]?[123]|megatron|colossalai", re.IGNORECASE)
_FROM_FILE = regex(r"--config\w*(?:=.*)?", re.DOTALL)
_FILE = regex(r".*\.(?:ya?ml|json)", re.DOTALL)
_OF_SETTINGS = regex(r"conf|cfg|arg|setting|param|recipe|ya?ml|hp|opt", re.IGNORECASE)
"""Names of options that give a program more settings than are seen here; others give it data."""
_ASKING_FOR_HELP = frozenset({"-h", "--help"})
_STARTER = regex(r"\bpython[\d.]*\b|\btorchrun\b")
_HANDED_ON = regex(r"[\"']?\$[{]?[@*][}]?[\"']?")
"""What a user adds: without it, the command is a run as well."""


@frozen(eq=False)
class PlainRun:
    """A run, and what expressions come to in it; `is_shown` if a script or a page starts it."""

    environment: RunEnvironment
    is_shown: bool
    _code: ParsedPython
    """The file that asks, as the program has it."""
    _evaluator: Evaluator

    @property
    def place(self) -> Related | None:
        """The command that starts it; None for a program without a word."""
        span = self.environment.span if self.is_shown else None
        text = self.environment.file.text
        return None if span is None else Related(text.place(span), "the run that is started here")

    def reaches(self, node: ast.AST) -> bool:
        """False if the run certainly does not come to a node of the file."""
        return self._evaluator.reaches(node, self._code)

    def value(self, node: ast.expr, code: ParsedPython | None = None) -> Known | None:
        """What an expression of the file, or of another one of the program, comes to."""
        return self._evaluator.value(node, code or self._code)

    def setting_read(self, work: Callable[[], object]) -> Related | None:
        """The setting of a file of settings that some work reads; None if there is none."""
        _, read = self._evaluator.noting(work)
        for one in read:
            if one.file.format in _SETTINGS and not one.is_word:
                place = one.file.text.place(one.origin.span)
                return Related(place, f"`{one.name}` is `{one.value}` here")
        return None

    def truth(self, node: ast.expr, code: ParsedPython | None = None) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        return self._evaluator.truth(node, code or self._code)


@fact
def plain_runs(file: PythonFile) -> tuple[PlainRun, ...]:
    """The runs of the programs that a file is a part of, but for those with files of settings."""
    return tuple(_every(file, with_files=False))


@fact
def configured_runs(file: PythonFile) -> tuple[PlainRun, ...]:
    """The same with those whose files of settings are all seen and name no backend."""
    return tuple(_every(file, with_files=True))


def _every(file: PythonFile, *, with_files: bool) -> list[PlainRun]:
    project, path = file.project, file.text.path
    programs = [*programs_having(path, project)]
    if not programs and not project.users(path):
        programs = [path]  # a script that no other file imports
    found: list[PlainRun] = []
    for program in programs:
        found += _runs(program, file, with_files=with_files)
    return found[:_MOST_RUNS]


def _runs(program: Path, file: PythonFile, *, with_files: bool) -> Iterator[PlainRun]:
    project = file.project
    started = [*_started(program, project)]
    code, parsed = project.config_files.at(program), project.module(file.text.path) or file
    if not started and code is not None:
        alone = environment(program, code, None, project)
        yield PlainRun(alone, False, parsed, Evaluator(alone))
    for part, one, before in started[:_MOST_RUNS]:
        if _is_plain(one, before, part, file, with_files=with_files):
            run = environment(program, part, _alone(one, part), project)
            yield PlainRun(run, True, parsed, Evaluator(run))


def _started(program: Path, project: Recording) -> Iterator[tuple[ParsedConfig, Launch, str]]:
    """The launches of a program in scripts, in pages and in its own text, and what comes before it
    in the command.
    """
    for script in project.config_files.scripts_naming(program):
        for part in script.with_embedded:
            for command in part.commands[:_MOST_COMMANDS]:
                started = launch(command)
                if started is not None and program_of(started, part, project) == program:
                    words = " ".join(word.text for word in command.words)
                    yield part, started, words.partition(started.program)[0]
    own = project.config_files.at(program)
    if own is not None:
        text = own.text.text
        starter = "accelerate" if "accelerate launch" in text else "python"
        for started in typed_commands(text, program.name, program, project):
            yield own, started, starter


def _alone(started: Launch, part: ParsedConfig) -> Launch:
    """A command without what a user may add to it."""
    words = (word for word in started.words if not _HANDED_ON.fullmatch(part.text[word.span]))
    return replace(started, words=tuple(words))


def _is_plain(
    started: Launch, before: str, part: ParsedConfig, file: PythonFile, *, with_files: bool
) -> bool:
    """True for a command that certainly starts the program without a backend."""
    words = (*started.launcher, *started.words)
    if any(_BACKEND.search(word.text) or word.text in _ASKING_FOR_HELP for word in words):
        return False
    given = [index for index in range(len(words)) if _may_give_settings(index, words)]
    if not all(with_files and _is_seen(index, words, part, file) for index in given):
        return False
    if any(_may_be_options(index, words, part) for index in range(len(words))):
        return False
    if _BACKEND.search(before):
        return False
    if "accelerate" in before:
        return not may_run_in_backend(file)
    return _STARTER.search(before) is not None


def _may_give_settings(index: int, words: tuple[Word, ...]) -> bool:
    """True for `--config …`, and for a file that is not the value of an option such as `--data`."""
    option, is_joined, value = words[index].text.partition("=")
    if not is_joined:
        option, value = words[index - 1].text if index else "", words[index].text
    if _FROM_FILE.fullmatch(words[index].text):
        return True
    is_option = option.startswith("--") and "=" not in option
    is_data = is_option and _OF_SETTINGS.search(option) is None
    return not is_data and _FILE.fullmatch(value) is not None


def _is_seen(index: int, words: tuple[Word, ...], part: ParsedConfig, file: PythonFile) -> bool:
    """True for a file of settings of the project that names no backend, and for its option."""
    named = [word.text.rpartition("=")[2] for word in words[index : index + 2]]
    name = next((each for each in named if _FILE.fullmatch(each)), None)
    files = file.project.config_files
    path = None if name is None else files.find(name, part.text.path)
    read = None if path is None else files.read(path)
    return read is not None and _BACKEND.search(read.text.text) is None


def _may_be_options(index: int, words: tuple[Word, ...], part: ParsedConfig) -> bool:
    """True for a word that only run time knows, and that is no value of an option."""
    if UNKNOWN not in words[index].text or _HANDED_ON.fullmatch(part.text[words[index].span]):
        return False
    is_value = index > 0 and words[index - 1].text.startswith("--")
    return not is_value and not words[index].text.startswith("--")
