"""The interpreter of statements: from a file to the calls that rules asked for, with their facts.

One function deep: parameters are what their annotations and defaults say, results of the project's
own functions are unknown. Module constants, class attributes and `self.x` assigned in `__init__`
are seen by every function.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Mapping

from precision_lint.dtypes.calls import Call, Calls, Given, Region
from precision_lint.dtypes.environment import Environment, bind, callee_name, dotted
from precision_lint.dtypes.expressions import Evaluator
from precision_lint.dtypes.functions import TENSOR_TYPES
from precision_lint.dtypes.imports import imported_names
from precision_lint.dtypes.narrowing import narrowed
from precision_lint.dtypes.promotion import operator
from precision_lint.dtypes.sources import FOREIGN_PACKAGES, INTEGRAL_NAME
from precision_lint.dtypes.values import (
    FOREIGN,
    SOME_DTYPE,
    SOME_TENSOR,
    UNKNOWN,
    Constant,
    Dtype,
    Origin,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    chosen,
    item_of,
    join,
    tensor,
)
from precision_lint.finding import Span
from precision_lint.source.errors import Unparsable
from precision_lint.source.python import PythonFile

_PASSES = 3
"""A loop body is interpreted until nothing changes; the lattice is low enough for three times."""

_NESTED_LOOPS = 3
"""Loops nested deeper than this are interpreted once per pass of the outer ones."""

_AUTOCAST = frozenset({"autocast"})


def calls_in(file: PythonFile, names: frozenset[str]) -> Calls:
    """The calls of `file` that `names` ask for (see `Rule.calls`), with the facts at each.

    Raises:
        Unparsable: expressions are nested too deeply to interpret.
    """
    try:
        return _Flow(file, names).run()
    except RecursionError:
        raise Unparsable("nested too deeply to analyse", 1, 1) from None


def _calls_of(names: frozenset[str], imports: Mapping[str, str]) -> re.Pattern[str]:
    """What the calls look like in the source, under the names that this file gives to packages."""
    packages = {name.removesuffix(".*") for name in names if name.endswith(".*")}
    local = sorted(alias for alias, name in imports.items() if name.partition(".")[0] in packages)
    functions = sorted(name for name in names if not name.endswith(".*"))
    patterns = [*map(re.escape, functions), *(rf"{re.escape(alias)}(?:\.\w+)*" for alias in local)]
    return re.compile(rf"\b(?:{'|'.join(patterns)})\s*\(")


class _Flow:
    def __init__(self, file: PythonFile, names: frozenset[str]) -> None:
        self.file = file
        self.imports = imported_names(file.tree)
        called = _calls_of(names, self.imports)
        self.rows = [
            file.text.position(match.start()).row for match in called.finditer(file.text.text)
        ]
        """The rows that look like calls that were asked for: what holds none is not interpreted."""
        self.evaluate = Evaluator(self.imports, file.text, file.span_of, self.on_call, names)
        self.module = Calls(self.imports)
        self.found: dict[ast.Call, Call] = {}
        self.scope = ""
        self.loops = 0

    def run(self) -> Calls:
        if self.rows:
            env = Environment()
            self.block(self.file.tree.body, env)
            for definition in self.file.tree.body:
                self.definition(definition, env)
        self.module.fill(list(self.found.values()))
        return self.module

    def on_call(
        self,
        node: ast.Call,
        function: str | None,
        receiver: Value,
        given: Given,
        env: Environment,
    ) -> None:
        is_method = isinstance(node.func, ast.Attribute)
        self.found[node] = Call(
            span=self.file.span_of(node),
            name=callee_name(node),
            function=function,
            receiver=receiver,
            receiver_span=self.file.span_of(node.func.value)
            if is_method and isinstance(node.func, ast.Attribute)
            else None,
            arguments=given.arguments,
            keywords=given.keywords,
            scope=self.scope,
            guards=tuple(self.evaluate.guards),
            dtypes={name: value for name, value in env.items() if isinstance(value, Dtype)},
            module=self.module,
        )

    # Definitions

    def definition(self, node: ast.stmt, env: Environment) -> None:
        """Interpret the functions and classes at or below a statement of an outer scope."""
        if not self.holds_call(node):
            return
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.function(node, env)
            case ast.ClassDef():
                self.class_body(node, env)
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.stmt):
                        self.definition(child, env)
                    elif isinstance(child, ast.ExceptHandler):
                        for statement in child.body:
                            self.definition(statement, env)

    def holds_call(self, node: ast.stmt) -> bool:
        """True if a call that was asked for stands in the statement."""
        first = bisect_left(self.rows, node.lineno)
        return first < len(self.rows) and self.rows[first] <= (node.end_lineno or node.lineno)

    def class_body(self, node: ast.ClassDef, env: Environment) -> None:
        with_attributes = env.copy()
        outer = self.scope
        self.scope = f"{outer}.{node.name}".lstrip(".")
        body = env.copy()
        self.block(node.body, body)
        for name, value in body.items():
            if name not in env or env[name] != value:
                bind(_attribute_of_self(name), value, with_attributes)
        # `__init__` first: what it assigns to `self` is there for the other methods.
        for method in sorted(node.body, key=_is_not_init):
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                after = self.function(method, with_attributes)
                for name, value in after.items():
                    if name.startswith("self."):
                        with_attributes[name] = value
                        with_attributes.paths.add(name)
            else:
                self.definition(method, with_attributes)
        self.scope = outer

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, env: Environment
    ) -> Environment:
        """Interpret a function body; the environment at its end."""
        outer_scope, outer_autocast = self.scope, self.evaluate.autocast
        outer_guards = self.evaluate.guards
        self.scope = f"{outer_scope}.{node.name}".lstrip(".")
        self.evaluate.autocast, self.evaluate.guards = [], []
        inner = env.copy()
        self.parameters(node.args, inner)
        for decorator in node.decorator_list:
            self.evaluate(decorator, env)
        self.block(node.body, inner)
        for statement in node.body:
            self.definition(statement, inner)
        self.scope, self.evaluate.autocast = outer_scope, outer_autocast
        self.evaluate.guards = outer_guards
        return inner

    def parameters(self, arguments: ast.arguments, env: Environment) -> None:
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += arguments.defaults
        for parameter, default in [
            *zip(positional, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]:
            value = self.annotated(parameter.annotation, self.file.span_of(parameter))
            if isinstance(value, Tensor) and INTEGRAL_NAME.search(parameter.arg):
                value = SOME_TENSOR  # the caller may choose, but not a floating dtype
            if isinstance(value, Unknown) and default is not None:
                value = self.evaluate(default, env)
                if isinstance(value, Dtype):
                    value = Dtype(value.dtypes, chosen=True, origin=value.origin)
                elif isinstance(value, Constant):
                    value = UNKNOWN  # a default is one of many values
            if parameter.arg != "self":  # what is known of `self` holds in every method
                bind(ast.Name(parameter.arg, ast.Store()), value, env)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                env[star.arg] = UNKNOWN

    def annotated(self, annotation: ast.expr | None, span: Span) -> Value:
        """What an annotation says: a tensor, whose dtype the caller chooses, or an array."""
        match annotation:
            case None:
                return UNKNOWN
            case ast.Constant(value=str(text)):
                try:
                    return self.annotated(ast.parse(text, mode="eval").body, span)
                except (SyntaxError, ValueError):
                    return UNKNOWN
            case ast.BinOp(op=ast.BitOr(), left=left, right=ast.Constant(value=None)):
                return self.annotated(left, span)
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=item):
                return self.generic(name, item, span)
            case ast.Name() | ast.Attribute():
                name = dotted(annotation) or ""
                head, _, rest = name.partition(".")
                qualified = ".".join(filter(None, (self.imports.get(head, head), rest)))
                return self.class_value(qualified, span)
        return UNKNOWN

    def class_value(self, qualified: str, span: Span) -> Value:
        package, _, name = qualified.partition(".")
        if package in FOREIGN_PACKAGES:
            return FOREIGN
        match package, name:
            case "torch", ("Tensor" | "nn.Parameter" | "FloatTensor"):
                return chosen(Origin(self.file.text, span, "the caller chooses its dtype"))
            case "torch", _ if name in TENSOR_TYPES:
                return tensor(TENSOR_TYPES[name])
        return UNKNOWN

    def generic(self, name: str, item: ast.expr, span: Span) -> Value:
        match name:
            case "Optional":
                return self.annotated(item, span)
            case "List" | "list" | "Sequence" | "Iterable":
                return Sequence(self.annotated(item, span))
        return UNKNOWN

    # Statements

    def block(self, statements: list[ast.stmt], env: Environment) -> bool:
        """Interpret statements in order; False if control never reaches the end."""
        return all(self.statement(statement, env) for statement in statements)

    def statement(self, node: ast.stmt, env: Environment) -> bool:
        match node:
            case ast.Assign(targets=targets, value=expression):
                value = self.evaluate(expression, env)
                for target in targets:
                    bind(target, value, env)
            case ast.AnnAssign(target=target, value=expression):
                value = self.evaluate(expression, env)
                if isinstance(value, Unknown):
                    value = self.annotated(node.annotation, self.file.span_of(target))
                if expression is not None or not isinstance(value, Unknown):
                    bind(target, value, env)
            case ast.AugAssign(target=target, op=op, value=expression):
                self.augmented(target, type(op), self.evaluate(expression, env), env)
            case ast.Expr(value=expression):
                self.expression(expression, env)
            case ast.Return(value=expression):
                self.evaluate(expression, env)
                return False
            case ast.Raise(exc=exception, cause=cause):
                self.evaluate(exception, env)
                self.evaluate(cause, env)
                return False
            case ast.Continue() | ast.Break():
                return False
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(test, body, orelse, env)
            case ast.For() | ast.AsyncFor() | ast.While():
                self.loop(node, env)
            case ast.With() | ast.AsyncWith():
                return self.context(node, env)
            case ast.Try():
                return self.attempt(node, env)
            case ast.Match(subject=subject, cases=cases):
                self.evaluate(subject, env)
                return self.alternatives([case.body for case in cases] + [[]], env)
            case ast.Assert(test=test):
                self.evaluate(test, env)
                env.become(narrowed(self.evaluate, test, env, True))
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        env.pop(target.id, None)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                env[node.name] = UNKNOWN
        return True

    def expression(self, node: ast.expr, env: Environment) -> None:
        """An expression statement; `xs.append(x)` and its like make the list hold the item."""
        self.evaluate(node, env)
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.expr() as owner, attr=method), args=[*_, argument]
            ) if method in {"append", "extend", "insert", "add"}:
                held = self.evaluate(owner, env)
                if not isinstance(held, Sequence):
                    return
                item = self.evaluate(argument, env)
                if method == "extend":
                    item = item_of(item)
                bind(owner, Sequence(join(held.item, item)), env)

    def augmented(
        self, target: ast.expr, op: type[ast.operator], value: Value, env: Environment
    ) -> None:
        current = self.evaluate(target, env)
        match current, value:
            case Sequence(), Sequence():
                result: Value = Sequence(join(current.item, value.item))
            case Constant(), _:
                result = value  # `total = 0; total += loss` takes the dtype of the loss
            case _:
                result = operator(current, value, op)
        bind(target, result, env)

    def branch(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], env: Environment
    ) -> bool:
        self.evaluate(test, env)
        reaches = []
        for statements, holds in ((body, True), (orelse, False)):
            branch = narrowed(self.evaluate, test, env, holds).copy()
            with self.evaluate.guarded(test, holds):
                if self.block(statements, branch):
                    reaches.append(branch)
        return _merge(reaches, env)

    def alternatives(self, bodies: list[list[ast.stmt]], env: Environment) -> bool:
        branches = [env.copy() for _ in bodies]
        reaches = [
            branch
            for branch, body in zip(branches, bodies, strict=True)
            if self.block(body, branch)
        ]
        return _merge(reaches, env)

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, env: Environment) -> None:
        self.loops += 1
        for _ in range(_PASSES if self.loops <= _NESTED_LOOPS else 1):
            before = env.copy()
            inner = env.copy()
            if isinstance(node, ast.While):
                self.evaluate(node.test, inner)
            else:
                items = item_of(self.evaluate(node.iter, inner))
                bind(node.target, items, inner)
            self.block(node.body, inner)
            _merge([before, inner], env)
            if env == before:
                break
        self.loops -= 1
        self.block(node.orelse, env)

    def context(self, node: ast.With | ast.AsyncWith, env: Environment) -> bool:
        regions = 0
        for item in node.items:
            value = self.evaluate(item.context_expr, env)
            if item.optional_vars is not None:
                bind(item.optional_vars, value, env)
            if (
                isinstance(item.context_expr, ast.Call)
                and callee_name(item.context_expr) in _AUTOCAST
            ):
                self.evaluate.autocast.append(self.region(item.context_expr, env))
                regions += 1
        reaches = self.block(node.body, env)
        for _ in range(regions):
            self.evaluate.autocast.pop()
        return reaches

    def region(self, node: ast.Call, env: Environment) -> Region | None:
        """The autocast region that a call opens; None if it turns autocast off."""
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        match keywords.get("enabled"):
            case ast.Constant(value=False):
                return None
            case None | ast.Constant(value=True):
                pass
            case _:
                return Region(None, SOME_DTYPE)
        dtype: Value = UNKNOWN
        if "dtype" in keywords:
            dtype = self.evaluate(keywords["dtype"], env)
        # torch.autocast(device, dtype, …); the deprecated torch.cuda.amp.autocast(enabled, dtype)
        elif isinstance(self.evaluate(node.func, env), Symbol) and len(node.args) > 1:
            dtype = self.evaluate(node.args[1], env)
        return Region(None, dtype if isinstance(dtype, Dtype) else SOME_DTYPE)

    def attempt(self, node: ast.Try, env: Environment) -> bool:
        start = env.copy()
        completes = self.block([*node.body, *node.orelse], env)
        reaches = [env.copy()] if completes else []
        for handler in node.handlers:
            # The body can fail anywhere: the handler sees what was before or after it.
            inner = start.copy()
            _merge([start, env], inner)
            if handler.name:
                inner[handler.name] = UNKNOWN
            if self.block(handler.body, inner):
                reaches.append(inner)
        through = _merge(reaches, env)
        return self.block(node.finalbody, env) and through


def _merge(branches: list[Environment], env: Environment) -> bool:
    """Join the branches that reach the end into `env`; False if none does."""
    if not branches:
        return False
    merged = Environment(branches[0])
    for branch in branches[1:]:
        for name, value in branch.items():
            held = merged.get(name, value)
            if held is not value or name not in merged:
                merged[name] = join(held, value)
        merged.paths |= branch.paths
    env.become(merged)
    return True


def _attribute_of_self(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("self", ast.Load()), name, ast.Store())


def _is_not_init(node: ast.stmt) -> bool:
    return not (isinstance(node, ast.FunctionDef) and node.name == "__init__")
