"""What a run passes over of the registries of its program.

`@ENGINE.register_function()` puts a function into a table, and `TASK_TYPE: train_video` in a file
takes it out: the other functions of the table do not run, nor does what only they call. The same
holds for `MODELS = {"small": SmallModel, "large": LargeModel}`, and for a registry of the project
that a program fills and never asks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Set
from typing import TypeVar

from precision_lint.facts.runs.flows import files_of
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import MAIN, TOP, mentions
from precision_lint.facts.runs.readers import named_files
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.settings_tree import Scalar, mappings
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import callee_name, last_name
from precision_lint.source.python.syntax_tree import syntax_tree

T = TypeVar("T")

_REGISTERING = "register"
_MAY_BE_ONE = regex(r"^@[\w.]*\bregister|^[A-Za-z_]\w*(?:: [^=\n]*)? = (?:\{|dict\()", re.MULTILINE)
_LEAST = 2
"""Entries of a table of which one is chosen."""
_MOST_ROUNDS = 6
_DECLARING = frozenset({"add_argument", "option", "Option", "field", "Field", "print", "info"})
"""Calls whose texts choose nothing."""


@frozen(slots=False)
class Entry:
    """A function or a class of a registry, with the names that settings may choose it by."""

    registry: str
    definition: str
    names: frozenset[str]
    is_decorated: bool


def passed_over(texts: Set[str], program: Program) -> frozenset[str]:
    """The names of the functions and classes of a program that do not run: those that registries
    do not give out for the texts among the settings, and those that only these mention.
    """
    found = _entries(program)
    chosen = {each.registry for each in found if not texts.isdisjoint(each.names)}
    if not found:
        return frozenset()
    unasked = _unasked(program)
    others = [
        each
        for each in found
        if each.registry in unasked or (each.registry in chosen and texts.isdisjoint(each.names))
    ]
    if not others:
        return frozenset()
    written = _texts(program)
    alive = {each.definition for each in found if each not in others}
    alive |= {
        each.definition
        for each in others
        if each.registry not in unasked and not written.isdisjoint(each.names)
    }
    names = frozenset(each.definition for each in others) - alive
    in_tables = frozenset(each.definition for each in others if not each.is_decorated)
    return _once(
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


def _once(program: Program, key: object, compute: Callable[[], T]) -> T:
    """What holds for a program as long as the project is the same."""
    return program.project.config_files.once(("registries", program.path, key), compute)


def _entries(program: Program) -> tuple[Entry, ...]:
    def compute() -> tuple[Entry, ...]:
        texts = program.project.config_files.text
        paths = [path for path in program.paths if _MAY_BE_ONE.search(texts(path))]
        files = filter(None, map(program.project.module, paths))
        rows = [each for file in files for each in _entries_of(file)]
        count: dict[str, set[str]] = {}
        for each in rows:
            count.setdefault(each.registry, set()).add(each.definition)
        return tuple(
            each for each in rows if each.is_decorated or len(count[each.registry]) >= _LEAST
        )

    return _once(program, "entries of registries", compute)


@fact
def _entries_of(file: ParsedPython) -> tuple[Entry, ...]:
    return (*_decorated(file), *_in_tables(file))


def _decorated(file: ParsedPython) -> Iterator[Entry]:
    defined = [node for node in file.tree.body if isinstance(node, Definition)]
    for node in defined if _REGISTERING in file.text.text else ():
        for each in node.decorator_list:
            called = each.func if isinstance(each, ast.Call) else each
            if not last_name(called).startswith(_REGISTERING):
                continue
            registry = last_name(called)
            if isinstance(called, ast.Attribute):
                registry = f"{last_name(called.value)}.{registry}"
            given = (
                (*each.args, *(one.value for one in each.keywords))
                if isinstance(each, ast.Call)
                else ()
            )
            texts = {
                one.value
                for one in given
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
            yield Entry(registry, node.name, frozenset({node.name, *texts}), is_decorated=True)


def _in_tables(file: ParsedPython) -> Iterator[Entry]:
    """The entries of displays at the top of a file whose values are functions or classes."""
    for statement in file.tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=table)], value=value)
                | ast.AnnAssign(target=ast.Name(id=table), value=value)
            ):
                rows = [*_rows(value)]
            case _:
                continue
        if not all(isinstance(value, ast.Name | ast.Attribute) for _, value in rows):
            continue
        registry = f"{file.text.path}:{table}"
        for key, value in rows:
            names = frozenset({key, last_name(value)})
            yield Entry(registry, last_name(value), names, is_decorated=False)


def _rows(table: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    """The entries of `{"small": Small}` or `dict(small=Small)`."""
    match table:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            for each in keywords:
                if each.arg is not None:
                    yield each.arg, each.value


def _unasked(program: Program) -> frozenset[str]:
    """The registries that the project defines, and that a program only fills."""

    def compute() -> frozenset[str]:
        names = {each.registry for each in _entries(program) if each.is_decorated}
        objects = {each.partition(".")[0] for each in names if "." in each}
        defined, asked = set[str](), set[str]()
        for file in files_of(program):
            if any(each in file.text.text for each in objects):
                defined |= objects & _assigned(file)
                asked |= objects & _asked(file)
        unasked = defined - asked
        return frozenset(each for each in names if each.partition(".")[0] in unasked)

    return _once(program, "registries that are not asked", compute)


@fact
def _assigned(file: ParsedPython) -> frozenset[str]:
    """The names that a file assigns at its top."""
    return frozenset(
        target.id
        for statement in file.tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    )


@fact
def _asked(file: ParsedPython) -> frozenset[str]:
    """The names that a file reads elsewhere than to register something: `MODELS.build(…)`."""
    registering = _in_decorators(file)
    return frozenset(
        last_name(node)
        for node in file.nodes
        if isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and node not in registering
    )


@fact
def _in_decorators(file: ParsedPython) -> frozenset[ast.AST]:
    """The nodes of all decorators of a file."""
    return frozenset(
        inner
        for node in file.nodes
        for decorator in (node.decorator_list if isinstance(node, Definition) else ())
        for inner in walk(decorator)
    )


def _texts(program: Program) -> frozenset[str]:
    """The texts that calls of a program get: `MODELS.build("unet")`, `dict(type="unet")`."""

    def compute() -> frozenset[str]:
        return frozenset[str]().union(*map(_given_texts, files_of(program)))

    return _once(program, "texts that calls get", compute)


@fact
def _given_texts(file: ParsedPython) -> frozenset[str]:
    syntax = syntax_tree(file)
    registering = _in_decorators(file)
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
        for file in files_of(program):
            for scope, names in mentions(file).items():
                if scope != MAIN or file.text.path == program.path:
                    scopes.setdefault(scope, set()).update(names)
        found: dict[str, set[str]] = {}
        for scope, mentioned in scopes.items():
            for name in mentioned & scopes.keys():
                if name != scope:
                    found.setdefault(name, set()).add(scope)
        return found

    return _once(program, "who mentions what", compute)
