"""The option that makes a program choose a dtype which code names: `--dtype bfloat16`.

Code names a dtype in a table (`{"bf16": torch.bfloat16}[name]`), or under a condition (`if name ==
"bf16": return torch.bfloat16`). The name is followed back, through parameters and their call sites,
to the option that a program reads it from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.origin import Choice, Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.settings import holds_settings
from precision_lint.model.finding import Related, Span
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import dotted, last_name, parameters, positional_parameters
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_HOPS = 5
"""Calls and assignments between the place and the option."""
_MOST_CALLS = 24
"""Calls of one function that are read."""
_MOST_OPTIONS = 2
"""Options of one finding that a reader wants to see."""

_UNCHANGING = frozenset({"lower", "upper", "strip", "casefold"})
"""Methods of a name that leave it the same name."""

_Value: TypeAlias = "str | bool"
_Way: TypeAlias = "frozenset[FunctionDefinition]"
"""The functions whose parameters hand a name on."""


def options_choosing(
    origin: Origin, file: ParsedPython, span: Span, project: Recording
) -> tuple[Related, ...]:
    """The options with which a run gets the dtype of an origin at a place of a file.

    Several options can reach one table. Those count whose names go through the function of the
    place; without such a one, the only option of the file, or else of all programs.
    """
    if origin.witness is not None or kind_of(origin.source.path) != "python":
        return ()  # it is a setting itself
    module = file if origin.source.path == file.text.path else project.module(origin.source.path)
    named = None if module is None else module.node_at(origin.span)
    if module is None or named is None:
        return ()
    found: dict[Related, set[FunctionDefinition]] = {}
    search = _Search(file, project)
    for selector, value, reader in search.selectors(named, module):
        for option, way in search.options(selector, value, reader, frozenset(), _MOST_HOPS):
            found.setdefault(option, set()).update(way)
    here = set(functions_around(file, span.start))
    through_here = [option for option, way in found.items() if way & here]
    options = _own(through_here, file) or through_here
    if not options:
        options = _own(found, file) or list(found)
        options = options if len(options) == 1 else []
    options.sort(key=lambda option: (str(option.place.path), option.place.start))
    return tuple(options) if len(options) <= _MOST_OPTIONS else ()


def _own(options: Iterable[Related], file: ParsedPython) -> list[Related]:
    """The options that a file itself declares."""
    return [option for option in options if option.place.path == file.text.path]


def _deciding(test: ast.expr) -> Iterator[tuple[ast.expr, _Value]]:
    """What a condition compares, with a value for which it holds."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(name))]):
            yield left, name
        case ast.Compare(
            left=left,
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=names) | ast.List(elts=names) | ast.Set(elts=names)],
        ):
            for each in names:
                match each:
                    case ast.Constant(value=str(name)):
                        yield left, name
        case ast.BoolOp(values=values):
            for each in values:
                yield from _deciding(each)
        case ast.Name() | ast.Attribute():
            yield test, True


def _keys_read(
    name: str, scope: ast.AST, module: ParsedPython
) -> Iterator[tuple[ast.expr, ParsedPython]]:
    """The keys that the table of a name is asked for in a scope."""
    syntax = syntax_tree(module)
    for read in syntax.reads(scope, name):
        if (key := _key_of_lookup(read, syntax)) is not None:
            yield key, module


def _key_of_lookup(table: ast.AST, syntax: SyntaxTree) -> ast.expr | None:
    """`name` in `table[name]` and `table.get(name)`."""
    match syntax.parent(table):
        case ast.Subscript(value=value, slice=key) if value is table:
            return key
        case ast.Attribute(attr="get" | "pop") as method:
            match syntax.parent(method):
                case ast.Call(func=function, args=[key, *_]) if function is method:
                    return key
    return None


