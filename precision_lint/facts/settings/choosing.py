"""The option that makes a program choose a dtype which code names: `--dtype bfloat16`.

Code names a dtype in a table (`{"bf16": torch.bfloat16}[name]`), or under a condition (`if name ==
"bf16": return torch.bfloat16`). The name is followed back, through parameters and their call sites,
to the option that a program reads it from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.origin import Choice, Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.origin_nodes import origin_node
from precision_lint.facts.settings.compared_values import compared_value
from precision_lint.facts.settings.deciding import (
    Chosen,
    Otherwise,
    bare,
    compared,
    key_of_lookup,
    left_to,
    setting_path,
)
from precision_lint.facts.settings.filled_records import field_path
from precision_lint.facts.settings.fixed_switches import is_written
from precision_lint.facts.settings.taking import Taker, parameter_read
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_HOPS = 5
"""Calls and assignments between the place and the option."""
_MOST_CALLS = 24
"""Calls of one function that are read."""
_MOST_FILES = 48
"""Files that are searched for the callers of one function."""
_MOST_OPTIONS = 2
"""Options of one finding that a reader wants to see."""

_User: TypeAlias = "ast.arg | None"
"""What gets a name: a parameter of a function; None for the place that names the dtype."""


def options_choosing(
    origin: Origin, file: ParsedPython, span: Span, project: Recording
) -> tuple[Related, ...]:
    """The options with which a run gets the dtype of an origin at a place of a file.

    Several options can reach one table. Those count whose names go through the function of the
    place; without such a one, the only option of the file, or else of all programs.
    """
    if origin.witness is not None or kind_of(origin.source.path) != "python":
        return ()  # it is a setting itself
    key = (options_choosing, origin.source.path, origin.span)
    found = file.fact(key, lambda: _reaching(origin, file, project))
    here = set(functions_around(file, span.start))
    through_here = [option for option, way in found.items() if way & here]
    options = _own(through_here, file) or through_here
    if not options:
        options = _own(found, file) or list(found)
        places = {(option.place.path, option.place.start) for option in options}
        options = options[:1] if len(places) == 1 else []  # one may be named in several ways
    options.sort(key=lambda option: (str(option.place.path), option.place.start))
    return tuple(options) if len(options) <= _MOST_OPTIONS else ()


def _reaching(
    origin: Origin, file: ParsedPython, project: Recording
) -> Mapping[Related, set[FunctionDefinition]]:
    """The options that reach the place of an origin, and the functions that hand their names on."""
    found, search = origin_node(origin, file, project), Search(file, project)
    if found is not None:
        named, module = found
        for selector, value, reader in search.selectors(named, module):
            search.follow(selector, value, reader, None, _MOST_HOPS)
    return {option: search.functions_between(users) for option, users in search.found.items()}


def _own(options: Iterable[Related], file: ParsedPython) -> list[Related]:
    """The options that a file itself declares."""
    return [option for option in options if option.place.path == file.text.path]


def _keys_read(
    name: str, scope: ast.AST, module: ParsedPython
) -> Iterator[tuple[ast.expr, ParsedPython]]:
    """The keys that a scope looks up in the table of a name."""
    syntax = syntax_tree(module)
    for read in syntax.reads(scope, name):
        if (key := key_of_lookup(read, syntax)) is not None:
            yield key, module


def _left_behind(
    last: ast.AST, dtype: str, syntax: SyntaxTree
) -> Iterator[tuple[ast.expr, Chosen]]:
    """What is left to the last `return` of a function: `if name == "bf16": return …` before it."""
    if not isinstance(last, ast.Return):
        return
    block = syntax.block(last)
    tests = [
        each.test
        for each in block[: block.index(last)]
        if isinstance(each, ast.If) and isinstance(each.body[-1], ast.Return) and not each.orelse
    ]
    if tests:
        yield from left_to(dtype, tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests))


def _assigned(path: tuple[str, ...], syntax: SyntaxTree) -> Iterator[ast.expr]:
    """What a file assigns to a setting: `config.train.precision = args.precision`."""
    for node in syntax.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target], value=value):
                if setting_path(target) == path and setting_path(value) != path:
                    yield value


def _keys_of_class(
    name: str, owner: ast.ClassDef, module: ParsedPython
) -> Iterator[tuple[ast.expr, ParsedPython]]:
    """The keys that a class looks up in the table of one of its own attributes."""
    syntax = syntax_tree(module)
    for node in walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id=holder), attr=attr) if attr == name:
                key = key_of_lookup(node, syntax)
                if key is not None and holder in {"self", "cls", owner.name}:
                    yield key, module


@frozen
class Search:
    """The way back from a name to the options of programs that a file is a part of."""

    file: ParsedPython
    project: Recording
    found: dict[Related, set[_User]] = field(default_factory=dict)
    """The options, and what gets their names first."""
    _users: dict[ast.arg, set[_User]] = field(default_factory=dict)
    """What gets the name of a parameter next."""
    _functions: dict[ast.arg, FunctionDefinition] = field(default_factory=dict)
    _asked: set[tuple[ast.arg, Chosen]] = field(default_factory=set)
    """The parameters whose callers were asked: once is enough."""

    def selectors(
        self, named: ast.expr, module: ParsedPython
    ) -> Iterator[tuple[ast.expr, Chosen, ParsedPython]]:
        """The expressions that decide for a dtype, with the value that does and their file."""
        syntax = syntax_tree(module)
        inner: ast.AST = named
        for parent in syntax.within_function(named):
            match parent:
                case ast.Dict(keys=keys, values=values) if inner in values:
                    match keys[values.index(inner)]:
                        case ast.Constant(value=str(key)):
                            for asked, reader in self.lookups(parent, module):
                                yield asked, key, reader
                    return
                case ast.If(test=test, body=body) if inner in body:
                    yield from ((*decision, module) for decision in compared(test))
                    return
                case ast.IfExp(test=test, body=body) if inner is body:
                    yield from ((*decision, module) for decision in compared(test))
                    return
                case ast.IfExp(test=test) | ast.If(test=test) if inner is not test:
                    dtype = ALIASES.get(last_name(named)) or ""
                    yield from ((*decision, module) for decision in left_to(dtype, test))
                    return
                case ast.match_case(pattern=ast.MatchValue(value=ast.Constant(value=str(name)))):
                    match syntax.parent(parent):
                        case ast.Match(subject=subject):
                            yield subject, name, module
                    return
            if isinstance(parent, FunctionDefinition):
                break
            inner = parent
        dtype = ALIASES.get(last_name(named)) or ""
        yield from ((*decision, module) for decision in _left_behind(inner, dtype, syntax))

    def lookups(
        self, table: ast.Dict, module: ParsedPython
    ) -> Iterator[tuple[ast.expr, ParsedPython]]:
        """The keys looked up in a table, at once or by the name that it is assigned to."""
        syntax = syntax_tree(module)
        if (key := key_of_lookup(table, syntax)) is not None:
            yield key, module
        match syntax.parent(table):
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                scope = syntax.function(table)
                if isinstance(owner := syntax.body(table), ast.ClassDef):
                    yield from _keys_of_class(name, owner, module)
                    return
                yield from _keys_read(name, scope or syntax.tree, module)
                for user in self._importers(module, name) if scope is None else ():
                    yield from _keys_read(name, user.tree, user)

    def follow(
        self, node: ast.expr, value: Chosen, module: ParsedPython, user: _User, hops: int
    ) -> None:
        """Record the options that an expression reads, if a run can give them the value."""
        if hops == 0:
            return
        node, syntax = bare(node), syntax_tree(module)
        path = setting_path(node) or field_path(node, module, self.project)
        if path is not None:
            if value is False and is_written(path[-1], syntax):
                return  # the program turns it on
            options = list(self._declared(path, value, module.text.path))
            for option in options:
                self.found.setdefault(option, set()).add(user)
            for given in () if options else _assigned(path, syntax):
                self.follow(given, value, module, user, hops - 1)
            return
        match node:
            case ast.Name():
                match binding(node, syntax) or parameter_read(node, syntax):
                    case [assigned]:
                        self.follow(assigned, value, module, user, hops - 1)
                    case ast.arg() as parameter:
                        self._users.setdefault(parameter, set()).add(user)
                        self._ask_callers(parameter, value, module, hops)
            case ast.Attribute(value=ast.Name(id="self")):
                owner = enclosing_class(node, syntax)
                match None if owner is None else attribute(node, owner, syntax):
                    case [assigned]:
                        self.follow(assigned, value, module, user, hops - 1)

    def _ask_callers(
        self, parameter: ast.arg, value: Chosen, module: ParsedPython, hops: int
    ) -> None:
        """Follow what the callers of a function give to a parameter."""
        taker = Taker.of(parameter, module)
        if taker is None or (parameter, value) in self._asked:
            return
        self._asked.add((parameter, value))
        self._functions[parameter] = taker.function
        for caller in (module, *self._importers(module, taker.called)):
            for call in syntax_tree(caller).calls(taker.called)[:_MOST_CALLS]:
                given = taker.given_by(call)
                if given is not None:
                    self.follow(given, value, caller, parameter, hops - 1)

    def functions_between(self, users: set[_User]) -> set[FunctionDefinition]:
        """The functions that hand a name on to the place, from what gets it first."""
        seen = set(users)
        pending = [*users]
        while pending:
            match pending.pop():
                case ast.arg() as parameter:
                    further = self._users.get(parameter, set()) - seen
                    seen |= further
                    pending += further
        return {self._functions[each] for each in seen if each in self._functions}

    def _importers(self, module: ParsedPython, name: str) -> Iterator[ParsedPython]:
        """The other files that may call a function, if they run with the file of the finding."""
        here = self.file.text.path
        for path in islice(self.project.importing(module.text.path, name), _MOST_FILES):
            if path == here:
                yield self.file
            elif self.project.uses(path, here) or self.project.uses(here, path):
                found = self.project.module(path)
                if found is not None:
                    yield found

    def _declared(self, path: tuple[str, ...], value: Chosen, near: Path) -> Iterator[Related]:
        """The places that give a setting the value, or declare an option that takes any."""
        setting = self.project.setting(path, near)
        choices = () if setting is None else setting.choices
        alike = [choice for choice in choices if _same(choice.value, value)]
        if value is False:
            alike = [choice for choice in alike if _is_default(choice)]
        if alike:
            yield from map(_with_value, alike)
        elif isinstance(value, Otherwise):
            # Only where a program names such a value it is said that a run may have it.
            own = [each for each in choices if each.origin.source.path == near] or choices
            if len(own) == 1 and own[0].option and isinstance(own[0].value, str):
                named = compared_value(own[0], path, value, near, self.project)
                yield from [named] if named is not None else []
        elif value is False:
            return  # it is not said that it is off
        elif len(choices) == 1 and choices[0].option and isinstance(choices[0].value, str):
            message = f"with `{choices[0].option} {value}`"
            yield Related(choices[0].origin.related.place, message)


def _is_default(choice: Choice) -> bool:
    return bool(choice.option) and not choice.origin.related.message.startswith("with ")


def _with_value(choice: Choice) -> Related:
    """The place of a choice; that of a default names the option that gives it."""
    related, message = choice.origin.related, choice.origin.related.message
    if _is_default(choice):
        is_off = choice.value is False
        given = f"{choice.option} {choice.value}"
        message = f"without `{choice.option}`" if is_off else f"with `{given}`"
    return Related(related.place, message, related.witness)


def _same(one: object, other: Chosen) -> bool:
    if isinstance(other, Otherwise):
        return other.allows(one)
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    return one is other
