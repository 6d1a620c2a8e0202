"""Statements that may cast a module under another name: `outer.half()` casts what it was made of.

A cast of a module changes the object, wherever the call stands in a statement. Which names hold
modules is not known here. What is called like a function may be one: `layer(x)`.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from precision_lint.facts.dtypes.syntax.mentions import words_called
from precision_lint.facts.dtypes.syntax.mutations import CASTING, TAKING_IN, changed
from precision_lint.facts.dtypes.syntax.relevance import DefUse, roots
from precision_lint.facts.dtypes.syntax.sources import WEIGHTS
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    FunctionDefinition,
    blocks,
    bound_names,
    head,
    holds,
)
from precision_lint.source.python.syntax import callee_name

CALLS_DEEP = 3
"""Functions of one file that call each other, as far as they are looked at for casts."""

_CAST = regex(
    r"\.(?:(?:half|bfloat16|float|double)\(\)|to\([^()\n]*(?:dtype|torch\.\w+))",
)
_GIVEN = regex(r"(?<![\w.])(?:self\.)?[^\W\d]\w*(?![\w(])")
"""Names that are read without being called."""

_HOLDING = (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.Dict)
"""What may be an object that has another name already, or hold some."""


@frozen
class Casts:
    """Where a file casts something, in order, and calls its own functions that do."""

    casts: list[int]
    calls: list[int]


def casts_of(file: ParsedPython) -> Casts:
    """The places of a file that cast, those in comments and texts included."""
    text = file.text
    casts = [found.start() for found in _CAST.finditer(text.text)]
    calls: list[int] = []
    names: set[str] = set()
    for _ in range(CALLS_DEEP if casts else 0):
        rows = sorted(map(text.row, (*casts, *calls)))
        found = {*_holding(file.tree.body, rows)} - {"__init__"}
        if found == names:
            break
        names = found
        calls = [start for start, name in words_called(text.text) if name in names]
    return Casts(casts, calls)


def _holding(body: list[ast.stmt], rows: list[int]) -> Iterator[str]:
    """The functions that hold some rows, and the classes whose `__init__` does."""
    for node in body:
        if holds(node, rows):
            inner = [name for block in blocks(node) for name in _holding(block.body, rows)]
            if isinstance(node, ast.ClassDef) and "__init__" in inner:
                yield node.name
            if isinstance(node, FunctionDefinition):
                yield node.name
            yield from inner


def link_casts(
    effects: Sequence[DefUse], casts: Casts, called: Callable[[], frozenset[str]]
) -> None:
    """Record which modules a statement may cast: those it names, and what these were made of."""
    cast: dict[DefUse, Collection[str]] = {}
    for effect in effects:
        if casts.calls and _is_within(effect.span, casts.calls):
            cast[effect] = effect.reads
        elif casts.casts and _is_within(effect.span, casts.casts):
            cast[effect] = _cast_in(effect)
    if not cast:
        return
    parts: dict[str, set[str]] = {}
    for effect in effects:
        if effect.writes and _may_make(effect.node):
            given = _GIVEN.findall(effect.source.text, effect.span.start, effect.span.end)
            for name in effect.writes:
                parts.setdefault(name, set()).update(given)
    modules = called() - _functions(effects)
    for effect, names in cast.items():
        effect.casts = modules & _with_parts(names, parts)


def _functions(effects: Sequence[DefUse]) -> set[str]:
    """The names that a body gives to functions, and to nothing else: these are no modules."""
    defined: set[str] = set()
    others: set[str] = set()
    for effect in effects:
        is_definition = isinstance(effect.node, FunctionDefinition)
        (defined if is_definition else others).update(bound_names(effect.node))
    return defined - others


def _is_within(span: Span, places: list[int]) -> bool:
    first = bisect_left(places, span.start)
    return first < len(places) and places[first] < span.end


def _may_make(node: ast.stmt) -> bool:
    """True for a statement that may give a name to a module, or to what holds one."""
    match node:
        case ast.For() | ast.AsyncFor():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method))):
            return method in TAKING_IN
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            made, _ = changed(value)
            if not isinstance(made, ast.Call):
                return isinstance(made, _HOLDING)
            name = callee_name(made)
            return isinstance(made.func, ast.Name) or name[:1].isupper()
    return False


def _cast_in(effect: DefUse) -> set[str]:
    """What a statement casts; in a comprehension, all that it names."""
    found: set[str] = set()
    for expression in head(effect.node):
        for node in walk(expression):
            match node:
                case ast.Call(func=ast.Attribute(attr=method)) if method in CASTING:
                    module, _ = changed(node)
                    is_tensor = isinstance(module, ast.Attribute) and module.attr in WEIGHTS
                    found |= set() if is_tensor else roots(module) or _names_in(module)
                case ast.comprehension():
                    found |= effect.reads
    return found


def _names_in(node: ast.expr) -> set[str]:
    """The names in an expression that makes something: `Wrapper(model).half()`."""
    found = {name for each in walk(node) if isinstance(each, ast.expr) for name in roots(each)}
    return found | ({"self"} if isinstance(node, ast.Name) and node.id == "self" else set())


def _with_parts(names: Collection[str], parts: Mapping[str, set[str]]) -> set[str]:
    """Some names, and those that their values were made of."""
    found = new = set(names)
    while new:
        new = set().union(*[parts[name] for name in new if name in parts]) - found
        found = found | new
    return found


def casts_given(
    effects: Sequence[DefUse],
    parameters: frozenset[str],
    casts_too: Callable[[ast.Call], bool],
    called: Callable[[], frozenset[str]],
) -> frozenset[str]:
    """The parameters of a function whose objects it may cast in place; `self` among them.

    `casts_too` says that a function which is called does so. An attribute of `self` is a module if
    it is called, or if nobody takes what the cast gives.
    """
    loops = {
        name: effect.reads
        for effect in effects
        if isinstance(effect.node, ast.For | ast.AsyncFor)
        for name in effect.writes
    }
    cast: set[str] = set()
    for effect in effects:
        text, span = effect.source.text, effect.span
        if _CAST.search(text, span.start, span.end) is not None:
            found = _cast_in(effect)
            is_discarded = isinstance(effect.node, ast.Expr)
            of_self = {each for each in found if each.startswith("self.")}
            cast |= found if is_discarded else found - of_self | of_self & called()
        for expression in head(effect.node):
            for node in walk(expression):
                if isinstance(node, ast.Call) and casts_too(node):
                    cast |= _names_in(node)
    cast |= {name for each in cast & loops.keys() for name in loops[each]}
    return frozenset({name.partition(".")[0] for name in cast} & parameters)
