"""Modules of settings that a program loads from a path of its command line.

`train.py --config configs/large.py` imports the file by its path and makes an object of the class
in it, `module.TrainConfig()`: any file with a class of that name can be given there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.facts.runs.readers.path_words import word_for
from precision_lint.facts.runs.written.program_files import programs_of
from precision_lint.facts.settings.given import normal
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax_tree import syntax_tree

_LOADING = {"spec_from_file_location": 1, "SourceFileLoader": 1, "load_source": 1, "run_path": 0}
"""Functions that load a module, and where they get its path."""
_MARK = rb"\b(?:spec_from_file_location|SourceFileLoader|load_source|run_path)\("
_MOST_PROGRAMS = 3
_OPTION = regex(r"`(--[\w-]+)`")


@frozen
class ModuleTaker:
    """A program, and the option of its command line that names the module."""

    program: Path
    option: str

    @property
    def name(self) -> str:
        """The option by the name of its attribute."""
        return normal(self.option.lstrip("-"))


def module_takers(path: Path, owner: str, project: Recording) -> tuple[ModuleTaker, ...]:
    """The programs that may load a module which nothing imports, and make an object of a class."""
    if not owner or project.users(path):
        return ()
    return project.config_files.once(
        ("module takers", path, owner),
        lambda: tuple(islice(_takers(owner, project), _MOST_PROGRAMS)),
    )


def _takers(owner: str, project: Recording) -> Iterator[ModuleTaker]:
    loading = frozenset(project.python_sources_matching(_MARK))
    made = re.compile(rf"\.{owner}\(|[\"']{owner}[\"']")
    for path in programs_of(project) if loading else ():
        if project.is_test(path):
            continue
        program = Program(path, project)
        for each in program.paths:
            if each in loading and made.search(project.config_files.text(each)):
                option = _option(each, program)
                if option:
                    yield ModuleTaker(path, option)
                    break


def _option(path: Path, program: Program) -> str:
    """The option that says which module a file of a program loads; empty if it is not one alone."""
    file = program.project.module(path)
    found = set()
    for name, index in _LOADING.items() if file is not None else ():
        assert file is not None
        for call in syntax_tree(file).calls(name):
            node = keyword_of(call, "location") or keyword_of(call, "path")
            given = node if node is not None else next(iter(call.args[index : index + 1]), None)
            if isinstance(given, ast.expr):
                match = _OPTION.fullmatch(word_for(given, file, program))
                found.add(match[1] if match is not None else "")
    return found.pop() if len(found) == 1 else ""
