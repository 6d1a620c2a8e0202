"""The calls of a file, with the function and the statement that each is in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import (
    FUNCTIONS,
    FunctionDefinition,
    bound_names,
    head,
    own_statements,
    statements,
)

if TYPE_CHECKING:
    from precision_lint.facts.dtypes.syntax.definitions import Module

_WRAPPERS = frozenset({"wrap_triton", "capture_triton"})
"""`wrap_triton(kernel)[grid](x)` launches `kernel`."""


@frozen(slots=False, eq=False)
class Host:
    """A function, or the top level of a file, that runs on the host."""

    module: Module
    node: ast.Module | FunctionDefinition
    owner: ast.ClassDef | None = None
    enclosing: Host | None = None

    def __repr__(self) -> str:
        return self.key("")

    @property
    def name(self) -> str:
        return "" if isinstance(self.node, ast.Module) else self.node.name

    @property
    def parameters(self) -> list[str]:
        if isinstance(self.node, ast.Module):
            return []
        arguments = self.node.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return [argument.arg for argument in every]

    @property
    def positional(self) -> list[str]:
        """The parameters that can be given by position."""
        if isinstance(self.node, ast.Module):
            return []
        arguments = self.node.args
        return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]

    @property
    def is_bound(self) -> bool:
        """True if its first parameter is the object or class that it is called on."""
        if self.owner is None or isinstance(self.node, ast.Module):
            return False
        return not any(
            isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
            for decorator in self.node.decorator_list
        )

    @cached_property
    def stored(self) -> frozenset[str]:
        """Its parameters, and the names that its statements bind to other than functions."""
        others = (
            statement
            for statement in own_statements(self.node.body)
            if not isinstance(statement, (*FUNCTIONS, ast.Import, ast.ImportFrom))
        )
        bound = (name for statement in others for name in bound_names(statement))
        return frozenset((*self.parameters, *bound))

    @cached_property
    def read(self) -> frozenset[str]:
        """The names that it reads, and those that functions in it read."""
        return frozenset(
            node.id
            for node in walk(self.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )

    def key(self, name: str) -> str:
        """A name of the function, unique in the project."""
        line = getattr(self.node, "lineno", 0)
        return f"{self.module.file.text.path}:{line}:{name}"


@frozen(eq=False)
class Site:
    """A call, and where it is."""

    host: Host
    statement: ast.stmt
    call: ast.Call


class Scopes:
    """The host code of one file."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._hosts: dict[ast.AST, Host] = {}

    @cached_property
    def hosts(self) -> tuple[Host, ...]:
        """The top level, every function and every method."""
        top = Host(self.module, self.module.file.tree)
        return (top, *self._within(top, None, self.module.file.tree.body))

    def host(self, node: ast.AST) -> Host | None:
        """The one of a function."""
        if not self._hosts:
            self._hosts = {each.node: each for each in self.hosts}
        return self._hosts.get(node)

    def nested(self, host: Host) -> list[Host]:
        """The functions that are defined in a function."""
        return self._nested.get(host, [])

    @cached_property
    def _nested(self) -> dict[Host, list[Host]]:
        found: dict[Host, list[Host]] = {}
        for host in self.hosts:
            if host.owner is None and host.enclosing is not None:
                found.setdefault(host.enclosing, []).append(host)
        return found

    def _within(
        self, enclosing: Host, owner: ast.ClassDef | None, body: list[ast.stmt]
    ) -> Iterator[Host]:
        for statement in own_statements(body):
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    host = Host(self.module, statement, owner, enclosing)
                    yield host
                    yield from self._within(host, None, statement.body)
                case ast.ClassDef():
                    yield from self._within(enclosing, statement, statement.body)

    @cached_property
    def calls(self) -> dict[str, list[Site]]:
        """Every call by the name that is called: `f(x)`, `m.f(x)`, `F.apply(x)`."""
        return self._found[0]

    @cached_property
    def launches(self) -> dict[str, list[Site]]:
        """Every `f[grid](x)` by the name that is launched, through local variables, too."""
        return self._found[1]

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """The names that are read other than to be called, launched or decorated with."""
        return self._found[2]

    @cached_property
    def _found(self) -> tuple[dict[str, list[Site]], dict[str, list[Site]], frozenset[str]]:
        calls: dict[str, list[Site]] = {}
        launches: dict[str, list[Site]] = {}
        called: set[ast.AST] = set()
        read: list[ast.Name] = []
        for host in self.hosts:
            for statement in own_statements(host.node.body):
                is_alias = _is_alias(statement, host)
                for node in _expressions(statement):
                    match node:
                        case ast.Call(func=ast.Subscript(value=kernel)):
                            for name in self._launched(kernel, host):
                                launches.setdefault(name, []).append(Site(host, statement, node))
                        case ast.Call(func=func):
                            called.add(func)
                            for name in _called(func):
                                calls.setdefault(name, []).append(Site(host, statement, node))
                        case ast.Compare(left=ast.Name() as name, ops=[ast.Is() | ast.IsNot()]):
                            called.add(name)  # `if kernel is not None` hands nothing on
                        case ast.Name(ctx=ast.Load()) if not is_alias:
                            read.append(node)
        return calls, launches, frozenset(node.id for node in read if node not in called)

    def _launched(self, kernel: ast.expr, host: Host) -> Iterator[str]:
        match kernel:
            case ast.Name(id=name):
                yield name
                yield from _stands_for(name, host)
            case ast.Attribute(attr=name):
                yield name
            case ast.Call(func=ast.Name(id=wrapper) | ast.Attribute(attr=wrapper), args=[inner]):
                if wrapper in _WRAPPERS:
                    yield from self._launched(inner, host)
            case ast.IfExp(body=body, orelse=other):
                yield from self._launched(body, host)
                yield from self._launched(other, host)


def _is_alias(statement: ast.stmt, host: Host) -> bool:
    """True for `other = name` at the top level."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Name()):
            return isinstance(host.node, ast.Module)
    return False


def _stands_for(name: str, host: Host) -> Iterator[str]:
    """The kernels that a local variable is assigned: `kernel = a if wide else b`."""
    for statement in own_statements(host.node.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield from _choices(value)


def _choices(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.IfExp(body=body, orelse=other):
            yield from _choices(body)
            yield from _choices(other)
        case ast.Call(func=ast.Name(id=wrapper) | ast.Attribute(attr=wrapper), args=[inner]) if (
            wrapper in _WRAPPERS
        ):
            yield from _choices(inner)


def _called(func: ast.expr) -> Iterator[str]:
    match func:
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr="apply"):
            yield owner
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, but for what is in its blocks; lambdas are run here."""
    if isinstance(statement, FUNCTIONS):
        return
    for expression in head(statement):
        yield from walk(expression)


def classes(module: Module) -> Iterator[ast.ClassDef]:
    """The classes of a file."""
    for statement in statements(module.file.tree.body):
        if isinstance(statement, ast.ClassDef):
            yield statement
