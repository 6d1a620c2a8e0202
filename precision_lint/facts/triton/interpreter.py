"""Runs a kernel over types: branches, loops, helpers, and where their types do not fit."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.choices import Chosen
from precision_lint.facts.triton.expressions import Expressions, Patches
from precision_lint.facts.triton.frame import Frame, Returned, Variable
from precision_lint.facts.triton.language import Version, as_tensor
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.facts.triton.refusals import Block, Choice
from precision_lint.facts.triton.values import (
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
    redefined,
)

_MAX_DEPTH = 8
_MAX_ALTERNATIVES = 8
_MAX_STATEMENTS = 10_000
_VARIABLES_A_STEP = 16  # that a branch takes over, for thousands of both
_MAX_UNROLLED = 4
_FALLING_THROUGH: Version = (3, 2)
"""Since then a helper need not return a value in the end if it does before."""
_CONSTANT_RETURNS: Version = (3, 6)
"""Since then, helpers return compile-time values as such if all that they return are the same."""
_STATIC_RANGE = frozenset({"triton.language.static_range", "triton.language.core.static_range"})
_RANGE = frozenset({"triton.language.range", "triton.language.core.range"})

Variables = dict[str, Variable]


class TooLong(Exception):
    """The kernel takes too many steps to evaluate."""


class Interpreter(Expressions):
    """Evaluates one kernel for one choice of parameter types."""

    def __init__(self, module: Module, version: Version, patches: Patches | None = None) -> None:
        super().__init__(module, version, patches or {})
        self.steps = 0
        self._calling: list[JitFunction] = []

    def run(self, function: JitFunction, parameters: dict[str, Value]) -> Value:
        """Evaluate a function whose parameters are these; what it returns.

        Raises:
            TooLong: its helpers and unrolled loops take too many steps.
        """
        return self._enter(function, parameters, 0, {})

    def _enter(
        self, function: JitFunction, parameters: dict[str, Value], depth: int, chosen: Chosen
    ) -> Value:
        spans = {p.arg: function.module.span(p) for p in function.parameters}
        variables = {name: Variable(value, spans[name]) for name, value in parameters.items()}
        caller = self.frame
        self.frame = Frame(
            variables,
            depth=depth,
            chosen=chosen,
            local=function.assigned,
            stored=function.stored,
        )
        self.execute(function.node.body)
        returned, self.frame = self.frame.returned, caller
        if self.language.version < _FALLING_THROUGH and _may_fall_through(returned, function):
            place = function.module.span(function.node)
            self.refusals.add("return", function.node.name, returned[0].value, NONE, place=place)
        return self._common(returned, function)

    def _common(self, returned: list[Returned], function: JitFunction) -> Value:
        """The one type that everything that a helper returns must have."""
        found: Value | None = None
        for position, other in enumerate(returned):
            for one in returned[:position][:_MAX_ALTERNATIVES]:
                left, right = self._returned_types(one.value, other.value)
                if _are_both_taken(one, other) and _returns_differ(left, right):
                    self.refusals.add(
                        "return",
                        function.node.name,
                        left,
                        right,
                        place=function.module.span(function.node),
                        at=function.module.span(other.node),
                        start=one.node.value,
                        given=other.node.value,
                        choices=max(one.choices, other.choices, key=len),
                    )
                    break
            found = other.value if found is None else _either(found, other.value)
        return NONE if found is None else found

    def _returned_types(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Two returns as they are compared: a number beside a tensor is one, too."""
        are_alike = isinstance(left, Constant) == isinstance(right, Constant)
        if are_alike and self.language.version >= _CONSTANT_RETURNS:
            return left, right
        return as_tensor(left), as_tensor(right)

    def call_helper(
        self, helper: JitFunction, arguments: Arguments, has_stars: bool, chosen: Chosen
    ) -> Value:
        known = {parameter.arg for parameter in helper.parameters}
        too_deep = self.frame.depth >= _MAX_DEPTH or helper in self._calling
        if too_deep or has_stars or helper.node.args.vararg or arguments.keywords.keys() - known:
            return self.unknown_result(arguments)
        with self._inside(helper):
            parameters: dict[str, Value] = {}
            for position, parameter in enumerate(helper.parameters):
                value = arguments.get(position, parameter.arg)
                if value is None and parameter.arg in helper.defaults:
                    value = self.evaluate_default(helper.defaults[parameter.arg])
                parameters[parameter.arg] = UNKNOWN if value is None else value
            return self._enter(helper, parameters, self.frame.depth + 1, chosen)

    @contextmanager
    def _inside(self, helper: JitFunction) -> Iterator[None]:
        """Evaluate in the file of a helper; in another one, what is refused counts for the call."""
        caller, crossing = self.module, self.refusals.crossing
        if helper.module is not caller and crossing is None:
            self.refusals.crossing = self.refusals.call
        self.module = self.refusals.module = helper.module
        self._calling.append(helper)
        try:
            yield
        finally:
            self._calling.pop()
            self.module = self.refusals.module = caller
            self.refusals.crossing = crossing

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
            self.steps += 1
            if self.steps > _MAX_STATEMENTS:
                raise TooLong
            self._execute(statement)
            if isinstance(statement, ast.Return):
                return

    def _execute(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                found = self.evaluate(value)
                for target in targets:
                    self._assign(target, found, statement, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                before = self.evaluate(ast.copy_location(ast.Name(name, ast.Load()), target))
                found = self.operate(statement, op, before, self.evaluate(value))
                self._assign(target, found, statement)
            case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr() as value):
                found = self.evaluate(value)
                if "constexpr" in ast.unparse(annotation) and isinstance(target, ast.Name):
                    variable = Variable(found, self.module.span(statement))
                    self.frame.variables[target.id] = variable
                else:
                    self._assign(target, found, statement, value)
            case ast.Expr(value=value):
                self.evaluate(value)
            case ast.Return(value=value):
                returned = NONE if value is None else self.evaluate(value)
                self.frame.returned.append(Returned(returned, statement, self.refusals.choices))
                if self.frame.loops:
                    self.refusals.add("return in a loop", "", place=self.module.span(statement))
            case ast.If():
                self._if(statement)
            case ast.For():
                self._for(statement)
            case ast.While(test=test, body=body):
                self._loop(body, test)
                self.evaluate(test)
            case ast.With(items=items, body=body):
                for item in items:
                    self.evaluate(item.context_expr)
                self.execute(body)
            case ast.Assert(test=test):
                self.evaluate(test)
            case _:  # it does nothing, or Triton compiles no kernel that holds it
                pass

    def _assign(
        self, target: ast.expr, value: Value, statement: ast.stmt, given: ast.expr | None = None
    ) -> None:
        match target:
            case ast.Name(id=name):
                span = self.module.span(statement)
                self.frame.variables[name] = Variable(_stored(value), span, given=given)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                fits = isinstance(value, Items) and len(value.values) == len(targets)
                parts = value.values if fits and isinstance(value, Items) else None
                nodes = given.elts if isinstance(given, ast.Tuple | ast.List) else []
                for position, part in enumerate(targets):
                    node = nodes[position] if len(nodes) == len(targets) else None
                    self._assign(part, parts[position] if parts else UNKNOWN, statement, node)

    def _if(self, node: ast.If) -> None:
        condition = self.condition(node.test)
        if isinstance(condition, Tensor) and condition.has_many:
            self.refusals.add("condition", "", place=self.module.span(node.test))
        if isinstance(condition, Constant) and condition.is_known:
            self.execute(node.body if condition.value else node.orelse)
            return
        before = self.frame.variables
        # A pointer is asked at run time whether it is null; None is decided while compiling.
        if isinstance(condition, Tensor | Pointer):
            self.frame.variables = self._run_time_if(node, before)
            return
        with self.choosing(node, "then", node.test):
            then = self._branch(node.body, before)
        with self.choosing(node, "else", node.test):
            otherwise = self._branch(node.orelse, before)
        self.frame.variables = _choose(then, otherwise)

    def _run_time_if(self, node: ast.If, before: Variables) -> Variables:
        """The variables after it. `C and flag` is decided at run time where C is true alone."""
        static = self._static_operands(node.test)
        if static is None:
            then, otherwise = self._branch(node.body, before), self._branch(node.orelse, before)
            return self._merge(node, before, then, otherwise)
        is_and = isinstance(static.op, ast.And)
        with self.choosing(node, "then" if is_and else "else", static):
            then, otherwise = self._branch(node.body, before), self._branch(node.orelse, before)
            merged = self._merge(node, before, then, otherwise)
        with self.choosing(node, "else" if is_and else "then", static):
            decided = self._branch(node.orelse if is_and else node.body, before)
        return _choose(merged, decided)

    def _static_operands(self, test: ast.expr) -> ast.BoolOp | None:
        """Those operands of a condition that are fixed when it is compiled, but not here."""
        if not isinstance(test, ast.BoolOp):
            return None
        values = [(operand, self.condition(operand)) for operand in test.values]
        static = [o for o, v in values if isinstance(v, Constant) and not v.is_known]
        return ast.BoolOp(test.op, static) if static else None

    def _branch(self, body: list[ast.stmt], before: Variables) -> Variables:
        self.steps += len(before) // _VARIABLES_A_STEP
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
                (block, merged, new)
                for block, merged in changed
                for new in merged.alternatives or (merged,)
                if variable.certain and redefined(variable.value, new.value)
            ]
            for block, merged, new in wrong[:1]:
                self._redefined("branch", name, variable, new, merged, node.test, block)
            if changed and not wrong:
                value = join(then[name].value, otherwise[name].value)
                after[name] = Variable(value, changed[-1][1].assigned, variable.certain)
        for name in sorted((then.keys() & otherwise.keys()) - kept.keys()):
            left, right = then[name], otherwise[name]
            if before.get(name) in (left, right):
                continue
            certain = left.certain and right.certain
            after[name] = Variable(join(left.value, right.value), right.assigned, certain)
            if certain and NONE in (left.value, right.value):
                self._redefined("none", name, left, right, right, node.test, "else")
            elif certain and differ(left.value, right.value):
                self._redefined("mismatch", name, left, right, right, node.test, "else")
                after[name] = Variable(UNKNOWN, right.assigned)
        return after

    def _redefined(
        self,
        kind: Literal["branch", "mismatch", "none", "loop"],
        name: str,
        variable: Variable,
        new: Variable,
        merged: Variable,
        test: ast.expr,
        block: Block | None = None,
    ) -> None:
        """A variable would have two types; `new` is one of those that `merged` stands for."""
        is_choice = new is not merged or bool(variable.alternatives)
        choices: tuple[Choice, ...] = ((new.assigned.start, "then"),) if is_choice else ()
        self.refusals.add(
            kind,
            name,
            variable.value,
            new.value,
            place=self.module.span(test),
            at=new.assigned,
            start=variable.given,
            given=new.given,
            block=block,
            test=test,
            choices=(*self.refusals.choices, *choices),
        )

    def _for(self, node: ast.For) -> None:
        bounds: list[Value] = []
        path = None
        if isinstance(node.iter, ast.Call):
            bounds = [self.evaluate(argument) for argument in node.iter.args]
            for keyword in node.iter.keywords:
                self.evaluate(keyword.value)
            for bound in bounds:
                self.usage.index(bound)
            path = self.module.qualified(node.iter.func)
        is_static = path in _STATIC_RANGE
        is_range = path in _RANGE or (path is None and _is_builtin_range(node.iter))
        if is_static:
            self._unrolled(node, bounds)
            return
        self._count(node.target, _counter(bounds))
        if not is_range:
            self._chosen(node)
            return
        if any(map(_is_no_integer, bounds)):
            self.refusals.add("argument", "range", place=self.module.span(node.iter))
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        self._loop(node.body, node.iter, name)

    def _chosen(self, node: ast.For) -> None:
        """A loop over what a compile-time choice makes of it: unrolled, or at run time."""
        before = self.frame.variables
        with self.choosing(node, "then"):
            after = self._branch(node.body, before)
        self.frame.variables = _choose(before, after)

    def _count(self, target: ast.expr, index: Value) -> None:
        if isinstance(target, ast.Name):
            self.frame.variables[target.id] = Variable(index, self.module.span(target))

    def _unrolled(self, node: ast.For, bounds: list[Value]) -> None:
        """A compile-time loop: the types of one iteration feed the next."""
        if (indices := _indices(node, bounds)) is not None:
            for index in indices:
                self._count(node.target, Constant(index))
                self.frame.variables = self._branch(node.body, self.frame.variables)
            return
        self._count(node.target, Constant(is_number=True, dtypes=types.INT32))
        for _ in range(2):
            before = self.frame.variables
            after = self._branch(node.body, before)
            self.frame.variables = _choose(before, after)

    def _loop(self, body: list[ast.stmt], head: ast.expr, index: str = "") -> None:
        """A run-time loop: variables keep their types, and those of the body end with it."""
        before = self.frame.variables
        self.frame.loops += 1
        after = self._branch(body, before)
        self.frame.loops -= 1
        self.frame.variables = dict(before)
        for name, variable in before.items():
            if (merged := after[name]) is variable or name == index:
                continue
            wrong = [
                new
                for new in merged.alternatives or (merged,)
                if new is not variable
                and variable.certain
                and _is_not_carried(variable.value, new.value)
            ]
            for new in wrong[:1]:
                self._redefined("loop", name, variable, new, merged, head)
            if not wrong:
                value = join(variable.value, merged.value)
                self.frame.variables[name] = replace(merged, value=value, certain=variable.certain)


