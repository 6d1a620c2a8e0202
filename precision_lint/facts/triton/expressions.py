"""The types of expressions in a kernel."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from precision_lint.facts.triton import dtype_tests, functions, names, operators
from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.choices import Chosen, decided
from precision_lint.facts.triton.frame import Frame, Variable
from precision_lint.facts.triton.language import Language, Version, as_tensor
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.facts.triton.refusals import Block, CompileErrors
from precision_lint.facts.triton.shapes import rank_of_shape
from precision_lint.facts.triton.usage import Usage
from precision_lint.facts.triton.values import (
    COMPILE_TIME,
    UNKNOWN,
    Arguments,
    Constant,
    Function,
    Items,
    Method,
    Pointer,
    Tensor,
    TypeRef,
    Unknown,
    Value,
    differ,
    join,
    origins,
)
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen

_DESCRIPTOR_METHODS = frozenset({"load", "store", "gather", "scatter", "atomic_add"})
_LOADS = frozenset({"triton.language.load", "triton.language.load_tensor_descriptor"})

_OPERANDS_CONVERT: Version = (3, 4)
"""Since then `and` and `or` take whatever can be a condition; before, bools."""
_TUPLES: Version = (3, 3)
"""Since then a variable can hold a tuple; before, it got the first value."""


@frozen
class Cast:
    """A conversion that a remedy would put after an expression: to the dtype of another one."""

    to: types.Dtypes | ast.expr


Patches = Mapping[Span, Cast | Value]
"""What remedies make of expressions: a conversion, or another value in their place."""


class Expressions(ABC):
    """Evaluates expressions. What a helper of the same file returns is the subclass's business."""

    def __init__(self, module: Module, version: Version, patches: Patches) -> None:
        self.module = module
        self.usage = Usage()
        self.refusals = CompileErrors(module)
        self.language = Language(version, self.usage, self.refusals)
        self.patches = patches
        self.frame = Frame({})

    @abstractmethod
    def call_helper(
        self, helper: JitFunction, arguments: Arguments, has_stars: bool, chosen: Chosen
    ) -> Value:
        """What a `@triton.jit` function returns."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression, names looked up in the current frame."""
        if not self.patches or self.refusals.crossing is not None:
            return self._evaluate(node)
        match self.patches.get(self.module.span(node)):
            case None:
                return self._evaluate(node)
            case Cast(to=to):
                return self._converted(node, to)
            case value:
                return value

    def _converted(self, node: ast.expr, to: types.Dtypes | ast.expr) -> Value:
        """`node.to(dtype)`, as a remedy has it: only tensors have that method."""
        value = self._evaluate(node)
        like = self._evaluate(to) if isinstance(to, ast.expr) else Tensor(to)
        if isinstance(value, Tensor) and isinstance(like, Tensor):
            return replace(value, dtypes=like.dtypes, loads=frozenset())
        self.refusals.add("argument", "to", place=self.module.span(node))
        return UNKNOWN

    def _evaluate(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return Constant(value)
            case ast.Name(id=name):
                return self._name(name, node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operate(node, op, self.evaluate(left), self.evaluate(right))
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
                return self.condition(node)
            case ast.UnaryOp(op=op, operand=operand):
                found = operators.unary(op, self.evaluate(operand))
                if isinstance(op, ast.USub) and operators.is_float8(found):
                    place = self.module.span(node)
                    self.refusals.add("float8", "-", after=found, place=place, given=operand)
                return found
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                return self._ternary(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                if any(isinstance(item, ast.Starred) for item in items):
                    return UNKNOWN
                return Items(tuple(self.evaluate(item) for item in items))
            case ast.Subscript():
                return self._subscript(node)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                found = as_tensor(self.evaluate(value))
                span = self.module.span(node)
                self.frame.variables[name] = Variable(found, span, given=value)
                return found
            case ast.JoinedStr():
                return COMPILE_TIME
        return UNKNOWN

    def _name(self, name: str, node: ast.expr) -> Value:
        if name in self.frame.variables:
            return self.frame.variables[name].value
        if (helper := self.module.helper(name)) is not None:
            return Function(name, helper)
        if name in functions.BUILTINS:
            return Function(name)
        if (path := self.module.qualified(node)) is not None:
            return names.member(path)
        match self.module.assignments.get(name):
            case [value]:
                return names.module_constant(value, self.module)
            # Under a compile-time choice, another one may have assigned it.
            case None if name in self.frame.local and not self.refusals.choices:
                if self.module.lacks(name):
                    self.refusals.add("name", name, place=self.module.span(node))
        return UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Value:
        if (path := names.path_of(node, self.module, self.frame.variables)) is not None:
            return names.member(path)
        match node:
            case ast.Attribute(ast.Name(id=package), name) if package not in self.frame.variables:
                if (helper := self.module.helper(f"{package}.{name}")) is not None:
                    return Function(name, helper)
        value = self.evaluate(node.value)
        match node:
            case ast.Attribute(ast.Attribute(owner, "dtype" | "type"), "element_ty"):
                pointer = self.evaluate(owner)
                self.usage.address(pointer)
                if isinstance(pointer, Pointer) and pointer.parameter is not None:
                    self.usage.varying.add(pointer.parameter)
        return names.attribute(value, node.attr, self.usage)

    def _call(self, node: ast.Call) -> Value:
        callee = self.evaluate(node.func)
        has_stars = any(isinstance(argument, ast.Starred) for argument in node.args)
        has_stars |= any(keyword.arg is None for keyword in node.keywords)
        arguments = Arguments(
            tuple(
                self.evaluate(argument)
                for argument in node.args
                if not isinstance(argument, ast.Starred)
            ),
            {
                keyword.arg: self.evaluate(keyword.value)
                for keyword in node.keywords
                if keyword.arg is not None
            },
            {} if has_stars else _nodes(node),
        )
        site = self.module.span(node)
        self.refusals.call = site
        match callee:
            case Method(receiver=TypeRef() as dtype, name=test):
                return dtype_tests.passes(dtype, test)
            case Method(receiver=receiver, name=name) if name in _DESCRIPTOR_METHODS:
                return self._descriptor(receiver, name, arguments, site)
            case Method(receiver=receiver, name=name):
                name = "cast" if name == "to" else name
                return self._library(f"triton.language.{name}", arguments.of(receiver, node), site)
            case Function(helper=JitFunction() as helper):
                chosen = self.frame.handed_on(helper, node)
                return self.call_helper(helper, arguments, has_stars, chosen)
            case Function(name=name) if name in functions.BUILTINS:
                return functions.builtin(name, arguments, self.language)
            case Function(name=path) if not has_stars:
                return self._library(path, arguments, site)
        return self.unknown_result(arguments)

    def unknown_result(self, arguments: Arguments) -> Value:
        """What a function returns of which nothing is known."""
        values = (*arguments.positional, *arguments.keywords.values())
        self.usage.pin(*values)
        return Unknown(origins(*values))

    def _descriptor(self, receiver: Value, name: str, arguments: Arguments, site: Span) -> Value:
        """A method of a tensor descriptor, which only looks like a pointer here."""
        if name != "load":
            self.usage.address(receiver)
            return UNKNOWN
        rank = rank_of_shape(arguments.get(0, "offsets"))
        found = self._library("triton.language.load", Arguments((receiver,), {}), site)
        return replace(found, rank=rank) if isinstance(found, Tensor) else found

    def _library(self, path: str, arguments: Arguments, site: Span) -> Value:
        found = functions.call(path, arguments, self.language)
        if path in _LOADS and isinstance(found, Tensor) and not found.dtypes.isdisjoint(types.HALF):
            # What is loaded in another file cannot be repaired in this one.
            loads = frozenset({site}) if self.refusals.crossing is None else frozenset[Span]()
            return replace(found, loads=loads)
        return self.unknown_result(arguments) if found == UNKNOWN else found

    def operate(
        self, node: ast.BinOp | ast.AugAssign, op: ast.operator, left: Value, right: Value
    ) -> Value:
        """`left op right`, which float8 has no instructions for, and no type beside integers."""
        found = self.binary(op, left, right)
        if (symbol := operators.lacks_float8(op, left, right, found)) is not None:
            nodes = (node.left, node.right) if isinstance(node, ast.BinOp) else (None, None)
            self.refusals.add(
                "float8",
                symbol,
                left,
                right,
                place=self.module.span(node),
                start=nodes[0],
                given=nodes[1],
            )
        return found

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        """`left op right`."""
        return operators.binary(op, left, right, self.language)

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.evaluate(node.left), *map(self.evaluate, node.comparators)]
        found = [
            self._comparison(op, left, right)
            for op, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        return found[0] if len(found) == 1 else operators.boolean(ast.And(), found)

    def _comparison(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        return operators.comparison(op, left, right, self.usage)

    def condition(self, node: ast.expr) -> Value:
        """The value of a condition; known if the compile-time choices on the way here decide it."""
        match node:
            case ast.UnaryOp(op=ast.Not() as op, operand=operand):
                return operators.unary(op, self.condition(operand))
            case ast.BoolOp(op=op, values=values):
                return self._operands(op, values)
        value = self.evaluate(node)
        if self.frame.chosen and isinstance(value, Constant) and not value.is_known:
            truth = decided(node, self.frame.chosen)
            return value if truth is None else Constant(truth)
        return value

    def _operands(self, op: ast.boolop, nodes: list[ast.expr]) -> Value:
        """`and`, `or`: what follows an operand that decides at compile time is not evaluated."""
        wanted = isinstance(op, ast.And)
        values: list[Value] = []
        with ExitStack() as choices:
            for node in nodes:
                value = self.condition(node)
                values.append(value)
                if isinstance(value, Constant) and value.is_known:
                    if bool(value.value) is not wanted:
                        break
                elif isinstance(value, Constant):
                    block: Block = "then" if wanted else "else"
                    choices.enter_context(self.choosing(node, block, node))
        found = operators.boolean(op, values)
        if self.language.version < _OPERANDS_CONVERT and isinstance(found, Tensor):
            for node, value in zip(nodes, values, strict=False):
                number = as_tensor(value)
                if isinstance(number, Tensor) and types.BOOL.isdisjoint(number.dtypes):
                    place = self.module.span(node)
                    self.refusals.add("condition", "", number, Tensor(types.BOOL), place=place)
        return found

    @contextmanager
    def choosing(
        self, node: ast.expr | ast.stmt, block: Block, test: ast.expr | None = None
    ) -> Iterator[None]:
        """Inside something that is compiled for some choices only."""
        choices, known = self.refusals.choices, self.frame.chosen
        self.refusals.choices = (*choices, (self.module.span(node).start, block))
        if test is not None:
            self.frame.choose(test, block == "then")
        try:
            yield
        finally:
            self.refusals.choices, self.frame.chosen = choices, known

    def _ternary(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if isinstance(condition, Constant) and condition.is_known:
            return self.evaluate(node.body if condition.value else node.orelse)
        if not isinstance(condition, Tensor):
            with self.choosing(node, "then", node.test):
                then = self.evaluate(node.body)
            with self.choosing(node, "else", node.test):
                other = self.evaluate(node.orelse)
            return join(then, other)
        then, other = as_tensor(self.evaluate(node.body)), as_tensor(self.evaluate(node.orelse))
        if differ(then, other):
            self.refusals.add(
                "ternary",
                "",
                then,
                other,
                place=self.module.span(node),
                start=node.body,
                given=node.orelse,
                test=node.test,
            )
        return join(then, other)

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.evaluate(node.value)
        match value:
            case Items(values=values):
                if self.language.version < _TUPLES:
                    self.refusals.add("tuple", "", place=self.module.span(node))
                match self.evaluate(node.slice):
                    case Constant(value=int() as index) if -len(values) <= index < len(values):
                        return values[index]
            case Tensor() | Pointer():
                return operators.indexed(value, node.slice)
        return UNKNOWN


def _nodes(call: ast.Call) -> dict[int | str, ast.expr]:
    found: dict[int | str, ast.expr] = dict(enumerate(call.args))
    return found | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
