"""What the names of a module mean at each place: lexical scopes and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.imports import Import, imported
from precision_lint.source.python.nodes import FIELDS
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import AnyFunction

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@frozen(eq=False)
class Step:
    """Where a node stands: the field of its parent that holds it, and where that one stands."""

    node: ast.AST
    field: str
    above: Step | None

    @property
    def upwards(self) -> Iterator[Step]:
        """This step and those above it, up to the module."""
        step: Step | None = self
        while step is not None:
            yield step
            step = step.above


@frozen(eq=False)
class Binding:
    """A name that is bound in a scope. `qualified` is what it names if an import binds it."""

    at: Step
    qualified: str | None = None
    statement: Import | None = None
    alias: ast.alias | None = None


@dataclass(eq=False, slots=True)
class Scope:
    """The body of a module, a function, a class or a comprehension."""

    parent: Scope | None = None
    is_class: bool = False
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, Scope] = field(default_factory=dict)
    """The names that `global` and `nonlocal` lead out of this scope."""

    def lookup(self, name: str) -> tuple[Scope | None, list[Binding]]:
        """The scope that `name` belongs to for code that stands in this one, and its bindings."""
        for scope in self.outwards:
            if name in scope.bindings and (scope is self or not scope.is_class):
                return scope, scope.bindings[name]
        return None, []

    def qualified(self, name: str) -> str | None:
        """What `name` means here, if imports alone bind it, and all of them to the same."""
        _, bindings = self.lookup(name)
        meaning = bindings[0].qualified if bindings else None
        if meaning is None or any(one.qualified != meaning for one in bindings):
            return None
        return meaning

    @property
    def outwards(self) -> Iterator[Scope]:
        """This scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@frozen(eq=False)
class Reference:
    """A name that is read, with the attributes after it: `torch.cuda.amp.autocast`."""

    node: ast.Name | ast.Attribute
    names: tuple[str, ...]
    scope: Scope
    at: Step

    @property
    def root(self) -> ast.Name:
        """The first of the names."""
        node: ast.expr = self.node
        while isinstance(node, ast.Attribute):
            node = node.value
        assert isinstance(node, ast.Name)
        return node

    @property
    def qualified(self) -> str | None:
        """The qualified name, if the first of the names was imported."""
        first = self.scope.qualified(self.names[0])
        return None if first is None else ".".join((first, *self.names[1:]))


@frozen(eq=False)
class Scopes:
    """Every scope of a module, its own first, and every name that is read, in source order."""

    all: tuple[Scope, ...]
    references: tuple[Reference, ...]


@fact
def scopes_in(file: ParsedPython) -> Scopes:
    """The scopes of a file."""
    return scopes_of(file.tree)


def scopes_of(tree: ast.Module) -> Scopes:
    """The scopes of a module. It takes no recursion: generated code nests thousands deep."""
    module = Scope()
    scopes, references = [module], []
    pending: list[tuple[ast.AST, Scope, Step]] = _below(tree, module, None, module)
    while pending:
        node, scope, at = pending.pop()
        inner = scope
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                references.append(Reference(node, (name,), scope, at))
                continue
            case ast.Attribute(ctx=ast.Load()) if (names := _names(node)) is not None:
                references.append(Reference(node, names, scope, at))
                continue
            case ast.Name(id=name):
                _bind(_around_comprehensions(scope, at), name, Binding(at))
            case ast.Import() | ast.ImportFrom():
                _import(node, scope, at)
            case ast.Global(names=declared):
                scope.elsewhere |= dict.fromkeys(declared, module)
            case ast.Nonlocal(names=declared):
                around = next((one for one in scope.outwards if one is not scope), module)
                scope.elsewhere |= dict.fromkeys(declared, around)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                _bind(scope, name, Binding(at))
                scopes.append(inner := Scope(scope))
            case ast.ClassDef(name=name):
                _bind(scope, name, Binding(at))
                scopes.append(inner := Scope(scope, is_class=True))
            case ast.Lambda():
                scopes.append(inner := Scope(scope))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                scopes.append(scope := Scope(scope))
                inner = scope
            case ast.comprehension() if _is_first(node, at):
                inner = scope.parent or module
            case (
                ast.ExceptHandler(name=str() as name)
                | ast.MatchAs(name=str() as name)
                | ast.MatchStar(name=str() as name)
                | ast.MatchMapping(rest=str() as name)
            ):
                _bind(scope, name, Binding(at))
        pending += _below(node, scope, at, inner)
    return Scopes(tuple(scopes), tuple(references))


def _below(
    node: ast.AST, scope: Scope, at: Step | None, inner: Scope
) -> list[tuple[ast.AST, Scope, Step]]:
    """The nodes below one, last first.

    What runs inside of a function or class is in `inner`, and so is what a comprehension repeats.
    """
    found: list[tuple[ast.AST, Scope, Step]] = []
    for name in FIELDS[type(node)]:
        value = getattr(node, name, None)
        if not value:
            continue
        step = Step(node, name, at)
        own = inner if name in {"body", "iter"} else scope
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.arguments):
                found += _parameters(child, scope, step, inner)
            elif isinstance(child, ast.AST) and not isinstance(child, ast.Constant):
                found.append((child, own, step))
    return found[::-1]


def _is_first(node: ast.comprehension, at: Step) -> bool:
    """True for the first `for` of a comprehension: what it repeats is read outside."""
    return isinstance(at.node, _Comprehension) and at.node.generators[0] is node


def _parameters(
    node: ast.arguments, scope: Scope, at: Step, inner: Scope
) -> list[tuple[ast.AST, Scope, Step]]:
    """Parameters are bound inside; their defaults and annotations are read outside."""
    found: list[tuple[ast.AST, Scope, Step]] = []
    for name in FIELDS[type(node)]:
        value = getattr(node, name, None)
        step = Step(node, name, at)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.arg):
                _bind(inner, child.arg, Binding(step))
                if child.annotation is not None:
                    found.append((child.annotation, scope, Step(child, "annotation", step)))
            elif isinstance(child, ast.AST):
                found.append((child, scope, step))
    return found


def _bind(scope: Scope, name: str, binding: Binding) -> None:
    scope.elsewhere.get(name, scope).bindings.setdefault(name, []).append(binding)


def _import(node: Import, scope: Scope, at: Step) -> None:
    for each in imported(node):
        _bind(scope, each.name, Binding(at, each.qualified, node, each.alias))


def _around_comprehensions(scope: Scope, at: Step) -> Scope:
    """Where a name is bound: `:=` in a comprehension binds it in the function around."""
    if not isinstance(at.node, ast.NamedExpr):
        return scope
    for step in at.upwards:
        if isinstance(step.node, AnyFunction):
            break
        if isinstance(step.node, _Comprehension) and scope.parent is not None:
            scope = scope.parent
    return scope


def _names(node: ast.Attribute) -> tuple[str, ...] | None:
    """The names of `a.b.c`; None if it starts with anything but a name."""
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    return (inner.id, *names[::-1]) if isinstance(inner, ast.Name) else None
