"""What an expression can be, given what its variables can be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from precision_lint.facts.dtypes.domain.containers import MOST_ENTRIES, item_of, updated
from precision_lint.facts.dtypes.domain.environment import Environment, bind, path_of
from precision_lint.facts.dtypes.domain.lattice import join_all, reading
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    UNKNOWN,
    Bottom,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    FunctionValue,
    Instance,
    Model,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    clauses_of,
)
from precision_lint.facts.dtypes.interpreter import (
    attributes,
    casts,
    defaults,
    invocation,
    iterating,
    loaded_in_half,
)
from precision_lint.facts.dtypes.interpreter.decisions import decided, surely_given
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.narrowing import refine, without_bfloat16
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.interpreter.test_runs import decided_by_run
from precision_lint.facts.dtypes.operators import numbers
from precision_lint.facts.dtypes.operators.promotion import compare, operator, unary
from precision_lint.facts.dtypes.syntax.conditions import guard_excludes_bfloat16
from precision_lint.facts.origin import PathCondition
from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import children
from precision_lint.source.python.syntax import dotted, named_parameters

_HALF = regex(r"float16|half|[bf]p?16")


class Evaluator:
    """Evaluates the expressions of one frame."""

    def __init__(self, analysis: Interprocedural, frame: Frame) -> None:
        self.analysis = analysis
        self.frame = frame
        self.source = frame.module.file.text
        self._count = analysis.budget.count
        self.span_of: Callable[[ast.expr], Span] = frame.module.file.span_of

    def __call__(self, node: ast.expr | None, env: Environment) -> Value:
        """The value of an expression; calls inside are reported on the way."""
        if node is None:
            return UNKNOWN
        evaluate = _EVALUATE.get(type(node))
        if evaluate is not None:
            self._count()
            return evaluate(self, node, env)
        for child in children(node):
            if isinstance(child, ast.expr):
                self(child, env)
        return UNKNOWN

    def read(self, node: ast.expr | None, env: Environment) -> Value:
        """The value of an expression as whoever uses it takes it: of one kind."""
        return reading(self(node, env))

    # Names, literals, containers

    def constant(self, node: ast.Constant, env: Environment) -> Value:
        return Constant(node.value)

    def name(self, node: ast.Name, env: Environment) -> Value:
        found = env.get(node.id)
        frame = self.frame
        if found is not None:
            if isinstance(found, Dictionary) and frame.function is None:
                return self.analysis.names.registered(frame.module, node.id, found)
            return found
        if frame.closure is not None and node.id in frame.closure:
            return frame.closure[node.id]
        return self.analysis.names.in_module(frame.module, node.id)

    def attribute(self, node: ast.Attribute, env: Environment) -> Value:
        path = dotted(node)
        if path is not None and path in env:
            return env[path]
        return attributes.attribute(self, self.read(node.value, env), node)

    def display(self, node: ast.Tuple | ast.List | ast.Set, env: Environment) -> Value:
        if self._passes_over(node):
            return Sequence(UNKNOWN)
        items = tuple(self.spread(item, env) for item in node.elts)
        if _is_long(node) or isinstance(node, ast.Set):  # a set has no order
            return Sequence(join_all(items))
        starred = (at for at, item in enumerate(node.elts) if isinstance(item, ast.Starred))
        first = next(starred, None)
        if first is None:
            return Sequence(join_all(items), items)
        return Sequence(join_all(items), head=items[:first])

    def spread(self, node: ast.expr, env: Environment) -> Value:
        """An element of a display or an argument; of a starred one, what it yields."""
        if isinstance(node, ast.Starred):
            return item_of(self(node.value, env))
        return self(node, env)

    def dictionary(self, node: ast.Dict, env: Environment) -> Value:
        if self._passes_over(node):
            return Dictionary(UNKNOWN)
        items: dict[object, Value] | None = {}
        values: list[Value] = []
        for key, expression in zip(node.keys, node.values, strict=True):
            value = self(expression, env)
            if key is None:  # `**other`
                other = reading(value)
                values.append(other.item if isinstance(other, Dictionary) else UNKNOWN)
                items = None
                continue
            match self.read(key, env):
                case Constant(value=constant) if items is not None:
                    items[constant] = value
                case _:
                    items = None
            values.append(value)
        if items is None or _is_long(node):
            return Dictionary(join_all(values))
        return Dictionary(join_all(values), tuple(items.items()))

    def _passes_over(self, node: ast.expr) -> bool:
        """True for a table of a function that counts for its result alone: see `names`.

        Of the top level, shorter ones are passed over.
        """
        is_seen = self.frame.records or self.analysis.records.takes_every
        return not is_seen and _rows(node) >= _TABLE

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, env: Environment
    ) -> Value:
        inner, tests = self._inner(node.generators, env)
        for test in tests:
            self.frame.guards.append(test)
        item = self(node.elt, inner)
        casts.take(inner, env)
        del self.frame.guards[len(self.frame.guards) - len(tests) :]
        return Sequence(item)

    def dict_comprehension(self, node: ast.DictComp, env: Environment) -> Value:
        match node.generators:
            case [ast.comprehension(ifs=[]) as only]:
                iterated = iterating.iterated(self.analysis, self(only.iter, env))
                entries = self._entries(node, only.target, iterated, env)
                if entries is not None:
                    return Dictionary(join_all(entries.values()), tuple(entries.items()))
                inner = env.copy()
                bind(only.target, item_of(iterated), inner)
            case generators:
                inner, _ = self._inner(generators, env)
        self(node.key, inner)
        return Dictionary(self(node.value, inner))

    def _entries(
        self, node: ast.DictComp, target: ast.expr, iterated: Value, env: Environment
    ) -> dict[object, Value] | None:
        """`{key: f(value) for key, value in mapping.items()}`, if the entries are known."""
        match iterated:
            case Sequence(items=tuple(each)) if each:
                pass
            case Dictionary(items=tuple(pairs)) if 0 < len(pairs) <= MOST_ENTRIES:
                each = tuple(Constant(key) for key, _ in pairs)
            case _:
                return None
        found: dict[object, Value] = {}
        for one in each:
            inner = env.copy()
            bind(target, one, inner)
            match self.read(node.key, inner):
                case Constant(value=key):
                    found[key] = self(node.value, inner)
                case _:
                    return None
        return found

    def _inner(
        self, generators: list[ast.comprehension], env: Environment
    ) -> tuple[Environment, list[PathCondition]]:
        inner = env.copy()
        guards = []
        for generator in generators:
            bind(
                generator.target, iterating.item(self.analysis, self(generator.iter, inner)), inner
            )
            for condition in generator.ifs:
                self(condition, inner)
                inner = refine(self, condition, inner, True).copy()
                guards.append(PathCondition(self.span_of(condition), True))
        return inner, guards

    def function(self, node: ast.Lambda, env: Environment) -> Value:
        frame = self.frame
        definition = frame.module.function(node, f"{frame.scope}.<lambda>", None, frame.function)
        closure = self.analysis.closures.over(frame, env)
        self.analysis.closures[definition] = closure
        if self.frame.records:
            inner = env.copy()
            for argument in named_parameters(node.args):
                inner[argument.arg] = self.analysis.records.given_to(definition, argument.arg)
            self(node.body, inner)
            casts.take(inner, env)
        return FunctionValue(definition, None, closure)

    def named(self, node: ast.NamedExpr, env: Environment) -> Value:
        value = self(node.value, env)
        bind(node.target, value, env)
        return value

    def holds(self, test: ast.expr, env: Environment) -> bool | None:
        """Whether a condition certainly holds: in the run that is judged, or in one call.

        A body that records is interpreted for all its callers, with the calls of every branch. Only
        what the module sets once, such as `DEBUG = False`, is the same for all of them, and what a
        test runner gives to a test.
        """
        known = self.analysis.configuration.holds(test)
        if known is not None:
            return known
        if self._is_test_of_module(test, env):
            return True
        switches = self.frame.switches
        if self.frame.records:
            return decided(test, {**switches, **decided_by_run(self.frame.function, env)})
        return decided(test, {**switches, **env} if switches else env)

    def chosen(self, test: ast.expr, sides: Iterable[ast.stmt | ast.expr]) -> bool | None:
        """Whether a condition holds in all calls of the body; None if it may do both.

        What is under a condition that fails in all of them is looked at, and leaves nothing. Only
        where it names a half dtype does that make a difference.
        """
        function, analysis = self.frame.function, self.analysis
        if function is None or analysis.is_intraprocedural or analysis.is_half_run:
            return None
        if analysis.is_program_run or not any(self._names_half(each) for each in sides):
            return None
        return analysis.reaching.holds(function, test)

    def _names_half(self, node: ast.stmt | ast.expr) -> bool:
        """True if a part of the body has a word for a half dtype."""
        file = self.frame.module.file
        return file.fact(
            (Evaluator._names_half, node),
            lambda: _HALF.search(file.text[file.span_of(node)]) is not None,
        )

    def _is_test_of_module(self, test: ast.expr, env: Environment) -> bool:
        """`isinstance(x, nn.Module)` of an object that is one, as its class or annotation says."""
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kind]):
                if self(kind, env) != Symbol("torch.nn.Module"):
                    return False
                match self.read(subject, env):
                    case Model():
                        return True
                    case Instance(definition=definition):
                        return self.analysis.classes.derives_from(definition, "Module")
        return False

    def conditional(self, node: ast.IfExp, env: Environment) -> Value:
        self(node.test, env)
        span = self.span_of(node.test)
        branches: list[tuple[Value, Span]] = []
        known = self.holds(node.test, env)
        chosen = self.chosen(node.test, (node.body, node.orelse)) if known is None else None
        for branch, holds in ((node.body, True), (node.orelse, False)):
            if known is not None and known is not holds:
                continue
            self.frame.guards.append(PathCondition(span, holds))
            value = self(branch, refine(self, node.test, env, holds))
            self.frame.guards.pop()
            if guard_excludes_bfloat16(PathCondition(span, holds), self.source):
                value = without_bfloat16(value)
            if chosen is None or chosen is holds:
                branches.append((value, self.span_of(branch)))
        offered = defaults.one_of(branches, self.source)
        return join_all([value for value, _ in branches]) if offered is None else offered

    def starred(self, node: ast.Starred | ast.Await, env: Environment) -> Value:
        return self(node.value, env)

    def yielded(self, node: ast.Yield | ast.YieldFrom, env: Environment) -> Value:
        value = self(node.value, env) if node.value is not None else Constant(None)
        if isinstance(node, ast.YieldFrom):
            value = item_of(value)
        self.frame.yielded = join_all([self.frame.yielded, value])
        self.frame.yielding.append(self.frame.region)
        self.frame.yields.append(value)
        return UNKNOWN

    # Operators

    def binary(self, node: ast.BinOp, env: Environment) -> Value:
        left, right = self.read(node.left, env), self.read(node.right, env)
        number = numbers.computed(node, left, right)
        return self.operation(node, left, right) if number is None else number

    def operation(self, node: ast.BinOp | ast.AugAssign, left: Value, right: Value) -> Value:
        """The value of an operator with its operands; a term where one of them is one."""
        if self.analysis.records.takes_every and isinstance(node, ast.BinOp):
            self.analysis.records.operator(self.frame, node, left, right)
        own = self._own_operator(node, left, right)
        if own is not None:
            return own
        value = self.operate(left, right, type(node.op))
        module = self.frame.module
        if isinstance(left, Variable):
            return self._of_operand(
                left, Step("left of", node, operand=right, module=module), value
            )
        if isinstance(right, Variable):
            return self._of_operand(
                right, Step("right of", node, operand=left, module=module), value
            )
        return value

    def _own_operator(
        self, node: ast.BinOp | ast.AugAssign, left: Value, right: Value
    ) -> Value | None:
        """What a class of the project makes of an operator: `__add__`, `__radd__`, `__iadd__`."""
        name = _OPERATORS.get(type(node.op))
        if name is None or self.analysis.is_intraprocedural:
            return None
        in_place = [f"__i{name}__"] if isinstance(node, ast.AugAssign) else []
        for owner, other, names in (
            (left, right, [*in_place, f"__{name}__"]),
            (right, left, [f"__r{name}__"]),
        ):
            if not isinstance(owner, Instance):
                continue
            for each in names:
                found = iterating.result(self.analysis, owner, each, other)
                if found is not None:
                    return found
        return None

    def _of_operand(self, operand: Variable, step: Step, value: Value) -> Value:
        """The value of an operator, as a term of an operand: that may be a number or a tensor.

        Who knows which it is, knows the dtype as well.
        """
        if isinstance(value, Tensor) and value.is_open and self.frame.region is None:
            term = operand.then(step)
            if isinstance(term, Variable):
                return replace(value, dtypes=frozenset(), clauses=clauses_of(term))
        return operand.then(step, value)

    def operate(self, left: Value, right: Value, op: type[ast.operator]) -> Value:
        """The value of a binary operator."""
        if isinstance(left, Bottom) or isinstance(right, Bottom):
            return BOTTOM
        if op is ast.BitOr and isinstance(left, Dictionary) and isinstance(right, Dictionary):
            return updated(left, [right], [])
        value = operator(left, right, op, self.frame.region, self.analysis.default_dtype)
        return loaded_in_half.kept_wide(left, right, value) if self.analysis.is_half_run else value

    def unary(self, node: ast.UnaryOp, env: Environment) -> Value:
        operand = self.read(node.operand, env)
        if isinstance(node.op, ast.Not):
            return Condition(self.source[self.span_of(node)])
        if isinstance(operand, Instance):
            own = iterating.result(self.analysis, operand, _UNARY[type(node.op)])
            return UNKNOWN if own is None else own
        return unary(operand, type(node.op))

    def compare(self, node: ast.Compare, env: Environment) -> Value:
        values = [self.read(operand, env) for operand in (node.left, *node.comparators)]
        if not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            compared = compare(values[0], values[1])
            if not isinstance(compared, Unknown):
                return compared
        return Condition(self.source[self.span_of(node)])

    def boolean(self, node: ast.BoolOp, env: Environment) -> Value:
        values = []
        inner = env
        for value in node.values:
            values.append(self(value, inner))
            if isinstance(node.op, ast.Or) and _is_true(value, values[-1], env):
                return values[-1]
            inner = refine(self, value, inner, isinstance(node.op, ast.And))
        if any(isinstance(value, Condition) for value in values):
            return Condition(self.source[self.span_of(node)])
        is_or = isinstance(node.op, ast.Or)
        if is_or:  # `given or {}`, where None is given
            values = [*(one for one in values[:-1] if not _is_false(one)), values[-1]]
        joined = join_all(values)
        if is_or:
            span = self.span_of(node.values[-1])
            return defaults.or_default(joined, values[-1], self.source, span)
        return joined

    def subscript(self, node: ast.Subscript, env: Environment) -> Value:
        path = path_of(node)
        if path is not None and path in env:
            return env[path]
        owner = self.read(node.value, env)
        return attributes.item(self, owner, self.read(node.slice, env), node)

    def bounds(self, node: ast.Slice, env: Environment) -> Value:
        for part in (node.lower, node.upper, node.step):
            self(part, env)
        return NON_TENSOR

    def call(self, node: ast.Call, env: Environment) -> Value:
        return invocation.call(self, node, env)

    def text(self, node: ast.JoinedStr, env: Environment) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self(part.value, env)
        return NON_TENSOR


def _is_long(node: ast.expr) -> bool:
    """True for data rather than code: what each item is would cost more than it tells."""
    return _rows(node) >= _LONG


def _rows(node: ast.expr) -> int:
    return (node.end_lineno or node.lineno) - node.lineno


_UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__",
}  # fmt: skip

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip

_LONG = 40
_TABLE = 200

_EVALUATE: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: Evaluator.constant,
    ast.Name: Evaluator.name,
    ast.Attribute: Evaluator.attribute,
    ast.Tuple: Evaluator.display,
    ast.List: Evaluator.display,
    ast.Set: Evaluator.display,
    ast.Dict: Evaluator.dictionary,
    ast.ListComp: Evaluator.comprehension,
    ast.SetComp: Evaluator.comprehension,
    ast.GeneratorExp: Evaluator.comprehension,
    ast.DictComp: Evaluator.dict_comprehension,
    ast.Lambda: Evaluator.function,
    ast.NamedExpr: Evaluator.named,
    ast.IfExp: Evaluator.conditional,
    ast.Starred: Evaluator.starred,
    ast.Await: Evaluator.starred,
    ast.Yield: Evaluator.yielded,
    ast.YieldFrom: Evaluator.yielded,
    ast.BinOp: Evaluator.binary,
    ast.UnaryOp: Evaluator.unary,
    ast.Compare: Evaluator.compare,
    ast.BoolOp: Evaluator.boolean,
    ast.Subscript: Evaluator.subscript,
    ast.Slice: Evaluator.bounds,
    ast.Call: Evaluator.call,
    ast.JoinedStr: Evaluator.text,
}


def _is_true(node: ast.expr, value: Value, env: Environment) -> bool:
    """True for a dtype that a call certainly gives: `or` takes nothing after it."""
    is_given = isinstance(node, ast.Name) and surely_given(node.id) in env
    return is_given and isinstance(value, Dtype)


def _is_false(value: Value) -> bool:
    """True for a constant that `or` passes over."""
    return isinstance(value, Constant) and not value.value
