"""Constants that host code passes: written out, bound once, looked up, or what all callers give."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from precision_lint.facts.triton.hosts.calls import Calls
from precision_lint.facts.triton.hosts.scopes import Host, Site
from precision_lint.facts.triton.values import Constant, agreed
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import With, blocks, bound_names, head
from precision_lint.source.python.syntax import with_defaults

_DEEPEST = 6
"""Names, lookups and callers that lead from one to the next."""
_MOST_CALLERS = 12


def constant_of(node: ast.expr, at: Site, calls: Calls, depth: int = _DEEPEST) -> Constant | None:
    """The one constant that an argument of a call is in every run; None if it may be another."""
    return _constant(node, at.host, at.statement, calls, depth)


def _constant(
    node: ast.expr, host: Host, before: ast.stmt, calls: Calls, depth: int
) -> Constant | None:
    """What an expression is right before a statement."""
    if depth == 0:
        return None
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return Constant(value)
        case ast.Name(id=name):
            match _last_binding(name, host.node.body, before):
                case ast.Assign(targets=[ast.Name()], value=bound) as assign:
                    return _constant(bound, host, assign, calls, depth - 1)
                case None if name in host.parameters:
                    return _given(name, host, calls, depth - 1)
                case None:
                    return _at_top_level(name, host)
        case ast.Subscript(value=ast.Dict() | ast.Name() as table, slice=index):
            key = _constant(index, host, before, calls, depth - 1)
            entry = None if key is None else _entry(table, key, host, before)
            return None if entry is None else _constant(entry, host, before, calls, depth - 1)
    return None


def _given(name: str, host: Host, calls: Calls, depth: int) -> Constant | None:
    """What all callers of a function give for a parameter, by its default if need be."""
    assert not isinstance(host.node, ast.Module)
    default = next((each for one, each in with_defaults(host.node.args) if one.arg == name), None)
    return agreed(
        _given_by(site, name, default, host, calls, depth)
        for site in calls.reach.callers(host, _MOST_CALLERS)
    )


def _given_by(
    site: Site, name: str, default: ast.expr | None, host: Host, calls: Calls, depth: int
) -> Constant | None:
    bound = calls.bound(host, site.call, lambda node: node)
    if bound is None:
        return None
    if name in bound:
        return constant_of(bound[name], site, calls, depth)
    return Constant(default.value) if isinstance(default, ast.Constant) else None


def _at_top_level(name: str, host: Host) -> Constant | None:
    """The constant that a file binds a name to, where nothing changes it."""
    module, enclosing = host.module, host.enclosing
    while enclosing is not None and not isinstance(enclosing.node, ast.Module):
        if name in enclosing.parameters or _binds(enclosing.node, name):
            return None
        enclosing = enclosing.enclosing
    match module.assignments.get(name):
        case (ast.Constant(value=None | bool() | int() | float() | str() as value),):
            is_changed = any(
                isinstance(node, ast.Global) and name in node.names for node in module.file.nodes
            )
            return None if is_changed else Constant(value)
    return None


def _entry(
    table: ast.Dict | ast.Name, key: Constant, host: Host, before: ast.stmt
) -> ast.expr | None:
    """The entry of a dictionary that is written out, here or in the one binding of a name."""
    if isinstance(table, ast.Name):
        match _last_binding(table.id, host.node.body, before):
            case ast.Assign(targets=[ast.Name()], value=ast.Dict() as bound):
                table = bound
            case _:
                return None
    for name, value in zip(table.keys, table.values, strict=True):
        match name:
            case ast.Constant(value=other) if other == key.value:
                return value
    return None


def _last_binding(name: str, body: Sequence[ast.stmt], before: ast.stmt) -> ast.stmt | None:
    """The statement that binds a name last before another one; None if nothing in a body does.

    Of a compound statement, what binds it in one of its blocks may not have run: then that
    statement as a whole.
    """
    found: ast.stmt | None = None
    for statement in body:
        if statement is before:
            return found
        inside = next((each for each in blocks(statement) if _holds(each.body, before)), None)
        if inside is not None:
            if isinstance(statement, ast.If | With):
                in_head = any(_binds(each, name) for each in head(statement))
                in_block = _last_binding(name, inside.body, before)
                return in_block or (statement if in_head else found)
            return statement if _binds(statement, name) else found
        if _binds(statement, name):
            found = statement
    return found


def _holds(body: Sequence[ast.stmt], statement: ast.stmt) -> bool:
    return body[0].lineno <= statement.lineno <= (body[-1].end_lineno or 0)


def _binds(statement: ast.AST, name: str) -> bool:
    """True if a statement may bind a name, by whatever is below it."""
    for node in walk(statement):
        match node:
            case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) if bound == name:
                return True
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                return True
            case ast.stmt() if name in bound_names(node):
                return True
            case ast.alias(name=bound, asname=other) if name == (other or bound):
                return True
    return False
