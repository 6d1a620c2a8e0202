"""What a module says before a kernel runs: imports, jit functions, constants."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Set

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.source.python.imports import Import, imported
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.scopes import scopes_of
from precision_lint.source.python.statements import own_statements, statements, targets
from precision_lint.source.python.syntax import named_parameters, span_of, with_defaults
from precision_lint.source.text.text import SourceText

_PREDICTABLE = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert, ast.Pass, ast.If,
    ast.For, ast.While, ast.Raise, ast.Break, ast.Continue,
)  # fmt: skip
"""The statements that leave local variables what assignments make them."""
_DECORATORS = frozenset({"triton.jit", "triton.runtime.jit.jit", "triton.runtime.jit"})
_HANDED_ON = {"triton": "triton", "tl": "triton.language"}
_LAUNCHERS = frozenset({"triton.autotune", "triton.heuristics"})


@frozen(slots=False)
class JitFunction:
    """A function under `@triton.jit`, with what its decorators say."""

    module: Module
    node: ast.FunctionDef
    is_launched: bool
    """Under `@triton.autotune` or `@triton.heuristics`: called from the host only."""

    @property
    def parameters(self) -> list[ast.arg]:
        return named_parameters(self.node.args)

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
    def configured(self) -> dict[str, object]:
        """What every configuration of `@triton.autotune` sets a parameter to, if it is the same."""
        for decorator in self.node.decorator_list:
            match decorator:
                case ast.Call(func=ast.Name(id="autotune") | ast.Attribute(attr="autotune")):
                    given = [*decorator.args[:1]]
                    given += [k.value for k in decorator.keywords if k.arg == "configs"]
                    return _configured(given[0], self.module) if given else {}
        return {}

    @cached_property
    def stored(self) -> frozenset[str]:
        """The names that anything in the function binds."""
        return frozenset(
            node.id
            for node in walk(self.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The local variables, without those whose assignment is no statement of Triton's."""
        names: set[str] = set()
        others: set[str] = set()
        for node in walk(self.node):
            match node:
                case ast.AnnAssign(value=None):
                    pass
                case ast.NamedExpr(target=target) | ast.comprehension(target=target):
                    others |= names_in(target)
                case ast.Starred(value=value):
                    others |= names_in(value)
                case ast.stmt() if isinstance(node, _PREDICTABLE):
                    names |= set[str]().union(*map(names_in, targets(node)))
                case ast.stmt() | ast.Lambda() if node is not self.node:
                    return frozenset()
        return frozenset(names - others)

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        given = with_defaults(self.node.args)
        return {each.arg: default for each, default in given if default is not None}


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
        return span_of(self.text, node)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement of the file. Expressions, most of the tree, are not walked for it."""
        return [*statements(self.tree.body)]

    @cached_property
    def imports(self) -> dict[str, str]:
        """Qualified names of what the file imports from Triton, wherever it does.

        Some projects hand `triton` and `tl` on from a module of their own.
        """
        found = {}
        for node in self.statements:
            if isinstance(node, Import):
                for each in imported(node):
                    is_member = isinstance(node, ast.ImportFrom)
                    path = _HANDED_ON.get(each.alias.name) if is_member else None
                    found[each.name] = path or each.qualified.lstrip(".")
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
        bound = self._bound
        return "*" not in bound and name not in bound and not hasattr(builtins, name)

    @cached_property
    def _bound(self) -> Set[str]:
        """The names of the top level; `*` after `import *`."""
        return scopes_of(self.tree).all[0].bindings.keys()

    @cached_property
    def assignments(self) -> dict[str, list[ast.expr]]:
        """What the names at the top level are assigned from, under `if` and `try` too."""
        found: dict[str, list[ast.expr]] = {}
        for statement in own_statements(self.tree.body):
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


def _configured(configs: ast.expr, module: Module) -> dict[str, object]:
    """The settings that all of some configurations agree on."""
    match configs:
        case ast.Name(id=name):
            assigned = module.assignments.get(name, [])
            if len(assigned) != 1 or isinstance(assigned[0], ast.Name):
                return {}
            return _configured(assigned[0], module)
        case ast.List(elts=configurations):
            pass
        case ast.ListComp(elt=configuration):
            configurations = [configuration]
        case _:
            return {}
    found: list[dict[str, object]] = []
    for configuration in configurations:
        match configuration:
            case ast.Call(args=[ast.Dict(keys=keys, values=values), *_]):
                found.append(
                    {
                        key.value: value.value
                        for key, value in zip(keys, values, strict=True)
                        if isinstance(key, ast.Constant)
                        and isinstance(key.value, str)
                        and isinstance(value, ast.Constant)
                    }
                )
            case _:
                return {}
    if not found:
        return {}
    first, *others = found
    missing = object()
    return {n: v for n, v in first.items() if all(o.get(n, missing) == v for o in others)}


def names_in(node: ast.expr) -> set[str]:
    """The names in an expression or a target."""
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}
