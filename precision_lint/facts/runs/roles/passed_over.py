"""What a run passes over of its program: what registries do not give out for its settings.

`TASK_TYPE: train_video` in a file takes one function out of a table: the others do not run, nor
does what only they call. The same holds for a registry of the project that a program fills and
never asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set

from precision_lint.facts.runs.code.registries import entries, in_decorators, once, unasked
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import MAIN, TOP, mentions
from precision_lint.facts.runs.readers.readers import named_files
from precision_lint.model.memo import fact
from precision_lint.source.config.settings_tree import Scalar, mappings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_ROUNDS = 6
_DECLARING = frozenset({"add_argument", "option", "Option", "field", "Field", "print", "info"})
"""Calls whose texts choose nothing."""


def passed_over(texts: Set[str], program: Program) -> frozenset[str]:
    """The names of the functions and classes of a program that do not run: those that registries
    do not give out for the texts among the settings, and those that only these mention.
    """
    found = entries(program)
    chosen = {each.registry for each in found if not texts.isdisjoint(each.names)}
    if not found:
        return frozenset()
    left = unasked(program)
    others = [
        each
        for each in found
        if each.registry in left or (each.registry in chosen and texts.isdisjoint(each.names))
    ]
    if not others:
        return frozenset()
    written = _texts(program)
    alive = {each.definition for each in found if each not in others}
    alive |= {
        each.definition
        for each in others
        if each.registry not in left and not written.isdisjoint(each.names)
    }
    names = frozenset(each.definition for each in others) - alive
    in_tables = frozenset(each.definition for each in others if not each.is_decorated)
    return once(
        program, ("passed over", names, in_tables), lambda: _closed(names, in_tables, program)
    )


def chosen_texts(run: RunEnvironment) -> frozenset[str]:
    """The texts of a run that may choose an entry of a registry: those of the opened file and of
    its bases, or the words of the launch and the defaults of other options.
    """
    if run.opened is None:
        words = run.launch.words if run.launch is not None else ()
        said = {part for word in words for part in (word.text, *word.text.split("="))}
        return frozenset(said | {*_defaults(run)})
    files = (run.file, *named_files(run.file, run.program.project))
    return frozenset(
        entry.value.value
        for file in files
        for mapping in mappings(file.documents)
        for entry in mapping.entries
        if isinstance(entry.value, Scalar) and isinstance(entry.value.value, str)
    )


def _defaults(run: RunEnvironment) -> Iterator[str]:
    for name, declared in run.program.options.items():
        for given in declared if name not in run.words else ():
            if given.is_default and isinstance(given.value, str):
                yield given.value


def _texts(program: Program) -> frozenset[str]:
    """The texts that calls of a program get: `MODELS.build("unet")`, `dict(type="unet")`."""

    def compute() -> frozenset[str]:
        return frozenset[str]().union(*map(_given_texts, program.all_files))

    return once(program, "texts that calls get", compute)


@fact
def _given_texts(file: ParsedPython) -> frozenset[str]:
    syntax = syntax_tree(file)
    registering = in_decorators(file)
    found = set[str]()
    for node in file.nodes:
        match node:
            case ast.Call(args=args, keywords=keywords) if (
                node not in registering and callee_name(node) not in _DECLARING
            ):
                given = [*args, *(each.value for each in keywords)]
            case ast.Dict(values=values) if not isinstance(syntax.parent(node), ast.Module):
                given = [*values]
            case _:
                continue
        found |= {
            each.value
            for each in given
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }
    return frozenset(found)


def _closed(names: Set[str], in_tables: Set[str], program: Program) -> frozenset[str]:
    """The names with those that only they mention, without those that something else mentions."""
    mentioning = _mentioning(program)
    dead = set(names)
    for _ in range(_MOST_ROUNDS):
        closed = _with_their_own(dead, mentioning)
        alive = {
            name
            for name in dead
            for scope in mentioning.get(name, ())
            if scope not in closed and not (scope == TOP and name in in_tables)
        }
        if not alive:
            return frozenset(closed)
        dead -= alive
    return frozenset()


def _with_their_own(names: Set[str], mentioning: Mapping[str, Set[str]]) -> set[str]:
    found = {*names}
    count = 0
    while len(found) > count:
        count = len(found)
        found |= {name for name, scopes in mentioning.items() if scopes <= found}
    return found


def _mentioning(program: Program) -> Mapping[str, Set[str]]:
    """For each function and class of a program, the other scopes that mention it."""

    def compute() -> Mapping[str, Set[str]]:
        scopes: dict[str, set[str]] = {}
        for file in program.all_files:
            for scope, names in mentions(file).items():
                if scope != MAIN or file.text.path == program.path:
                    scopes.setdefault(scope, set()).update(names)
        found: dict[str, set[str]] = {}
        for scope, mentioned in scopes.items():
            for name in mentioned & scopes.keys():
                if name != scope:
                    found.setdefault(name, set()).add(scope)
        return found

    return once(program, "who mentions what", compute)
