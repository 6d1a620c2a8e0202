"""The options of precision that programs declare, and that no run shows.

A program has them although no command of the project starts it: who does gets the default.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence, typed
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.entries import entry_points
from precision_lint.facts.runs.understood import Written
from precision_lint.facts.settings.declarations import MARKERS, program_options
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.vocabulary import is_setting_of_precision
from precision_lint.model.finding import Span
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.parse import ParsedPython

_MOST_PROGRAMS = 3
"""Programs that share what declares an option."""
_LONGEST = 40
"""Characters of a default that are shown."""


def untaken(path: Path, known: Set[Written], project: Recording) -> tuple[Occurrence, ...]:
    """The options of precision that a Python file declares, without those that runs show."""
    if project.is_secondary(path) or not _may_declare(path):
        return ()
    file = project.module(path)
    return tuple(_untaken(file, known, project)) if file is not None else ()


def programs_having(path: Path, project: Recording) -> Iterator[Path]:
    """The programs that have the options of a file: the file itself, if it is started, and those
    that import it.
    """
    return islice(entry_points((path, *project.users(path)), project), _MOST_PROGRAMS)


def _may_declare(path: Path) -> bool:
    try:
        content = disk.read(path, disk.ANY_SIZE)
    except OSError:
        return False
    return any(mark in content for mark in MARKERS)


def _untaken(file: ParsedPython, known: Set[Written], project: Recording) -> Iterator[Occurrence]:
    config = ParsedConfig(file.text, "toml")
    here = [span for path, span in known if path == file.text.path]
    for option in program_options(file):
        name = normal(option.shown.lstrip("-"))
        value = _constant(option.default)
        if not is_setting_of_precision(name, value):
            continue
        if not option.is_parsed and not (
            isinstance(option.default, ast.Constant)
            and _is_made(option.owner, file.text.path, project)
        ):
            continue
        whole = file.span_of(option.whole)
        if not any(_meet(whole, span) for span in here):
            place = CodePlace(file.span_of(option.name))
            yield Occurrence(name, value, place, config, reason=_reason(option.default, file))


def _is_made(owner: str, path: Path, project: Recording) -> bool:
    """True if a program makes an object of a class, or gives the class to what fills it."""
    name = re.escape(owner)
    made = (
        rf"(?<!class )\b{name}\(|default_factory\s*=\s*{name}\b"
        rf"|(?:cli|Parser|parse|wrap)\([^)\n]*\b{name}\b"
    )
    return any(project.reaches(program, made) for program in programs_having(path, project))


def _constant(node: ast.expr | None) -> object:
    """The value of a default; None if it is worked out."""
    match node:
        case ast.Constant(value=str(text)):
            return typed(text)
        case ast.Constant(value=bool() | int() | float() as value):
            return value
    return None


def _meet(one: Span, other: Span) -> bool:
    return one.start <= other.start < one.end or other.start <= one.start < other.end


def _reason(default: ast.expr | None, file: ParsedPython) -> str:
    """Why nothing is said of an option."""
    shown = " ".join(file.text[file.span_of(default)].split()) if default is not None else ""
    is_shown = 0 < len(shown) <= _LONGEST
    return f"its default, `{shown}`, is not followed" if is_shown else "it is not followed"
