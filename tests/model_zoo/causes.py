"""Why the flow loses a value: the expression at which it does, grouped by kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.syntax import dotted, resolved
from tests.model_zoo.flow import Comparison, FileComparison, Verdict, verdict

_VAGUE = {Verdict.UNKNOWN, Verdict.SOME_TENSOR}
_UNSEEN = (ast.Name, ast.Tuple, ast.List)
"""What the tracer does not see; it sees what they are made from."""

_CONTAINERS = {"ModuleList", "ModuleDict", "Sequential", "Buffer"}


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind of expression, and the expression."""

    kind: str
    node: ast.expr


@dataclass(eq=False)
class Scope:
    """A function or a module: its parameters, and what it assigns to each name."""

    node: ast.AST
    owner: ast.ClassDef | None
    outer: Scope | None
    assigned: dict[str, list[tuple[ast.expr, str]]] = field(default_factory=dict)
    """Values by name, with how the name gets them: whole, unpacked, as an item."""

    @cached_property
    def parameters(self) -> Mapping[str, ast.arg]:
        arguments = getattr(self.node, "args", None)
        if not isinstance(arguments, ast.arguments):
            return {}
        rest = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest)
        return {each.arg: each for each in every}


class Causes:
    """Finds the causes within one file."""

    def __init__(self, compared: FileComparison) -> None:
        self.tree = compared.file.tree
        self.imports = imported_names(compared.file)
        self.claims = compared.claims
        self.contradicted = {
            each.node for each in compared.expressions if each.verdict is Verdict.CONTRADICTED
        }
        self.scopes: dict[ast.AST, Scope] = {}
        self._enter(self.tree, Scope(self.tree, None, None))
        self.functions = {
            node.name for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)
        }
        self.classes = {
            node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)
        }

    def of(self, compared: Comparison) -> Cause:
        """Where the flow goes wrong, or loses the value: an operand of an operand."""
        is_lost, through_calls = self._is_vague, False
        if compared.verdict is Verdict.CONTRADICTED:
            is_lost, through_calls = self._is_wrong, True
        node = compared.node
        seen: set[ast.expr] = set()
        while node not in seen:
            seen.add(node)
            operands = [*self._operands(node)]
            if through_calls and isinstance(node, ast.Call):
                operands += [*node.args, *(keyword.value for keyword in node.keywords)]
            node = next((each for each in operands if each not in seen and is_lost(each)), node)
        return Cause(self._kind(node), node)

    def _is_vague(self, node: ast.expr) -> bool:
        claim = self.claims.get(node)
        return claim is not None and verdict(claim, frozenset()) in _VAGUE

    def _is_wrong(self, node: ast.expr) -> bool:
        if isinstance(node, _UNSEEN):
            return any(map(self.contradicted.__contains__, self._operands(node)))
        return node in self.contradicted

    # Syntax

    def _enter(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            inner = scope
            match child:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                    owner = node if isinstance(node, ast.ClassDef) else scope.owner
                    inner = Scope(child, owner, scope)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assign(scope, target, value, "whole")
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign(scope, target, value, "whole")
                case ast.AugAssign(target=target, value=value):
                    self._assign(scope, target, value, "whole")
                case ast.NamedExpr(target=target, value=value):
                    self._assign(scope, target, value, "whole")
                case (
                    ast.For(target=target, iter=value)
                    | ast.comprehension(target=target, iter=value)
                ):
                    self._assign(scope, target, value, "item")
                case ast.With(items=items):
                    for item in items:
                        if item.optional_vars is not None:
                            self._assign(scope, item.optional_vars, item.context_expr, "with")
            self.scopes[child] = inner
            self._enter(child, inner)

    def _assign(self, scope: Scope, target: ast.expr, value: ast.expr, how: str) -> None:
        match target:
            case ast.Name(id=name):
                scope.assigned.setdefault(name, []).append((value, how))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                is_display = isinstance(value, ast.Tuple) and len(value.elts) == len(targets)
                for position, each in enumerate(targets):
                    inner = value.elts[position] if is_display else value  # type: ignore[attr-defined]
                    self._assign(scope, each, inner, how if is_display else "unpacked")
            case ast.Starred(value=inner):
                self._assign(scope, inner, value, "unpacked")

    def _operands(self, node: ast.AST) -> Iterator[ast.expr]:
        """What the value of an expression is made from."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")))):
                pass
            case ast.Call(func=ast.Attribute(value=receiver)):
                if not self._package(receiver):
                    yield receiver
                elif isinstance(node, ast.Call):
                    yield from node.args
            case ast.Call():
                pass
            case ast.Attribute(value=ast.Name(id="self")):
                pass
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
                yield value
            case ast.BinOp(left=left, right=right):
                yield from (left, right)
            case ast.UnaryOp(operand=operand):
                yield operand
            case ast.Compare(left=left, comparators=others):
                yield from (left, *others)
            case ast.IfExp(body=body, orelse=other):
                yield from (body, other)
            case ast.BoolOp(values=values):
                yield from values
            case ast.Tuple(elts=items) | ast.List(elts=items):
                yield from items
            case ast.Name(id=name):
                start = node.lineno, node.col_offset
                before = [
                    value
                    for value, _ in self._assignments(node, name)
                    if (value.end_lineno or 0, value.end_col_offset or 0) < start
                ]
                yield from reversed(before)

    def _assignments(self, node: ast.AST, name: str) -> list[tuple[ast.expr, str]]:
        scope: Scope | None = self.scopes.get(node)
        while scope is not None:
            if name in scope.assigned:
                return scope.assigned[name]
            if name in scope.parameters:
                return []
            scope = scope.outer
        return []

    def _package(self, node: ast.expr) -> str:
        """The qualified name of what a dotted name means, if an import says it."""
        name = dotted(node)
        if name is None or name.partition(".")[0] not in self.imports:
            return ""
        return resolved(name, self.imports)

    # Kinds

    def _kind(self, node: ast.expr) -> str:
        match node:
            case ast.Call(func=func):
                return f"call of {self._callee(func)}"
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return f"self.x, {self._member(node, name)}"
            case ast.Attribute(value=value):
                return f"attribute of {self._claimed(value)}"
            case ast.Subscript(value=value):
                return f"item of {self._claimed(value)}"
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                return "operator"
            case ast.Name(id=name):
                return self._name(node, name)
        return type(node).__name__

    def _name(self, node: ast.Name, name: str) -> str:
        found = self._assignments(node, name)
        if found:
            value, how = found[0]
            through = {"item": "item of an iteration over", "unpacked": "unpacked from"}
            return f"variable, {through.get(how, how)} {self._claimed(value)}"
        scope: Scope | None = self.scopes.get(node)
        while scope is not None:
            if name in scope.parameters:
                annotation = scope.parameters[name].annotation
                said = (
                    "not annotated"
                    if annotation is None
                    else f"annotated {ast.unparse(annotation)}"
                )
                return f"parameter, {said}"
            scope = scope.outer
        return f"global {self.imports.get(name, 'of this file')}"

    def _callee(self, func: ast.expr) -> str:
        match func:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return f"self.x, {self._member(func, name)}"
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
                return "a method of super()"
            case ast.Name(id=name) if name in self.functions and name not in self.imports:
                return "a function of this file"
            case ast.Name(id=name) if self._assignments(func, name):
                value, how = self._assignments(func, name)[-1]
                return f"a variable, {how} {self._claimed(value)}"
            case ast.Name() | ast.Attribute() if qualified := self._package(func):
                return f"an import, {_shortened(qualified)}"
            case ast.Attribute(value=value, attr=name):
                return f"a method of {self._claimed(value)}: {name}"
            case ast.Name(id=name):
                return f"the name {name}"
        return type(func).__name__

    def _member(self, node: ast.AST, name: str) -> str:
        """What the class of a method says of an attribute of self."""
        scope = self.scopes.get(node)
        owner = None if scope is None else scope.owner
        if owner is None:
            return "outside of a class"
        if any(isinstance(each, ast.FunctionDef) and each.name == name for each in owner.body):
            return "a method of this class"
        for each in ast.walk(owner):
            match each:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)]) if (
                    attr == name
                ):
                    return f"assigned {self._made(each.value)}"
                case ast.Call(
                    func=ast.Attribute(attr=registering), args=[ast.Constant(value=attr), *_]
                ) if attr == name and registering.startswith("register"):
                    return "a registered buffer"
        bases = [ast.unparse(base) for base in owner.bases]
        return "of a base of this file" if set(bases) & self.classes.keys() else "of another base"

    def _made(self, value: ast.expr) -> str:
        match value:
            case ast.Call(func=ast.Name(id=name)) if name in self.classes:
                return "an instance of a class of this file"
            case ast.Call(func=func) if qualified := self._package(func):
                last = qualified.rpartition(".")[2]
                if qualified.startswith("torch.nn.") and last not in _CONTAINERS:
                    return "a torch.nn.Parameter" if last == "Parameter" else "a module of torch.nn"
                if qualified.startswith("torch."):
                    return qualified
                return f"the result of an import, {_shortened(qualified)}"
            case ast.Subscript(value=ast.Name(id=name)):
                return f"{name}[…]"
        return type(value).__name__

    def _claimed(self, node: ast.AST) -> str:
        claim = self.claims.get(node)  # type: ignore[call-overload]
        return "what is not evaluated" if claim is None else type(reading(claim)).__name__


def _shortened(qualified: str) -> str:
    """An import by what it is: those of torch by name, those of the project by kind."""
    if qualified.startswith(("torch", "math", "numpy")):
        return qualified
    return (
        f"a {'class' if qualified.rpartition('.')[2][:1].isupper() else 'function'} of another file"
    )
