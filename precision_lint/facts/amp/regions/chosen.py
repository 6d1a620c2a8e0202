"""The dtype of a region that a run of the project chooses, among those that code names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.regions.autocast import AutocastCall
from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.choosing import Search, options_choosing
from precision_lint.facts.settings.deciding import holds_with
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.finding import Related
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_HOPS = 6
"""Variables and tables between a region and the name of its dtype."""


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
    for named in _named(given, dtype, syntax_tree(file), _HOPS):
        if enabled is not None and _turns_off(named, enabled, file):
            continue
        origin = Origin(file.text, file.span_of(named), f"{dtype} is chosen here", "dtype")
        found |= dict.fromkeys(options_choosing(origin, file, file.span_of(call), file.project))
    return tuple(found)


def _named(node: ast.expr, dtype: str, syntax: SyntaxTree, hops: int) -> Iterator[ast.expr]:
    """Where the code that decides about an expression names a dtype."""
    if hops == 0:
        return
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.Dict():
            values = [*node.values]
        case ast.Subscript(value=table) | ast.Call(func=ast.Attribute(value=table, attr="get")):
            values = [table]
        case ast.Name():
            held = binding(node, syntax)
            values = held if isinstance(held, list) else []
        case ast.Attribute(value=ast.Name(id="self")):
            values = _of_class(node, syntax)
        case ast.Attribute():
            values = []
            head, _, name = qualified(node, syntax.names).rpartition(".")
            if head == "torch" and ALIASES.get(name) == dtype:
                yield node
        case _:
            values = []
    for value in values:
        yield from _named(value, dtype, syntax, hops - 1)


def _turns_off(named: ast.expr, enabled: ast.expr, file: PythonFile) -> bool:
    """True if all that leads to a name fails a condition: `enabled=precision == "bf16"`."""
    selectors = [*Search(file, file.project).selectors(named, file)]
    syntax = syntax_tree(file)
    return bool(selectors) and all(
        holds_with(selector, value, enabled, syntax, _HOPS) is False
        for selector, value, _ in selectors
    )


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