@dataclass(frozen=True, slots=True)
class _Search:
    """The way back from a name to the options of programs that a file is a part of."""

    file: ParsedPython
    project: Recording

    def selectors(
        self, named: ast.expr, module: ParsedPython
    ) -> Iterator[tuple[ast.expr, _Value, ParsedPython]]:
        """The expressions that decide for a dtype, with the value that does and their file."""
        syntax = syntax_tree(module)
        inner: ast.AST = named
        for parent in syntax.within_function(named):
            match parent:
                case ast.Dict(keys=keys, values=values) if inner in values:
                    match keys[values.index(inner)]:
                        case ast.Constant(value=str(key)):
                            for asked, reader in self._lookups(parent, module):
                                yield asked, key, reader
                    return
                case ast.If(test=test, body=body) if inner in body:
                    yield from ((*decision, module) for decision in _deciding(test))
                    return
                case ast.IfExp(test=test, body=body) if inner is body:
                    yield from ((*decision, module) for decision in _deciding(test))
                    return
                case ast.match_case(pattern=ast.MatchValue(value=ast.Constant(value=str(name)))):
                    match syntax.parent(parent):
                        case ast.Match(subject=subject):
                            yield subject, name, module
                    return
            inner = parent

    def _lookups(
        self, table: ast.Dict, module: ParsedPython
    ) -> Iterator[tuple[ast.expr, ParsedPython]]:
        """The keys that a table is asked for, at once or by the name that it is assigned to."""
        syntax = syntax_tree(module)
        if (key := _key_of_lookup(table, syntax)) is not None:
            yield key, module
        match syntax.parent(table):
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                scope = syntax.function(table)
                yield from _keys_read(name, scope or syntax.tree, module)
                for user in self._importers(module, name) if scope is None else ():
                    yield from _keys_read(name, user.tree, user)

    def options(
        self, node: ast.expr, value: _Value, module: ParsedPython, way: _Way, hops: int
    ) -> Iterator[tuple[Related, _Way]]:
        """The options that an expression reads, if a run can give them the value."""
        if hops == 0:
            return
        node, syntax = _bare(node), syntax_tree(module)
        if (path := _setting_path(node)) is not None:
            for option in self._declared(path, value, module.text.path):
                yield option, way
            return
        match node:
            case ast.Name():
                match binding(node, syntax) or _parameter(node, syntax):
                    case [assigned]:
                        yield from self.options(assigned, value, module, way, hops - 1)
                    case ast.arg() as parameter:
                        yield from self._given(parameter, value, module, way, hops)
            case ast.Attribute(value=ast.Name(id="self")):
                owner = enclosing_class(node, syntax)
                match None if owner is None else attribute(node, owner, syntax):
                    case [assigned]:
                        yield from self.options(assigned, value, module, way, hops - 1)

    def _given(
        self, parameter: ast.arg, value: _Value, module: ParsedPython, way: _Way, hops: int
    ) -> Iterator[tuple[Related, _Way]]:
        """The options that the callers of a function give to a parameter."""
        syntax = syntax_tree(module)
        function = next(
            (each for each in syntax.around(parameter) if isinstance(each, FunctionDefinition)),
            None,
        )
        if function is None or function in way:
            return
        owner = syntax.parent(function)
        called = function.name
        if isinstance(owner, ast.ClassDef) and function.name == "__init__":
            called = owner.name
        is_bound = isinstance(owner, ast.ClassDef) and not _is_static(function)
        further = way | {function}
        for caller in (module, *self._importers(module, called)):
            for call in syntax_tree(caller).calls(called)[:_MOST_CALLS]:
                given = _argument(call, function, parameter, is_bound=is_bound)
                if given is not None:
                    yield from self.options(given, value, caller, further, hops - 1)

    def _importers(self, module: ParsedPython, name: str) -> Iterator[ParsedPython]:
        """The other files that may call a function, if they run with the file of the finding."""
        here = self.file.text.path
        for path in self.project.importing(module.text.path, name):
            if path == here:
                yield self.file
            elif self.project.uses(path, here) or self.project.uses(here, path):
                found = self.project.module(path)
                if found is not None:
                    yield found

    def _declared(self, path: tuple[str, ...], value: _Value, near: Path) -> Iterator[Related]:
        """The places that give a setting the value, or declare an option that takes any."""
        setting = self.project.setting(path, near)
        choices = () if setting is None else setting.choices
        alike = [choice for choice in choices if _same(choice.value, value)]
        if alike:
            yield from map(_with_value, alike)
        elif len(choices) == 1 and choices[0].option and isinstance(choices[0].value, str):
            message = f"with `{choices[0].option} {value}`"
            yield Related(choices[0].origin.related.place, message)


def _with_value(choice: Choice) -> Related:
    """The place of a choice; that of a default says how it is asked for."""
    related = choice.origin.related
    is_default = choice.option and not related.message.startswith("with ")
    message = f"with `{choice.option} {choice.value}`" if is_default else related.message
    return Related(related.place, message, related.witness)


def _same(one: object, other: _Value) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    return one is other


def _bare(node: ast.expr) -> ast.expr:
    """A name without what leaves it the same: `str(name).lower()`."""
    while True:
        match node:
            case ast.Call(func=ast.Name(id="str"), args=[inner]):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if (
                method in _UNCHANGING
            ):
                node = inner
            case _:
                return node


def _setting_path(node: ast.expr) -> tuple[str, ...] | None:
    """The names that lead to a setting: (model, dtype) for `cfg.model.dtype`, `args["dtype"]`."""
    names: list[str] = []
    while True:
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                names.append(key)
                node = inner
            case ast.Call(
                func=ast.Attribute(value=inner, attr="get"), args=[ast.Constant(value=str(key)), *_]
            ):
                names.append(key)
                node = inner
            case ast.Call(
                func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(key)), *_]
            ):
                names.append(key)
                node = inner
            case _:
                break
    start = dotted(node)
    if start is None:
        return None
    path = (*start.split("."), *reversed(names))
    holder = next((number for number, name in enumerate(path[:-1]) if holds_settings(name)), None)
    return None if holder is None else path[holder + 1 :]


def _parameter(node: ast.Name, syntax: SyntaxTree) -> ast.arg | None:
    """The parameter that `name = name.lower()` reads."""
    function = syntax.function(node)
    given = [] if function is None else parameters(function.args)
    return next((each for each in given if each.arg == node.id), None)


def _is_static(function: FunctionDefinition) -> bool:
    return any(last_name(decorator) == "staticmethod" for decorator in function.decorator_list)


def _argument(
    call: ast.Call, function: FunctionDefinition, parameter: ast.arg, *, is_bound: bool
) -> ast.expr | None:
    """What a call gives to a parameter; None if it leaves it out, or unpacks something."""
    for keyword in call.keywords:
        if keyword.arg == parameter.arg:
            return keyword.value
    names = [each.arg for each in positional_parameters(function.args)][is_bound:]
    if parameter.arg not in names or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    position = names.index(parameter.arg)
    return call.args[position] if position < len(call.args) else None
