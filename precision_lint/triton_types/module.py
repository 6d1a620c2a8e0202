"""What a module says before a kernel runs: imports, jit functions, constants, launches."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from precision_lint.finding import Span
from precision_lint.source.text import SourceText

HostFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module

_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_DECORATORS = frozenset({"triton.jit", "triton.runtime.jit.jit", "triton.runtime.jit"})
_HANDED_ON = {"triton": "triton", "tl": "triton.language"}
_LAUNCHERS = frozenset({"triton.autotune", "triton.heuristics"})


@dataclass(frozen=True)
class JitFunction:
    """A function under `@triton.jit`, with what its decorators say."""

    module: Module
    node: ast.FunctionDef
    is_launched: bool
    """Under `@triton.autotune` or `@triton.heuristics`: called from the host only."""

    @property
    def parameters(self) -> list[ast.arg]:
        arguments = self.node.args
        return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

    @cached_property
    def heuristics(self) -> dict[str, ast.expr]:
        """What `@triton.heuristics` computes for parameters: the bodies of its lambdas."""
        found = {}
        for decorator in self.node.decorator_list:
            match decorator:
                case (
                    ast.Call(args=[ast.Dict() as values])
                    | ast.Call(keywords=[ast.keyword(arg="values", value=ast.Dict() as values)])
                ):
                    for key, value in zip(values.keys, values.values, strict=True):
                        match key, value:
                            case ast.Constant(value=str() as name), ast.Lambda(body=body):
                                found[name] = body
        return found

    @cached_property
    def stored(self) -> frozenset[str]:
        """The names that anything in the function binds."""
        return frozenset(
            node.id
            for node in ast.walk(self.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The local variables, without those whose assignment is no statement of Triton's."""
        names: set[str] = set()
        others: set[str] = set()
        for node in ast.walk(self.node):
            match node:
                case ast.Assign(targets=targets):
                    for target in targets:
                        names |= set(_names(target))
                case ast.AugAssign(target=target) | ast.For(target=target):
                    names |= set(_names(target))
                case ast.AnnAssign(target=target, value=ast.expr()):
                    names |= set(_names(target))
                case ast.NamedExpr(target=target) | ast.comprehension(target=target):
                    others |= set(_names(target))
                case ast.Starred(value=value):
                    others |= set(_names(value))
                case ast.With() | ast.Try() | ast.Match() | ast.Delete() | ast.Import():
                    return frozenset()
                case ast.ImportFrom() | ast.FunctionDef() | ast.Lambda() | ast.ClassDef():
                    if node is not self.node:
                        return frozenset()
        return frozenset(names - others)

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        arguments = self.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        found = {
            parameter.arg: default
            for parameter, default in zip(
                reversed(positional), reversed(arguments.defaults), strict=False
            )
        }
        for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                found[parameter.arg] = default
        return found


