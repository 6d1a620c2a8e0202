"""The dtype of a region that a run of the project chooses, among those that code names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from precision_lint.facts.amp.regions.autocast import AutocastCall
from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.choosing import Search, options_choosing
from precision_lint.facts.settings.deciding import bare, holds_with
from precision_lint.facts.settings.taking import Taker, functions_named, parameter_of
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_HOPS = 6
"""Variables and tables between a region and the name of its dtype."""
_MOST_OPTIONS = 2
"""Options of one call that a reader wants to see."""


def options_for(made: AutocastCall, dtype: str, file: PythonFile) -> tuple[Related, ...]:
    """The settings with which a run opens a region in a dtype: `--mixed-precision fp16`."""
    given = made.argument("dtype")
    if given is None:
        return ()
    return options_naming(given, made.node, dtype, file, made.argument("enabled"))


def options_naming(
    given: ast.expr,
    call: ast.Call,
    dtype: str,
    file: PythonFile,
    enabled: ast.expr | None = None,
) -> tuple[Related, ...]:
    """The settings with which a run gives a call a dtype by one of its arguments.

    They do not count where the same settings turn the call off.
    """
    found: dict[Related, None] = {}
    for named in _named(given, dtype, file, file, _HOPS):
        if enabled is not None and _turns_off(named, enabled, file):
            continue
        if named.call is not None:
            found |= dict.fromkeys(_of_call(named, file))
            continue
        place, text = named.module.span_of(named.node), f"{dtype} is chosen here"
        origin = Origin(named.module.text, place, text, "dtype")
        found |= dict.fromkeys(options_choosing(origin, file, file.span_of(call), file.project))
    return tuple(found)


@frozen(eq=False)
class _Named:
    """Where code names a dtype; `call` is that of the function that returns it, if one does."""

    node: ast.expr
    module: ParsedPython
    call: ast.Call | None = None


def _named(
    node: ast.expr, dtype: str, module: ParsedPython, file: PythonFile, hops: int
) -> Iterator[_Named]:
    """Where the code that decides about an expression names a dtype."""
    if hops == 0:
        return
    syntax = syntax_tree(module)
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.Dict():
            values = [*node.values]
        case ast.Subscript(value=table) | ast.Call(func=ast.Attribute(value=table, attr="get")):
            values = [table]
        case ast.Call(func=ast.Name(id=name)):
            for home, function in functions_named(name, module, file.project):
                for returned in own_nodes(function):
                    if isinstance(returned, ast.Return) and returned.value is not None:
                        for each in _named(returned.value, dtype, home, file, hops - 1):
                            if each.call is None:
                                yield replace(each, call=node)
            return
        case ast.Name():
            held = binding(node, syntax)
            values = held if isinstance(held, list) else []
        case ast.Attribute(value=ast.Name(id="self")):
            values = _of_class(node, syntax)
        case ast.Attribute():
            values = []
            head, _, name = qualified(node, syntax.names).rpartition(".")
            if head == "torch" and ALIASES.get(name) == dtype:
                yield _Named(node, module)
        case _:
            values = []
    for value in values:
        yield from _named(value, dtype, module, file, hops - 1)


def _of_call(named: _Named, file: PythonFile) -> list[Related]:
    """The settings that the call of a function gives to what decides in it."""
    search = Search(file, file.project)
    for selector, value, reader in search.selectors(named.node, named.module):
        given = _given(selector, named)
        search.follow(given, value, reader if given is selector else file, None, _HOPS)
    found = sorted(search.found, key=lambda one: (str(one.place.path), one.place.start))
    return found if len(found) <= _MOST_OPTIONS else []


def _turns_off(named: _Named, enabled: ast.expr, file: PythonFile) -> bool:
    """True if all that leads to a name fails a condition: `enabled=precision == "bf16"`."""
    selectors = [*Search(file, file.project).selectors(named.node, named.module)]
    syntax = syntax_tree(file)
    return bool(selectors) and all(
        holds_with(_given(selector, named), value, enabled, syntax, _HOPS) is False
        for selector, value, _ in selectors
    )


def _given(selector: ast.expr, named: _Named) -> ast.expr:
    """What the call of a function gives to the parameter that decides in it."""
    parameter = (
        parameter_of(bare(selector), syntax_tree(named.module)) if named.call is not None else None
    )
    taker = None if parameter is None else Taker.of(parameter, named.module)
    given = None if taker is None or named.call is None else taker.given_by(named.call)
    return selector if given is None else given


def _of_class(node: ast.Attribute, syntax: SyntaxTree) -> list[ast.expr]:
    """What a class assigns to an attribute: in its methods, or else in its body."""
    owner = enclosing_class(node, syntax)
    if owner is None:
        return []
    return attribute(node, owner, syntax) or [
        each.value
        for each in owner.body
        if isinstance(each, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == node.attr for one in each.targets)
    ]
