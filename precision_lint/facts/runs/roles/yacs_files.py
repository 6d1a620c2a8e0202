"""What yacs refuses in a file: precision settings that no code declares, and those of another type.

Other keys of the file have to be in the tree of the project, which shows that it is read with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.formats.yacs import Tree, literal, tree_of
from precision_lint.facts.runs.roles.file_problems import FileProblem, run_of
from precision_lint.facts.settings.vocabulary import is_precise
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Entry, Member, Opaque, Scalar
from precision_lint.source.config.settings_tree import Mapping as Section

_BASES = frozenset({"_BASE_", "BASE"})
_SHARE = 0.8
"""Of the keys of a file that the tree must have."""
_LEAST = 5
_ANY_KEY = rb"set_new_allowed\("


def refused_in(file: ParsedConfig, project: Recording) -> Iterator[EffectiveConfig]:
    """What is wrong with each setting of precision in a file that the project reads by yacs."""
    root = file.documents[0] if file.documents else None
    if file.format != "yaml" or not isinstance(root, Section):
        return
    if not all((entry.name or "").isupper() for entry in root.entries):
        return  # by convention, and no other way to tell them cheaply
    entries = dict(_entries(root))
    if not any(map(is_precise, entries)):
        return
    tree = tree_of(project)
    if tree is None or project.python_source_matches(_ANY_KEY):
        return
    known = sum(map(tree.has, entries))
    if known < _LEAST or known < _SHARE * len(entries):
        return
    for name, (mapping, entry) in entries.items():
        if not is_precise(name) or isinstance(entry.value, Opaque):
            continue
        value = entry.value.value if isinstance(entry.value, Scalar) else None
        problem = _unknown(name, tree, project) or _mistyped(name, value, tree)
        if problem is not None:
            written = Occurrence(entry.name or "", value, Member(mapping, entry), file)
            run = run_of(problem, written, "the keys are declared here", project)
            yield from (run,) if run is not None else ()


def _unknown(name: str, tree: Tree, project: Recording) -> FileProblem | None:
    """A key that the section does not have: one that no code of the project mentions."""
    section, _, last = name.rpartition(".")
    parts = name.split(".")
    above = [".".join(parts[:count]) for count in range(len(parts))]
    if tree.has(name) or section not in tree.sections or not tree.open.isdisjoint(above):
        return None
    place = tree.beside(section)
    if place is None or project.python_source_matches(rb"\b%s\b" % re.escape(last).encode()):
        return None
    reason = f"no key of that name is declared in `{section}`" if section else "no such key"
    error = f"KeyError: 'Non-existent config key: {name}'"
    return FileProblem("undeclared", reason, error, place.path, place.span)


def _mistyped(name: str, value: object, tree: Tree) -> FileProblem | None:
    """A value where a section is expected, and another one than a truth value for a switch."""
    if value is None:
        return None
    value = literal(value) if isinstance(value, str) else value
    given = type(value).__name__
    if name in tree.sections and name not in tree.keys and (place := tree.beside(name)):
        error = f"ValueError: Type mismatch (<class 'CfgNode'> vs. <class '{given}'>)"
        error = f"{error} for config key: {name}"
        return FileProblem("refused", f"`{name}` is a section", error, place.path, place.span)
    declared = tree.only(name)
    error = tree.mistyped(name, value)
    if declared is None or not error:
        return None
    reason = f"its default is {declared.default}"
    return FileProblem("refused", reason, error, declared.path, declared.span)


def _entries(mapping: Section, above: str = "") -> Iterator[tuple[str, tuple[Section, Entry]]]:
    """The settings of a file by their dotted names; a section is none."""
    for entry in mapping.entries:
        name = f"{above}{entry.name}"
        if isinstance(entry.value, Section):
            yield from _entries(entry.value, f"{name}.")
        elif entry.name is not None and name not in _BASES:
            yield name, (mapping, entry)
