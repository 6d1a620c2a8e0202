"""The types of expressions in a kernel."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from precision_lint.finding import Span
from precision_lint.triton_types import dtypes as types
from precision_lint.triton_types import functions
from precision_lint.triton_types.choices import Chosen, decided, follows
from precision_lint.triton_types.folding import fold, fold_comparison
from precision_lint.triton_types.language import Language, Version, as_tensor
from precision_lint.triton_types.module import JitFunction, Module
from precision_lint.triton_types.refusals import Block, Choice, Refusals
from precision_lint.triton_types.usage import Usage
from precision_lint.triton_types.values import (
    COMPILE_TIME,
    NUMBER_NOT_KNOWN,
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
    broadcast,
    derived,
    differ,
    have_many,
    join,
    origins,
)

_BUILTINS = frozenset({"float", "int", "len", "isinstance", "getattr", "hasattr", "min", "max"})
_DESCRIPTOR_METHODS = frozenset({"load", "store", "gather", "scatter", "atomic_add"})
_LOADS = frozenset({"triton.language.load", "triton.language.load_tensor_descriptor"})

_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
"""The operators that compute in the dtype of their operands."""

_OPERANDS_CONVERT: Version = (3, 4)
"""Since then `and` and `or` take whatever can be a condition; before, bools."""
_TUPLES: Version = (3, 3)
"""Since then a variable can hold a tuple; before, it got the first value."""

_DTYPE_TESTS: dict[str, types.Dtypes] = {
    "is_fp16": frozenset({"fp16"}),
    "is_bf16": frozenset({"bf16"}),
    "is_fp32": types.FLOAT32,
    "is_fp64": frozenset({"fp64"}),
    **{f"is_{dtype}": frozenset({dtype}) for dtype in types.FLOAT8},
    "is_fp8": types.FLOAT8,
    "is_floating": types.FLOATS,
    "is_standard_floating": types.FLOATS - types.FLOAT8,
    "is_int": types.INTEGERS,
}


@dataclass(frozen=True, slots=True)
class Variable:
    """What a name stands for, and the assignment that made it so.

    Not `certain` where the name exists for some compile-time choices only. `alternatives` are what
    it stands for under each choice, if their types differ. `given` is the expression assigned.
    """

    value: Value
    assigned: Span
    certain: bool = True
    alternatives: tuple[Variable, ...] = ()
    given: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """What a `return` gives, and the compile-time choices that lead to it."""

    value: Value
    node: ast.Return
    choices: tuple[Choice, ...]


@dataclass(slots=True)
class Frame:
    """One activation of a kernel or helper."""

    variables: dict[str, Variable]
    returned: list[Returned] = field(default_factory=list)
    depth: int = 0
    loops: int = 0
    """Run-time loops around the statement that is executed."""
    chosen: Chosen = field(default_factory=dict)
    """What the compile-time choices on the way to the statement say."""
    local: frozenset[str] = frozenset()
    """The names that the function certainly assigns by statements."""
    stored: frozenset[str] = frozenset()
    """The names that it binds anywhere: what is known of them holds until then only."""


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion that a remedy would put behind an expression: to the dtype of another one."""

    to: types.Dtypes | ast.expr


Patches = Mapping[Span, Cast | Value]
"""What remedies make of expressions: a conversion, or another value in their place."""


