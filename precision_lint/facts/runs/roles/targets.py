"""Sections of a file from which a class of the project is made: `_target_: pkg.Class`.

Hydra and its relatives hand the keys of the section on as arguments. One that is about precision,
that the class does not have and no code mentions, stops the program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.roles.file_problems import FileProblem, run_of
from precision_lint.facts.settings.vocabulary import chooses_precision
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Member, Scalar, mappings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import innermost_name, named_parameters

_TARGET = "_target_"
_MOST_MAPPINGS = 500


def refused_arguments(file: ParsedConfig, project: Recording) -> Iterator[EffectiveConfig]:
    """The settings of precision that are no arguments of the class that their section makes."""
    if file.format != "yaml" or _TARGET not in file.text.text:
        return
    for section in islice(mappings(file.documents), _MOST_MAPPINGS):
        target = section.get(_TARGET)
        value = target.entry.value if target is not None else None
        if section.merged or section.is_open or not isinstance(value, Scalar):
            continue
        suspects = list(_unmentioned(section, project))
        found = _callee(str(value.value), project) if suspects else None
        taken = _parameters(found[1]) if found is not None else None
        if found is None or taken is None:
            continue
        others = {entry.name for entry in section.entries} - {each.entry.name for each in suspects}
        if not taken & others:
            continue
        for member in suspects:
            name = member.entry.name or ""
            if name in taken:
                continue
            callee = found[1].name
            error = f"TypeError: {callee}.__init__() got an unexpected keyword argument {name!r}"
            reason = f"`{callee}` has no such argument"
            path, span = found[0].text.path, found[0].span_of(found[1])
            problem = FileProblem("undeclared", reason, error, path, span)
            written = Occurrence(name, None, member, file)
            run = run_of(problem, written, f"`{callee}` is defined here", project)
            yield from (run,) if run is not None else ()


def _unmentioned(section: Mapping, project: Recording) -> Iterator[Member]:
    """The settings of precision of a section whose names no code mentions."""
    for entry in section.entries:
        name = entry.name or ""
        if name.startswith("_") or not isinstance(entry.value, Scalar):
            continue
        if not chooses_precision(name, entry.value.value):
            continue
        if not project.python_source_matches(rb"\b%s\b" % re.escape(name).encode()):
            yield Member(section, entry)


def _callee(target: str, project: Recording) -> tuple[ParsedPython, ast.ClassDef] | None:
    """The class of the project that a dotted name leads to, by whichever module it is imported."""
    package, _, name = target.rpartition(".")
    if not name.isidentifier() or not package:
        return None
    top = package.partition(".")[0]
    defining = [
        path
        for path in project.python_sources_matching(rb"(?m)^class %s\b" % name.encode())
        if top in _packages(path)
    ]
    file = project.module(defining[0]) if len(defining) == 1 else None
    if file is None:
        return None
    found = [
        each for each in file.tree.body if isinstance(each, ast.ClassDef) and each.name == name
    ]
    return (file, found[0]) if len(found) == 1 else None


def _packages(path: Path) -> frozenset[str]:
    return frozenset((*path.parent.parts, path.stem))


def _parameters(owner: ast.ClassDef) -> frozenset[str] | None:
    """The arguments that a class takes; None if that is not all known."""
    if owner.bases or owner.keywords:
        return None
    decorators = {innermost_name(each) for each in owner.decorator_list}
    for each in owner.body:
        match each:
            case ast.FunctionDef(name="__init__", args=args):
                return None if args.kwarg or decorators else _names(args)
            case ast.FunctionDef(name="__new__"):
                return None
    if decorators != {"dataclass"}:
        return None
    return frozenset(
        each.target.id
        for each in owner.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    )


def _names(arguments: ast.arguments) -> frozenset[str]:
    return frozenset(each.arg for each in named_parameters(arguments))