class Module:
    """The names of one file, as far as its kernels need them.

    `imported` finds the jit functions of other files of the project, by the name that this file has
    for them.
    """

    def __init__(
        self,
        tree: ast.Module,
        text: SourceText,
        imported: Callable[[Module, str], JitFunction | None] | None = None,
    ) -> None:
        self.tree = tree
        self.text = text
        self._imported = imported
        self._helpers: dict[str, JitFunction | None] = {}

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(
            self.text.offset_of_utf8(node.lineno, node.col_offset),
            self.text.offset_of_utf8(node.end_lineno, node.end_col_offset),
        )

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement of the file. Expressions, most of the tree, are not walked for it."""
        found: list[ast.stmt] = []
        pending: list[ast.AST] = [self.tree]
        while pending:
            for name, value in ast.iter_fields(pending.pop()):
                if name in _BODIES and isinstance(value, list):
                    pending += value
                    found += [node for node in value if isinstance(node, ast.stmt)]
        return found

    @cached_property
    def launches(self) -> dict[str, list[tuple[HostFunction, ast.Call]]]:
        """Every `name[...](...)` of the file by name, with the function that it is in."""
        found: dict[str, list[tuple[HostFunction, ast.Call]]] = {}
        for function in (self.tree, *self.statements):
            if isinstance(function, HostFunction):
                for node in own_nodes(function):
                    match node:
                        case ast.Call(func=ast.Subscript(value=ast.Name(id=name))):
                            found.setdefault(name, []).append((function, node))
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """Qualified names of what the file imports from Triton, wherever it does.

        Some projects hand `triton` and `tl` on from a module of their own.
        """
        found = {}
        for node in self.statements:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        root = alias.name if alias.asname else alias.name.partition(".")[0]
                        found[alias.asname or root] = root
                case ast.ImportFrom(module=source, names=names):
                    for alias in names:
                        path = _HANDED_ON.get(alias.name, f"{source}.{alias.name}")
                        found[alias.asname or alias.name] = path
        return {name: path for name, path in found.items() if path.partition(".")[0] == "triton"}

    @cached_property
    def functions(self) -> dict[str, JitFunction]:
        """The jit functions of the file; a name that is defined twice stands for neither."""
        found: dict[str, JitFunction | None] = {}
        for function in self.jit_functions:
            name = function.node.name
            found[name] = None if name in found else function
        return {name: function for name, function in found.items() if function is not None}

    @cached_property
    def jit_functions(self) -> list[JitFunction]:
        """Every function under `@triton.jit`, in source order."""
        found = []
        for node in self.statements:
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                names = {self._decorator(decorator) for decorator in node.decorator_list}
                if names & _DECORATORS:
                    found.append(JitFunction(self, node, bool(names & _LAUNCHERS)))
        return sorted(found, key=lambda function: function.node.lineno)

    def helper(self, name: str) -> JitFunction | None:
        """The jit function that a name, or `module.name`, of this file stands for."""
        if name in self.functions or self._imported is None:
            return self.functions.get(name)
        if name not in self._helpers:
            self._helpers[name] = self._imported(self, name)
        return self._helpers[name]

    def lacks(self, name: str) -> bool:
        """True if no statement outside of functions can have given a meaning to a name."""
        return self._bound is not None and name not in self._bound and not hasattr(builtins, name)

    @cached_property
    def _bound(self) -> set[str] | None:
        """The names that statements bind outside of functions; None after `import *`."""
        found: set[str] = set()
        pending: list[ast.AST] = [self.tree]
        while pending:
            match pending.pop():
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.add(name)
                case ast.ClassDef(name=name):
                    found.add(name)
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    found |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case ast.ExceptHandler() | ast.stmt() | ast.Module() | ast.expr() as node:
                    pending += ast.iter_child_nodes(node)
        return None if "*" in found else found

    @cached_property
    def assignments(self) -> dict[str, list[ast.expr]]:
        """What the names at the top level are assigned from, under `if` and `try` too."""
        found: dict[str, list[ast.expr]] = {}
        for statement in _top_level(self.tree.body):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    found.setdefault(name, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    found.setdefault(name, []).append(value)
        return found

    def qualified(self, node: ast.expr, within: frozenset[str] = frozenset()) -> str | None:
        """`tl.load` as `triton.language.load`, also through `load = tl.load` at the top level."""
        match node:
            case ast.Name(id=name) if name in self.imports:
                return self.imports[name]
            case ast.Name(id=name) if name not in within:
                paths = {
                    self.qualified(value, within | {name})
                    if isinstance(value, ast.Attribute)
                    else None
                    for value in self.assignments.get(name, ())
                }
                # Whichever branch ran: the same function, say of one libdevice or another.
                if None in paths or len({path.rpartition(".")[2] for path in paths if path}) != 1:
                    return None
                return min(path for path in paths if path)
            case ast.Attribute(value=value, attr=attribute):
                base = self.qualified(value, within)
                return None if base is None else f"{base}.{attribute}"
        return None

    def name_of(self, member: str) -> str | None:
        """How this file can spell a member of `triton.language`: `tl.float32`."""
        path = f"triton.language.{member}"
        reach = [
            (imported, name + path.removeprefix(imported))
            for name, imported in self.imports.items()
            if f"{path}.".startswith(f"{imported}.")
        ]
        return max(reach)[1] if reach else None

    def _decorator(self, node: ast.expr) -> str | None:
        return self.qualified(node.func if isinstance(node, ast.Call) else node)


def _names(target: ast.expr) -> Iterator[str]:
    """The names of an assignment's target."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id


def own_nodes(function: HostFunction) -> Iterator[ast.AST]:
    """The nodes of a function or module without those of functions in it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, HostFunction):
            pending.extend(ast.iter_child_nodes(node))


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        match statement:
            case ast.If():
                yield from _top_level([*statement.body, *statement.orelse])
            case ast.Try():
                handlers = [line for handler in statement.handlers for line in handler.body]
                rest = [*statement.orelse, *statement.finalbody]
                yield from _top_level([*statement.body, *handlers, *rest])
