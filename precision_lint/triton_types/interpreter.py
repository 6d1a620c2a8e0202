"""Runs a kernel over types: branches, loops, helpers, and where their types do not fit."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from precision_lint.finding import Span
from precision_lint.triton_types.expressions import Expressions, Frame, Variable
from precision_lint.triton_types.language import Version, as_tensor
from precision_lint.triton_types.module import JitFunction, Module
from precision_lint.triton_types.values import (
    NONE,
    UNKNOWN,
    Arguments,
    Constant,
    Items,
    Pointer,
    Tensor,
    Value,
    differ,
    join,
)

_MAX_DEPTH = 8
_MAX_ALTERNATIVES = 8
_MAX_STATEMENTS = 10_000
_STATIC_RANGE = frozenset({"triton.language.static_range", "triton.language.core.static_range"})

Block = Literal["then", "else"]
Variables = dict[str, Variable]


class TooLong(Exception):
    """The kernel takes too many steps to evaluate."""


@dataclass(frozen=True, slots=True)
class Redefinition:
    """A run-time `if` after which a variable would have two types.

    `before` is the type that `block` must keep: that of the variable before the `if` or, for a
    variable that is new in both blocks, the one of the other block.
    """

    variable: str
    assigned: Span
    branch: ast.If
    block: Block
    is_new: bool
    before: Value
    after: Value


class Interpreter(Expressions):
    """Evaluates one kernel for one choice of parameter types."""

    def __init__(
        self,
        module: Module,
        version: Version,
        widened_loads: frozenset[Span] = frozenset(),
    ) -> None:
        super().__init__(module, version, widened_loads)
        self.redefinitions: list[Redefinition] = []
        self.has_branches = False
        """True once an `if` was met that is not decided here: only then can types disagree."""
        self._statements = 0
        self._calling: list[str] = []

    def run(self, function: JitFunction, parameters: dict[str, Value]) -> Value:
        """Evaluate a function whose parameters are these; what it returns.

        Raises:
            TooLong: its helpers and unrolled loops take too many steps.
        """
        return self._enter(function, parameters, depth=0)

    def _enter(self, function: JitFunction, parameters: dict[str, Value], depth: int) -> Value:
        spans = {parameter.arg: self.module.span(parameter) for parameter in function.parameters}
        caller = self.frame
        self.frame = Frame(
            {name: Variable(value, spans[name]) for name, value in parameters.items()}, [], depth
        )
        self.execute(function.node.body)
        returned, self.frame = self.frame.returned, caller
        return self._common(returned, function)

    def _common(self, returned: list[Value], function: JitFunction) -> Value:
        if not returned:
            return NONE
        first, *others = returned
        for other in others:
            if isinstance(first, Constant) != isinstance(other, Constant):
                first, other = as_tensor(first), as_tensor(other)
            if differ(first, other):
                self.usage.rejected.add(("return", self.module.span(function.node)))
            first = join(first, other)
        return first

    def call_helper(self, name: str, arguments: Arguments, has_stars: bool) -> Value:
        function = self.module.functions[name]
        known = {parameter.arg for parameter in function.parameters}
        too_deep = self.frame.depth >= _MAX_DEPTH or name in self._calling
        if too_deep or has_stars or function.node.args.vararg or arguments.keywords.keys() - known:
            return self.unknown_result(arguments)
        parameters: dict[str, Value] = {}
        for position, parameter in enumerate(function.parameters):
            value = arguments.get(position, parameter.arg)
            if value is None and parameter.arg in function.defaults:
                value = self.evaluate_default(function.defaults[parameter.arg])
            parameters[parameter.arg] = UNKNOWN if value is None else value
        self._calling.append(name)
        try:
            return self._enter(function, parameters, self.frame.depth + 1)
        finally:
            self._calling.pop()

    def evaluate_default(self, node: ast.expr) -> Value:
        """The value of a parameter's default, which sees module names only."""
        frame, self.frame = self.frame, Frame({})
        try:
            return self.evaluate(node)
        finally:
            self.frame = frame

    def execute(self, body: Iterable[ast.stmt]) -> None:
        """Run statements up to the first `return`."""
        for statement in body:
            self._statements += 1
            if self._statements > _MAX_STATEMENTS:
                raise TooLong
            self._execute(statement)
            if isinstance(statement, ast.Return):
                return

    def _execute(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                found = self.evaluate(value)
                for target in targets:
                    self._assign(target, found, statement)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                variable = self.frame.variables.get(name)
                before = UNKNOWN if variable is None else variable.value
                self._assign(target, self.binary(op, before, self.evaluate(value)), statement)
            case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr() as value):
                found = self.evaluate(value)
                if "constexpr" in ast.unparse(annotation) and isinstance(target, ast.Name):
                    variable = Variable(found, self.module.span(statement))
                    self.frame.variables[target.id] = variable
                else:
                    self._assign(target, found, statement)
            case ast.Expr(value=value):
                self.evaluate(value)
            case ast.Return(value=value):
                self.frame.returned.append(NONE if value is None else self.evaluate(value))
            case ast.If():
                self._if(statement)
            case ast.For():
                self._for(statement)
            case ast.While(body=body):
                self._loop(body, statement)
                self.evaluate(statement.test)
            case ast.With(items=items, body=body):
                for item in items:
                    self.evaluate(item.context_expr)
                self.execute(body)
            case ast.Assert(test=test):
                self.evaluate(test)

    def _assign(self, target: ast.expr, value: Value, statement: ast.stmt) -> None:
        match target:
            case ast.Name(id=name):
                found = Variable(_stored(value), self.module.span(statement))
                self.frame.variables[name] = found
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                fits = isinstance(value, Items) and len(value.values) == len(targets)
                parts = value.values if fits and isinstance(value, Items) else None
                for position, part in enumerate(targets):
                    self._assign(part, parts[position] if parts else UNKNOWN, statement)

    def _if(self, node: ast.If) -> None:
        condition = self.evaluate(node.test)
        if isinstance(condition, Constant) and condition.is_known:
            self.execute(node.body if condition.value else node.orelse)
            return
        self.has_branches |= not isinstance(condition, Constant)
        before = self.frame.variables
        then, otherwise = self._branch(node.body, before), self._branch(node.orelse, before)
        # A pointer is asked at run time whether it is null; None is decided while compiling.
        if isinstance(condition, Tensor | Pointer):
            self.frame.variables = self._merge(node, before, then, otherwise)
        else:
            self.frame.variables = _choose(then, otherwise)

    def _branch(self, body: list[ast.stmt], before: Variables) -> Variables:
        self.frame.variables = dict(before)
        self.execute(body)
        return self.frame.variables

    def _merge(
        self, node: ast.If, before: Variables, then: Variables, otherwise: Variables
    ) -> Variables:
        """The variables after a run-time `if`: each must have one type."""
        after = dict(before)
        blocks: list[tuple[Block, Variables]] = [("then", then), ("else", otherwise)]
        # What was None before has no type to keep: it is as new as what was not there.
        kept = {name: variable for name, variable in before.items() if variable.value != NONE}
        for name, variable in kept.items():
            changed = [(block, v[name]) for block, v in blocks if v[name] is not variable]
            wrong = [
                Redefinition(name, new.assigned, node, block, False, variable.value, new.value)
                for block, merged in changed
                for new in merged.alternatives or (merged,)
                if variable.certain and differ(variable.value, new.value)
            ]
            self.redefinitions += wrong[:1]
            if changed and not wrong:
                value = join(then[name].value, otherwise[name].value)
                after[name] = Variable(value, changed[-1][1].assigned, variable.certain)
        for name in sorted((then.keys() & otherwise.keys()) - kept.keys()):
            left, right = then[name], otherwise[name]
            if left is right:
                continue
            if left.certain and right.certain and differ(left.value, right.value):
                self.redefinitions.append(
                    Redefinition(name, right.assigned, node, "else", True, left.value, right.value)
                )
                after[name] = Variable(UNKNOWN, right.assigned)
            else:
                certain = left.certain and right.certain
                after[name] = Variable(join(left.value, right.value), right.assigned, certain)
        return after

    def _for(self, node: ast.For) -> None:
        match node.iter:
            case ast.Call(func=func, args=arguments):
                for argument in arguments:
                    self.usage.index(self.evaluate(argument))
                path = self.module.qualified(func)
            case _:
                path = None
        if isinstance(node.target, ast.Name):
            is_static = path in _STATIC_RANGE
            index = (
                Constant(is_number=True) if is_static else Tensor(frozenset({"int32", "int64"}), 0)
            )
            variable = Variable(index, self.module.span(node.target))
            self.frame.variables[node.target.id] = variable
        if path in _STATIC_RANGE:
            self._unrolled(node.body)
        else:
            self._loop(node.body, node)

    def _unrolled(self, body: list[ast.stmt]) -> None:
        """A compile-time loop: the types of one iteration feed the next."""
        for _ in range(2):
            before = self.frame.variables
            after = self._branch(body, before)
            self.frame.variables = _choose(before, after)

    def _loop(self, body: list[ast.stmt], node: ast.For | ast.While) -> None:
        """A run-time loop: variables keep their types, and those of the body end with it."""
        before = self.frame.variables
        after = self._branch(body, before)
        self.frame.variables = dict(before)
        for name, variable in before.items():
            if (new := after[name]) is variable:
                continue
            if differ(variable.value, new.value):
                self.usage.rejected.add((f"loop: {name}", self.module.span(node)))
            else:
                value = join(variable.value, new.value)
                self.frame.variables[name] = replace(new, value=value, certain=variable.certain)


def _stored(value: Value) -> Value:
    """What a plain assignment makes of a value: compile-time numbers become tensors."""
    if isinstance(value, Items):
        return Items(tuple(map(_stored, value.values)))
    return as_tensor(value)


def _choose(left: Variables, right: Variables) -> Variables:
    """The variables after a compile-time choice that is not known here."""
    found: Variables = {}
    for name in [*left, *(name for name in right if name not in left)]:
        mine, other = left.get(name), right.get(name)
        if mine is None or other is None:
            only = mine or other
            assert only is not None
            found[name] = replace(only, certain=False)
        elif mine is other:
            found[name] = mine
        else:
            found[name] = Variable(
                join(mine.value, other.value),
                other.assigned,
                mine.certain and other.certain,
                _alternatives(mine, other) if differ(mine.value, other.value) else (),
            )
    return found


def _alternatives(*variables: Variable) -> tuple[Variable, ...]:
    found = [one for variable in variables for one in variable.alternatives or (variable,)]
    return tuple(found[:_MAX_ALTERNATIVES])
