"""What an expression can be, given what its variables can be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from precision_lint.dtypes import functions, sources
from precision_lint.dtypes.calls import Argument, Given, Guard, Region
from precision_lint.dtypes.environment import Environment, bind, callee_name, dotted
from precision_lint.dtypes.promotion import operator
from precision_lint.dtypes.values import (
    ALIASES,
    BOOL,
    FOREIGN,
    INT64,
    SOME_DTYPE,
    UNKNOWN,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    Foreign,
    Origin,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    chosen,
    item_of,
    join_all,
    tensor,
)
from precision_lint.finding import Span
from precision_lint.source.text import SourceText

_OF_THE_OUTPUT = "model outputs have the model's dtype"
_OF_THE_WEIGHTS = "the weights have the checkpoint's dtype"


class _Evaluate(Protocol):
    def __call__(self, node: ast.expr, env: Environment) -> Value: ...


class Evaluator:
    """Evaluates expressions of one file; `on_call` is told of every call and its facts."""

    def __init__(
        self,
        imports: Mapping[str, str],
        source: SourceText,
        span_of: Callable[[ast.expr], Span],
        on_call: Callable[[ast.Call, str | None, Value, Given, Environment], None],
        call_names: frozenset[str],
    ) -> None:
        self.imports = imports
        self.source = source
        self.span_of = span_of
        self.on_call = on_call
        self.call_names = call_names
        self.autocast: list[Region | None] = []
        """The autocast regions around the current statement, innermost last; None is off."""
        self.guards: list[Guard] = []
        """The conditions around the current expression, outermost first."""

    def __call__(self, node: ast.expr | None, env: Environment) -> Value:
        """The value of an expression; calls inside are reported on the way."""
        if node is None:
            return UNKNOWN
        evaluate: _Evaluate | None = getattr(self, f"_{type(node).__name__}", None)
        if evaluate is not None:
            return evaluate(node, env)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self(child, env)
        return UNKNOWN

    # Names, literals, containers

    def _Constant(self, node: ast.Constant, env: Environment) -> Value:
        return Constant(node.value)

    def _Name(self, node: ast.Name, env: Environment) -> Value:
        if node.id in env:
            return env[node.id]
        if node.id in self.imports:
            return self._symbol(self.imports[node.id], node)
        return UNKNOWN

    def _Attribute(self, node: ast.Attribute, env: Environment) -> Value:
        path = dotted(node)
        if path is not None and path in env:
            return env[path]
        owner = self(node.value, env)
        return self._attribute(owner, node)

    def _attribute(self, owner: Value, node: ast.Attribute) -> Value:
        name = node.attr
        match owner:
            case Symbol(name=symbol):
                return self._symbol(f"{symbol}.{name}", node)
            case Foreign():
                return FOREIGN
            case Tensor():
                if name == "dtype":
                    return Dtype(owner.dtypes, owner.chosen, owner.partial, owner.origin)
                if name in {"data", "T", "mT", "H", "mH", "real", "imag"}:
                    return owner
                if name == "grad":
                    return chosen(owner.origin) if owner.partial else owner
                if name in {"shape", "device", "ndim", "is_cuda", "requires_grad", "layout"}:
                    return FOREIGN
            case Unknown() | Dictionary() if name in sources.TOKENS:
                return tensor(INT64)
        if name == "dtype":
            return SOME_DTYPE
        if isinstance(owner, Dictionary):
            return owner.item
        if isinstance(owner, Constant | Sequence | Condition | Dtype):
            return UNKNOWN
        if name in sources.WEIGHTS:
            return chosen(Origin(self.source, self.span_of(node), _OF_THE_WEIGHTS))
        if name in sources.OUTPUTS:
            return chosen(Origin(self.source, self.span_of(node), _OF_THE_OUTPUT))
        if name in sources.OUTPUT_SEQUENCES:
            return Sequence(chosen(Origin(self.source, self.span_of(node), _OF_THE_OUTPUT)))
        return UNKNOWN

    def _symbol(self, name: str, node: ast.expr) -> Value:
        head, _, last = name.rpartition(".")
        if head == "torch" and last in ALIASES:
            origin = Origin(self.source, self.span_of(node), f"{ALIASES[last]} is chosen here")
            return Dtype(frozenset({ALIASES[last]}), origin=origin)
        return Symbol(name)

    def _Tuple(self, node: ast.Tuple | ast.List | ast.Set, env: Environment) -> Value:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return Sequence(join_all([self._spread(item, env) for item in node.elts]))
        items = tuple(self(item, env) for item in node.elts)
        return Sequence(join_all(items), items)

    _List = _Set = _Tuple

    def _spread(self, node: ast.expr, env: Environment) -> Value:
        if isinstance(node, ast.Starred):
            return item_of(self(node.value, env))
        return self(node, env)

    def _Dict(self, node: ast.Dict, env: Environment) -> Value:
        for key in node.keys:
            self(key, env)
        return Dictionary(join_all([self(value, env) for value in node.values]))

    def _comprehension(self, node: ast.ListComp, env: Environment) -> Value:
        return Sequence(self(node.elt, self._inner(node.generators, env)))

    _ListComp = _SetComp = _GeneratorExp = _comprehension

    def _DictComp(self, node: ast.DictComp, env: Environment) -> Value:
        inner = self._inner(node.generators, env)
        self(node.key, inner)
        return Dictionary(self(node.value, inner))

    def _inner(self, generators: list[ast.comprehension], env: Environment) -> Environment:
        inner = env.copy()
        for generator in generators:
            bind(generator.target, item_of(self(generator.iter, inner)), inner)
            for condition in generator.ifs:
                self(condition, inner)
        return inner

    def _Lambda(self, node: ast.Lambda, env: Environment) -> Value:
        inner = env.copy()
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            inner[argument.arg] = UNKNOWN
        self(node.body, inner)
        return UNKNOWN

    def _NamedExpr(self, node: ast.NamedExpr, env: Environment) -> Value:
        value = self(node.value, env)
        bind(node.target, value, env)
        return value

    def _IfExp(self, node: ast.IfExp, env: Environment) -> Value:
        from precision_lint.dtypes.narrowing import narrowed

        self(node.test, env)
        branches = []
        for branch, holds in ((node.body, True), (node.orelse, False)):
            with self.guarded(node.test, holds):
                branches.append(self(branch, narrowed(self, node.test, env, holds)))
        return join_all(branches)

    @contextmanager
    def guarded(self, test: ast.expr, holds: bool) -> Iterator[None]:
        """What is evaluated inside is evaluated only where `test` holds (or fails)."""
        self.guards.append(Guard(self.span_of(test), holds))
        yield
        self.guards.pop()

    def _Starred(self, node: ast.Starred, env: Environment) -> Value:
        return self(node.value, env)

    def _Await(self, node: ast.Await, env: Environment) -> Value:
        return self(node.value, env)

    # Operators

    def _BinOp(self, node: ast.BinOp, env: Environment) -> Value:
        left, right = self(node.left, env), self(node.right, env)
        if isinstance(node.op, ast.MatMult) and (region := self._region()) is not None:
            return region.dtype.of_tensor()
        return operator(left, right, type(node.op))

    def _UnaryOp(self, node: ast.UnaryOp, env: Environment) -> Value:
        operand = self(node.operand, env)
        if isinstance(node.op, ast.Not):
            return Condition(self.span_of(node))
        return operand if isinstance(operand, Tensor | Foreign | Constant) else UNKNOWN

    def _Compare(self, node: ast.Compare, env: Environment) -> Value:
        values = [self(operand, env) for operand in (node.left, *node.comparators)]
        is_elementwise = not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn)
        if is_elementwise and any(isinstance(value, Tensor) for value in values):
            return tensor(BOOL)
        if is_elementwise and any(isinstance(value, Foreign) for value in values):
            return FOREIGN
        return Condition(self.span_of(node))

    def _BoolOp(self, node: ast.BoolOp, env: Environment) -> Value:
        values = [self(value, env) for value in node.values]
        if any(isinstance(value, Condition) for value in values):
            return Condition(self.span_of(node))
        return join_all(values)

    def _Subscript(self, node: ast.Subscript, env: Environment) -> Value:
        path = dotted(node)
        if path is not None and path in env:
            return env[path]
        owner = self(node.value, env)
        index = self(node.slice, env)
        match owner, index:
            case Sequence(items=tuple(items)), Constant(value=int(position)):
                if -len(items) <= position < len(items):
                    return items[position]
                return owner.item
            case Sequence(), _ if isinstance(node.slice, ast.Slice):
                return Sequence(owner.item)
            case ((Sequence() | Dictionary()), _):
                return owner.item
            case ((Tensor() | Foreign()), _):
                return owner
            case Unknown(), Constant(value=str(key)) if key in sources.TOKENS:
                return tensor(INT64)
            case Unknown(), Constant(value=str(key)) if key in sources.OUTPUTS:
                return chosen(Origin(self.source, self.span_of(node), _OF_THE_OUTPUT))
        return UNKNOWN

    def _Slice(self, node: ast.Slice, env: Environment) -> Value:
        for part in (node.lower, node.upper, node.step):
            self(part, env)
        return UNKNOWN

    # Calls

    def _Call(self, node: ast.Call, env: Environment) -> Value:
        receiver: Value = UNKNOWN
        function: Value = UNKNOWN
        if isinstance(node.func, ast.Attribute):
            receiver = self(node.func.value, env)
            path = dotted(node.func)
            bound = env.get(path) if path else None
            if bound is not None:
                function = bound
            elif isinstance(receiver, Symbol):
                function = self._symbol(f"{receiver.name}.{node.func.attr}", node.func)
        else:
            function = self(node.func, env)
        arguments = tuple(
            Argument(
                self._spread(argument, env),
                self.span_of(argument),
                isinstance(argument, ast.Starred),
            )
            for argument in node.args
        )
        keywords = {
            keyword.arg or "**": Argument(
                self(keyword.value, env), self.span_of(keyword.value), keyword.arg is None
            )
            for keyword in node.keywords
        }
        name = function.name if isinstance(function, Symbol) else None
        given = Given(self.source, self.span_of(node.func), arguments, keywords, self._region())
        package = (name or "").partition(".")[0]
        if callee_name(node) in self.call_names or f"{package}.*" in self.call_names:
            self.on_call(node, name, receiver, given, env)
        if name is not None:
            return functions.function(name, given)
        match node.func, given.values:
            case ast.Attribute(attr=called), _:
                return functions.method(called, receiver, given)
            case ast.Name(id="getattr"), [Symbol(name="torch"), Constant(value=str(attr)), *_]:
                return self._symbol(f"torch.{attr}", node)
            case ast.Name(id=called), _:
                return functions.builtin(called, given)
        return UNKNOWN

    def _region(self) -> Region | None:
        return self.autocast[-1] if self.autocast else None