class Expressions(ABC):
    """Evaluates expressions. What a helper of the same file returns is the subclass's business."""

    def __init__(self, module: Module, version: Version, patches: Patches) -> None:
        self.module = module
        self.usage = Usage()
        self.refusals = Refusals(module)
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
                found = self._unary(op, self.evaluate(operand))
                if isinstance(op, ast.USub) and _is_float8(found):
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
        if name in _BUILTINS:
            return Function(name)
        if (path := self.module.qualified(node)) is not None:
            return _member(path)
        match self.module.assignments.get(name):
            case [value]:
                return self._global(value)
            # Under a compile-time choice, another one may have assigned it.
            case None if name in self.frame.local and not self.refusals.choices:
                if self.module.lacks(name):
                    self.refusals.add("name", name, place=self.module.span(node))
        return UNKNOWN

    def _global(self, node: ast.expr) -> Value:
        """A module constant: usable in kernels as a compile-time value only."""
        match node:
            case ast.Constant(value=value):
                return Constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return Constant(-value)
            case ast.Call(func=func, args=[value]) if (self.module.qualified(func) or "").endswith(
                ".constexpr"
            ):
                return self._global(value)
            case ast.Attribute() if (path := self.module.qualified(node)) is not None:
                return _member(path)
        return COMPILE_TIME

    def _attribute(self, node: ast.Attribute) -> Value:
        if (path := self._path(node)) is not None:
            return _member(path)
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
        match value, node.attr:
            case Tensor() | Pointer(), "dtype" | "type":
                self.usage.vary(value)
                if isinstance(value, Pointer):
                    return TypeRef(value.elements, is_pointer=True)
                return TypeRef(value.dtypes)
            case TypeRef(), "element_ty" | "scalar":
                return TypeRef(value.dtypes)
            case Tensor(rank=int() as rank), "shape":
                return Items((NUMBER_NOT_KNOWN,) * rank)
            case Tensor(), "T":
                return value
            case TypeRef(), test if test in _DTYPE_TESTS:
                return Method(value, test)
            case TypeRef() | Constant(), _:
                return COMPILE_TIME
            case ((Tensor() | Pointer()), name):
                return Method(value, name)
            case _, "to":
                return Method(value, "to")
        return UNKNOWN

    def _path(self, node: ast.expr) -> str | None:
        """The qualified name of an attribute of a module, unless a local variable hides it."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in self.frame.variables:
            return self.module.qualified(node)
        return None

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
                return _test(dtype.dtypes, _DTYPE_TESTS[test])
            case Method(receiver=receiver, name=name) if name in _DESCRIPTOR_METHODS:
                return self._descriptor(receiver, name, arguments, site)
            case Method(receiver=receiver, name=name):
                name = "cast" if name == "to" else name
                return self._library(f"triton.language.{name}", arguments.of(receiver, node), site)
            case Function(helper=JitFunction() as helper):
                chosen = self._handed_on(helper, node)
                return self.call_helper(helper, arguments, has_stars, chosen)
            case Function(name=name) if name in _BUILTINS:
                return _builtin(name, arguments, self.language)
            case Function(name=path) if not has_stars:
                return self._library(path, arguments, site)
        return self.unknown_result(arguments)

    def _handed_on(self, helper: JitFunction, node: ast.Call) -> Chosen:
        """What the choices on the way here say of the parameters of a helper."""
        if not self.frame.chosen:
            return {}
        names = [parameter.arg for parameter in helper.parameters]
        given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
        truths = {
            name: decided(value, self.frame.chosen)
            for name, value in given
            if name is not None and name not in helper.stored
        }
        return {name: truth for name, truth in truths.items() if truth is not None}

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
        offsets = arguments.get(0, "offsets")
        rank = len(offsets.values) if isinstance(offsets, Items) else None
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
        symbol = _ARITHMETIC.get(type(op))
        is_refused = _is_float8(found) or (
            any(map(_is_float8, (left, right))) and any(map(_is_integer, (left, right)))
        )
        if symbol is not None and is_refused:
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
        match left, right, op:
            case Constant(is_known=True), Constant(is_known=True), _:
                return fold(op, left.value, right.value)
            case (Pointer(), Pointer(), ast.Sub()):
                return Tensor(frozenset({"int64"}), broadcast(left, right))
            case (Pointer() as pointer, offset, ast.Add() | ast.Sub()) | (
                offset,
                Pointer() as pointer,
                ast.Add(),
            ):
                self.usage.index(offset)
                rank, has_many = broadcast(pointer, offset), have_many(pointer, offset)
                return replace(pointer, rank=rank, has_many=has_many)
            case _, _, ast.BitAnd() | ast.BitOr() | ast.BitXor() | ast.LShift() | ast.RShift():
                return self._bitwise(left, right)
            case _, _, ast.FloorDiv():
                self.usage.index(left)
                self.usage.index(right)
                return _only(self.language.binary(left, right, division=True), types.INTEGERS)
            case _, _, ast.Div():
                found = self.language.binary(left, right, division=True)
                if isinstance(found, Tensor):
                    return derived(types.true_division(found.dtypes), found.rank, found)
                return found
            case _, _, ast.Mod():
                return self.language.binary(left, right, division=True)
            case _, _, ast.Add() | ast.Sub():
                return self._sum(left, right)
            case _, _, ast.Mult():
                return self.language.binary(left, right)
        return NUMBER_NOT_KNOWN if _are_constant(left, right) else UNKNOWN

    def _sum(self, left: Value, right: Value) -> Value:
        """A sum keeps its first parameter in mind: it may turn out to be a pointer."""
        found = self.language.binary(left, right)
        bases = [
            value.provenance.base
            for value in (left, right)
            if isinstance(value, Tensor) and value.provenance.base is not None
        ]
        if not bases:
            return found
        if not isinstance(found, Tensor):
            found = Tensor(types.ANY, broadcast(left, right))
        return replace(found, provenance=replace(found.provenance, base=bases[0]))

    def _bitwise(self, left: Value, right: Value) -> Value:
        for value, other in ((left, right), (right, left)):
            # Comparisons are combined with `&`: those say nothing about what was compared.
            if isinstance(value, Tensor) and value.dtypes != types.BOOL:
                self.usage.index(value)
            self.usage.mask(other)
        return _only(self.language.binary(left, right), types.INTEGERS)

    def _unary(self, op: ast.unaryop, value: Value) -> Value:
        match op, value:
            case ast.Not(), Constant(is_known=True):
                return Constant(not value.value)
            case ast.USub(), Constant(value=int() | float() as number):
                return Constant(-number)
            case _, Constant():
                return NUMBER_NOT_KNOWN
            case ast.Not(), Tensor(rank=rank):
                return Tensor(types.BOOL, rank, has_many=value.has_many)
            case ast.Invert(), Tensor():
                return _only(value, types.INTEGERS)
            case ast.USub() | ast.UAdd(), Tensor():
                return derived(value.dtypes, value.rank, value)
        return UNKNOWN

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.evaluate(node.left), *map(self.evaluate, node.comparators)]
        found = [
            self._comparison(op, left, right)
            for op, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        return found[0] if len(found) == 1 else self._boolean(ast.And(), found)

    def _comparison(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        match op, left, right:
            case ast.Is() | ast.IsNot() | ast.In() | ast.NotIn(), _, _:
                if _are_constant(left, right) and isinstance(op, ast.Is | ast.IsNot):
                    return fold_comparison(op, left, right)
                return COMPILE_TIME
            case _, Constant(), Constant():
                return fold_comparison(op, left, right)
            case ast.Eq() | ast.NotEq(), TypeRef(), TypeRef():
                same = _test(left.dtypes, right.dtypes)
                if isinstance(op, ast.NotEq) and isinstance(same, Constant) and same.is_known:
                    return Constant(not same.value)
                return same
            case _, (TypeRef() | Constant()), (TypeRef() | Constant()):
                return COMPILE_TIME
            case (_, Tensor() | Pointer(), _) | (_, _, Tensor() | Pointer()):
                self.usage.compare(left, right)
                if {left, right} & {UNKNOWN}:
                    return Tensor(types.BOOL)
                return Tensor(types.BOOL, broadcast(left, right), has_many=have_many(left, right))
        return UNKNOWN

    def _boolean(self, op: ast.boolop, values: list[Value]) -> Value:
        """`and`, `or`: run-time unless the compile-time operands decide."""
        decisive = isinstance(op, ast.Or)
        for value in values:
            if isinstance(value, Constant) and value.is_known and bool(value.value) is decisive:
                return value
        tensors = [value for value in values if isinstance(value, Tensor)]
        if len(tensors) == 1:
            return replace(tensors[0], loads=frozenset())
        if tensors:
            return Tensor(types.BOOL, broadcast(*tensors), has_many=have_many(*tensors))
        if all(isinstance(value, Constant) for value in values):
            return (
                values[-1]
                if all(v.is_known for v in values if isinstance(v, Constant))
                else COMPILE_TIME
            )
        return UNKNOWN

    def condition(self, node: ast.expr) -> Value:
        """The value of a condition; known if the compile-time choices on the way here decide it."""
        match node:
            case ast.UnaryOp(op=ast.Not() as op, operand=operand):
                return self._unary(op, self.condition(operand))
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
        found = self._boolean(op, values)
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
        if test is not None and self.frame.stored.isdisjoint(_names(test)):
            self.frame.chosen = {**known, **follows(test, block == "then")}
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
                if not _is_axes(node.slice):
                    return UNKNOWN  # a tuple that only looks like a number
                indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                added = sum(isinstance(index, ast.Constant) for index in indices)
                rank = None if value.rank is None else value.rank + added
                return replace(value, rank=rank)
        return UNKNOWN


def _names(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def _nodes(call: ast.Call) -> dict[int | str, ast.expr]:
    found: dict[int | str, ast.expr] = dict(enumerate(call.args))
    return found | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _is_axes(index: ast.expr) -> bool:
    """True for `[None]`, `[:, None]`, `[:]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None)
        for part in parts
    )


def _member(path: str) -> Value:
    """What a qualified name of Triton stands for."""
    package, _, name = path.rpartition(".")
    if package in ("triton.language", "triton.language.core") and name in types.BY_NAME:
        return TypeRef(frozenset({types.BY_NAME[name]}))
    return Function(path)


def _test(dtypes: types.Dtypes, wanted: types.Dtypes) -> Value:
    """Whether a dtype is one of `wanted`, where that is certain."""
    if dtypes.isdisjoint(wanted):
        return Constant(False)
    is_certain = dtypes <= wanted and (len(wanted) == 1 or wanted in _DTYPE_TESTS.values())
    return Constant(True) if is_certain else COMPILE_TIME


def _is_float8(value: Value) -> bool:
    return isinstance(value, Tensor) and bool(value.dtypes) and value.dtypes <= types.FLOAT8


def _is_integer(value: Value) -> bool:
    return isinstance(value, Tensor) and value.dtypes <= types.INTEGERS


def _are_constant(*values: Value) -> bool:
    return all(isinstance(value, Constant) for value in values)


def _only(value: Value, dtypes: types.Dtypes) -> Value:
    """`value` as far as its dtypes are allowed."""
    if not isinstance(value, Tensor):
        return value
    return derived(value.dtypes & dtypes, value.rank, value)


def _builtin(name: str, arguments: Arguments, language: Language) -> Value:
    """Python's builtins, as far as Triton lets kernels use them."""
    values = arguments.positional
    match name, values:
        case "float", (Constant(value=str() | int() | float() as value),):
            try:
                return Constant(float(value), is_number=True)
            except ValueError:
                return NUMBER_NOT_KNOWN
        case "min" | "max", (left, right) if not _are_constant(left, right):
            name = "minimum" if name == "min" else "maximum"
            return functions.call(f"triton.language.{name}", arguments, language)
        case "min" | "max" | "int" | "float" | "len", _:
            return NUMBER_NOT_KNOWN if _are_constant(*values) or name == "len" else UNKNOWN
    return COMPILE_TIME
