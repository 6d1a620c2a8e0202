"""Which files of a project are programs, by what they hold, and in which folders these are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from precision_lint.facts.frameworks.own_commands import own_commands
from precision_lint.facts.project.facts import Recording

_STARTED = rb"__main__|\.parse_(?:known_)?args\(|Fire\(|hydra\.main\b|argbind\b"
"""What a program holds that is started. A boundary before a word would take five times as long."""
_MAIN = "__main__.py"
_TAKING_WORDS = (
    r"\badd_argument\(|\bparse_args\b|\bargv\b|\bFire\(|\bclick\.|\btyper\.|\btyro\.|\bhydra\.main\b"
    r"|\babsl\b|\bHfArgumentParser\b|\bTrlParser\b|\bfrom_cli\(|Parser\(\s*[\[(]"
)
"""How a program takes the name of another file than the one that it names."""


def is_elsewhere(program: Path, here: Path, project: Recording) -> bool:
    """True for a program in a folder next to one that has programs, and in which the file is:
    `experiments/perplexity/run.py` for `experiments/speed/configs/a.yaml`.
    """
    shared = next(folder for folder in here.parents if folder in program.parents)
    if shared in (here.parent, program.parent):
        return False
    return shared / here.relative_to(shared).parts[0] in _folders_of_programs(project)


def _folders_of_programs(project: Recording) -> frozenset[Path]:
    """The folders that programs are in, and those above. A module that others import is none:
    `configs/config.py` parses the command line for them.
    """

    def compute() -> frozenset[Path]:
        programs = (path for path in programs_of(project) if is_run(path, project))
        return frozenset(folder for path in programs for folder in path.parents)

    return project.config_files.once(("folders of programs",), compute)


def programs_of(project: Recording) -> Iterable[Path]:
    """The files that may be started: by what they hold, by their name, or by a command."""
    mains = (path for path in project.config_files.project.python_files if path.name == _MAIN)
    started = project.python_sources_matching(_STARTED)
    return dict.fromkeys((*started, *mains, *own_commands(project).values()))


def is_run(path: Path, project: Recording) -> bool:
    """True for a file that is a program though it may hold no parser, and no module for others."""
    text = project.config_files.text(path)
    return "__main__" in text or path.name == _MAIN or not project.users(path)


def takes_words(parts: Iterable[Path], project: Recording) -> bool:
    """True if code in some files takes words of the command line, the name of a file among them."""
    files = project.config_files

    def takes(part: Path) -> bool:
        return re.search(_TAKING_WORDS, files.text(part)) is not None

    return any(files.once(("takes words", part), partial(takes, part)) for part in parts)


def is_started(path: Path, project: Recording) -> bool:
    """True for a program: a script that nothing imports, or one that says what happens then."""
    text = project.config_files.text(path)
    is_main = path.name == _MAIN or re.search(_STARTED.decode(), text) is not None
    return is_main or not project.users(path)
