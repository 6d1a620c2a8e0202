"""The options of a program that choose a precision, and the values that each can have.

What a declaration says comes first: the default, the choices, both states of a switch. An option
without choices has the values that the program compares it with, or looks up in a table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.tables import lookups
from precision_lint.facts.settings.given import Declaration, Kind
from precision_lint.facts.settings.vocabulary import is_about_precision, names_precision
from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.precision import precision_of, switched_by
from precision_lint.source.python.parse import ParsedPython

Value: TypeAlias = "str | int | bool"

_MOST_OPTIONS = 12
_MOST_VALUES = 10
_BITS = frozenset({8, 16, 32, 64})


@frozen
class Domain:
    """An option, as a command line or a class calls it, and its values, each with its place."""

    name: str
    shown: str
    values: Mapping[Value, Place]
    default: Value | None
    """None if it has none, or if its declarations do not agree on one."""

    @property
    def is_switch(self) -> bool:
        return any(isinstance(value, bool) for value in self.values)


@fact
def domains(program: Program) -> tuple[Domain, ...]:
    """The options of a program that are about precision, in the order of their declarations."""
    found = filter(None, (_domain(name, given, program) for name, given in _options(program)))
    return tuple(found)[:_MOST_OPTIONS]


def _options(program: Program) -> Iterator[tuple[str, list[Declaration]]]:
    for name, declared in program.options.items():
        is_named = is_about_precision(name) or switched_by(name) is not None
        if is_named or any(names_precision(each.value) for each in declared):
            yield name, list(declared)


def _domain(name: str, declared: list[Declaration], program: Program) -> Domain | None:
    arguments = [given for given in declared if given.kind is Kind.ARGUMENT] or declared
    values: dict[Value, Place] = {}
    for given in arguments:
        if _is_choice(given.value):
            assert isinstance(given.value, str | int)
            values.setdefault(given.value, given.origin.source.place(given.origin.span))
    offers = [given for given in arguments if not given.is_default]
    if not offers and values:
        place = next(iter(values.values()))
        for value in _read_values(program).get(name, ()):
            values.setdefault(value, place)
    if not any(isinstance(value, bool) or precision_of(value) for value in values):
        return None
    defaults = {given.value for given in arguments if given.is_default}
    default = defaults.pop() if len(defaults) == 1 else None
    flag = ".".join((*arguments[0].path[:-1], arguments[0].flag))
    shown = f"--{flag.replace('_', '-')}" if _has_dash(arguments[0]) else f"--{flag}"
    is_option = arguments[0].kind is Kind.ARGUMENT
    return Domain(
        name,
        shown if is_option else f"{arguments[0].owner}.{name}",
        dict(list(values.items())[:_MOST_VALUES]),
        default if isinstance(default, str | int) else None,
    )


def _has_dash(given: Declaration) -> bool:
    """True if the option is written with dashes: its declaration shows it."""
    source = given.origin.source
    line = source.text[max(0, given.origin.span.start - 200) : given.origin.span.end + 1]
    return f"--{given.flag.replace('_', '-')}" in line and "_" in given.flag


def _is_choice(value: object) -> bool:
    match value:
        case bool():
            return True
        case int():
            return value in _BITS
        case str():
            return bool(value.strip())
    return False


@fact
def _read_values(program: Program) -> Mapping[str, list[str]]:
    """The names of precisions that attributes and keys are compared with or looked up by."""
    found: dict[str, list[str]] = {}
    for file in program.files:
        for name, node in _compared(file):
            match node:
                case ast.Constant(value=str(value)) if precision_of(value) is not None:
                    found.setdefault(name, []).append(value)
    return found


@fact
def _compared(file: ParsedPython) -> tuple[tuple[str, ast.expr], ...]:
    return tuple(_comparisons(file))


def _comparisons(file: ParsedPython) -> Iterator[tuple[str, ast.expr]]:
    for lookup, table in lookups(file):
        yield from ((_name(lookup.slice), key) for key in table.keys if key is not None)
    for node in file.nodes:
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                yield _name(left), right
            case ast.Compare(
                left=left,
                ops=[ast.In() | ast.NotIn()],
                comparators=[ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items)],
            ):
                yield from ((_name(left), item) for item in items)
            case ast.Call(
                func=ast.Attribute(value=ast.Dict(keys=keys), attr="get"), args=[key, *_]
            ):
                yield from ((_name(key), item) for item in keys if item is not None)


def _name(node: ast.expr) -> str:
    """The option that is read: `args.dtype`, `cfg["dtype"]`, `dtype`."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""
