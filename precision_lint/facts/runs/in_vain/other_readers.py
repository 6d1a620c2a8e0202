"""Runs whose settings choose a class of a registry that is not the one which reads them.

`trainer_type: own_trainer` takes a loop of the project out of a table in which the Trainer of a
library is as well: the program fills the library's class of settings, and makes nothing that reads
it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import any_of, program_of
from precision_lint.facts.frameworks.sources import CallSource, launch_of
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.registries import Entry, entries
from precision_lint.facts.runs.code.ways import class_meant
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.source.config.settings_tree import Scalar, mappings
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_LEVELS = 6


def is_for_another(run: EffectiveConfig, project: Recording) -> bool:
    """True if the settings of a run choose what reads none of them, where another entry of the
    registry is of a library and does.
    """
    path = _program(run, project) if run.framework.readers else None
    if path is None:
        return False
    program, texts = Program(path, project), frozenset(_texts(run, project))
    readers = re.compile(any_of(run.framework.readers))
    by_registry: dict[str, list[Entry]] = {}
    for each in entries(program) if texts else ():
        by_registry.setdefault(each.registry, []).append(each)
    for group in by_registry.values():
        chosen = [each for each in group if not texts.isdisjoint(each.names)]
        if len(chosen) != 1:
            continue
        own = _reads(chosen[0], readers, program)
        others = (_reads(each, readers, program) for each in group if each is not chosen[0])
        if own is False and any(others):
            return True
    return False


def _program(run: EffectiveConfig, project: Recording) -> Path | None:
    started = launch_of(run.source)
    if started is not None:
        return program_of(started, run.file, project)
    return run.source.code.text.path if isinstance(run.source, CallSource) else None


def _texts(run: EffectiveConfig, project: Recording) -> Iterator[str]:
    """The texts that may choose: the words of the launch, and those in files of settings."""
    started = launch_of(run.source)
    for word in started.words if started is not None else ():
        yield from (word.text, *word.text.split("="))
    for path in run.paths:
        file = project.config_files.at(path)
        for mapping in mappings(file.documents) if file is not None else ():
            for entry in mapping.entries:
                if isinstance(entry.value, Scalar) and isinstance(entry.value.value, str):
                    yield entry.value.value


def _reads(entry: Entry, readers: re.Pattern[str], program: Program) -> bool | None:
    """Whether a class of a registry is one of a library that reads the settings, or makes one;
    None if that is not known.
    """
    found = [
        (file, node)
        for file in program.mentioning(entry.definition)
        for node in file.tree.body
        if isinstance(node, ast.ClassDef) and node.name == entry.definition
    ]
    found = [row for row in found if len(found) == 1 or _is_registered(row[1], entry)]
    if len(found) != 1:
        return None
    return _of_class(*found[0], readers, program.project, _MOST_LEVELS)


def _is_registered(owner: ast.ClassDef, entry: Entry) -> bool:
    """True for a class whose decorator says a name of the entry: another may be called the same."""
    said = {
        each.value
        for decorator in owner.decorator_list
        for each in walk(decorator)
        if isinstance(each, ast.Constant)
    }
    return not said.isdisjoint(entry.names)


def _of_class(
    file: ParsedPython,
    owner: ast.ClassDef,
    readers: re.Pattern[str],
    project: Recording,
    levels: int,
) -> bool | None:
    names = syntax_tree(file).names
    used = [node for node in walk(owner) if isinstance(node, ast.Name | ast.Attribute)]
    if any(_is_reader(node, names, file, readers, project) for node in used):
        return True
    known: list[bool | None] = [False]
    for base in owner.bases if levels else ():
        above = class_meant(base, file, project)
        if above is not None:
            known.append(_of_class(*above, readers, project, levels - 1))
        elif dotted(base) not in ("object", "ABC", "abc.ABC"):
            known.append(None)
    return True if True in known else None if None in known else False


def _is_reader(
    node: ast.Name | ast.Attribute,
    names: Mapping[str, str],
    file: ParsedPython,
    readers: re.Pattern[str],
    project: Recording,
) -> bool:
    """True for what a library has, and whose name is that of a reader."""
    root = (dotted(node) or "").partition(".")[0]
    whole = qualified(node, names)
    if root not in names or readers.fullmatch(whole.rpartition(".")[2]) is None:
        return False
    return project.locate(file.text.path, whole.rpartition(".")[0]) is None