def _is_not_carried(before: Value, after: Value) -> bool:
    """True if a loop cannot carry a variable from one type to the other; None it never carries."""
    return before == NONE or redefined(before, after)


def _counter(bounds: list[Value]) -> Value:
    """The index of a loop: as wide as its bounds."""
    found = types.INT32
    for bound in map(as_tensor, bounds):
        dtypes = bound.dtypes if isinstance(bound, Tensor) else types.INDEX
        found = types.combine(found, dtypes & types.INTEGERS or types.INDEX)
    return Tensor(found, 0)


def _indices(node: ast.For, bounds: list[Value]) -> range | None:
    """The indices of an unrolled loop, if they are known and few."""
    numbers = [b.value for b in bounds if isinstance(b, Constant) and isinstance(b.value, int)]
    has_keywords = isinstance(node.iter, ast.Call) and node.iter.keywords
    if has_keywords or len(numbers) != len(bounds) or not 1 <= len(numbers) <= 3:
        return None
    if 0 in numbers[2:]:
        return None
    indices = range(*numbers)
    return indices if len(indices[: _MAX_UNROLLED + 1]) <= _MAX_UNROLLED else None


def _is_builtin_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def _is_no_integer(bound: Value) -> bool:
    bound = as_tensor(bound)
    return isinstance(bound, Tensor) and bound.dtypes.isdisjoint(types.INTEGERS)


