"""Host code that torch.compile traces."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.triton.hosts.reach import Reach
from precision_lint.facts.triton.hosts.scopes import Host
from precision_lint.model.finding import Related
from precision_lint.source.python.syntax import innermost_name, span_of

_DEEPEST = 4
_MOST_CALLERS = 12
_OPAQUE = frozenset({"disable", "custom_op", "allow_in_graph", "register_kernel", "impl"})
"""Decorators of functions that the compiler does not look into."""


def where_compiled(reach: Reach, host: Host) -> Related | None:
    """Where the project has a function compiled, or one that calls it; None if it does not."""
    return _where(reach, host, _DEEPEST, {host})


def _where(reach: Reach, host: Host, depth: int, seen: set[Host]) -> Related | None:
    if isinstance(host.node, ast.Module):
        return None
    decorators = [*host.node.decorator_list]
    if any(innermost_name(decorator) in _OPAQUE for decorator in decorators):
        return None
    if host.owner is not None:
        decorators += host.owner.decorator_list
    for node in (*decorators, *_compilations(reach, host)):
        if _compiles(node):
            text = host.module.file.text
            return Related(text.place(span_of(text, node)), "torch.compile traces the launch here")
    if depth == 0:
        return None
    callers = [site.host for site in reach.callers(host, _MOST_CALLERS)]
    if host.name == "backward" and (forward := reach.method(host, "forward")) is not None:
        callers.append(forward)  # it is traced with the forward pass
    for caller in callers:
        if caller not in seen:
            seen.add(caller)
            if (found := _where(reach, caller, depth - 1, seen)) is not None:
                return found
    return None


def _compiles(node: ast.expr) -> bool:
    """True for `torch.compile`, `torch.compile(...)` and `partial(torch.compile, ...)`."""
    match node:
        case ast.Attribute(value=ast.Name(id="torch"), attr="compile"):
            return True
        case ast.Call(func=func, args=args):
            return _compiles(func) or (innermost_name(func) == "partial" and _compiles_first(args))
    return False


def _compiles_first(args: list[ast.expr]) -> bool:
    return bool(args) and _compiles(args[0])


def _compilations(reach: Reach, host: Host) -> Iterator[ast.expr]:
    """`torch.compile(f)` in the file of a function `f`."""
    for site in reach.scopes(host.module).calls.get("compile", ()):
        match site.call.args:
            case [ast.Name(id=name), *_] if name == host.name:
                yield site.call
