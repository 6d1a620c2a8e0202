"""What the registries of a program hold: functions and classes under the names that choose them.

`@ENGINE.register_function()` puts a function into a table, and so does
`MODELS = {"small": SmallModel, "large": LargeModel}`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import last_name

T = TypeVar("T")

_REGISTERING = "register"
_MAY_BE_ONE = regex(r"^@[\w.]*\bregister|^[A-Za-z_]\w*(?:: [^=\n]*)? = (?:\{|dict\()", re.MULTILINE)
_LEAST = 2
"""Entries of a table of which one is chosen."""


@frozen(slots=False)
class Entry:
    """A function or a class of a registry, with the names that settings may choose it by."""

    registry: str
    definition: str
    names: frozenset[str]
    is_decorated: bool


def entries(program: Program) -> tuple[Entry, ...]:
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

    return once(program, "entries of registries", compute)


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


def unasked(program: Program) -> frozenset[str]:
    """The registries that the project defines, and that a program only fills."""

    def compute() -> frozenset[str]:
        names = {each.registry for each in entries(program) if each.is_decorated}
        objects = {each.partition(".")[0] for each in names if "." in each}
        defined, asked = set[str](), set[str]()
        for file in program.all_files:
            if any(each in file.text.text for each in objects):
                defined |= objects & _assigned(file)
                asked |= objects & _asked(file)
        unasked = defined - asked
        return frozenset(each for each in names if each.partition(".")[0] in unasked)

    return once(program, "registries that are not asked", compute)


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
    registering = in_decorators(file)
    return frozenset(
        last_name(node)
        for node in file.nodes
        if isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and node not in registering
    )


@fact
def in_decorators(file: ParsedPython) -> frozenset[ast.AST]:
    """The nodes of all decorators of a file."""
    return frozenset(
        inner
        for node in file.nodes
        for decorator in (node.decorator_list if isinstance(node, Definition) else ())
        for inner in walk(decorator)
    )


def once(program: Program, key: object, compute: Callable[[], T]) -> T:
    """What holds for a program as long as the project is the same."""
    return program.project.config_files.once(("registries", program.path, key), compute)