def _are_both_taken(one: Returned, other: Returned) -> bool:
    """True if there are compile-time choices for which both are returned."""
    left, right = set(one.choices), set(other.choices)
    return left <= right or right <= left


def _may_fall_through(returned: list[Returned], function: JitFunction) -> bool:
    """True if a helper returns a value under a run-time `if`, and nothing in the end."""
    return (
        bool(returned)
        and all(one.value != NONE and not one.choices for one in returned)
        and not _ends(function.node.body)
    )


def _ends(body: list[ast.stmt]) -> bool:
    match body:
        case [*_, ast.Return()]:
            return True
        case [*_, ast.If(body=then, orelse=otherwise)]:
            return _ends(then) and _ends(otherwise)
    return False


def _returns_differ(left: Value, right: Value) -> bool:
    if UNKNOWN in (left, right):
        return False
    return (left == NONE) != (right == NONE) or differ(left, right)


def _either(left: Value, right: Value) -> Value:
    if isinstance(left, Constant) != isinstance(right, Constant):
        left, right = as_tensor(left), as_tensor(right)
    return join(left, right)


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
                _alternatives(mine, other) if _are_apart(mine.value, other.value) else (),
            )
    return found


def _are_apart(left: Value, right: Value) -> bool:
    return differ(left, right) or (left == NONE) != (right == NONE)


def _alternatives(*variables: Variable) -> tuple[Variable, ...]:
    found = [one for variable in variables for one in variable.alternatives or (variable,)]
    return tuple(found[:_MAX_ALTERNATIVES])
