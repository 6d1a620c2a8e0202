"""The types of expressions in a kernel."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

from precision_lint.finding import Span
from precision_lint.triton_types import dtypes as types
from precision_lint.triton_types import functions
from precision_lint.triton_types.folding import fold, fold_comparison
from precision_lint.triton_types.language import Language, Version, as_tensor
from precision_lint.triton_types.module import Module
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
    join,
    origins,
)

_BUILTINS = frozenset({"float", "int", "len", "isinstance", "getattr", "hasattr", "min", "max"})
_DESCRIPTOR_METHODS = frozenset({"load", "store", "gather", "scatter", "atomic_add"})
_LOADS = frozenset({"triton.language.load", "triton.language.load_tensor_descriptor"})

_DTYPE_TESTS: dict[str, types.Dtypes] = {
    "is_fp16": frozenset({"fp16"}),
    "is_bf16": frozenset({"bf16"}),
    "is_fp32": types.FLOAT32,
    "is_fp64": frozenset({"fp64"}),
    "is_floating": types.FLOATS,
    "is_int": types.INTEGERS,
}


@dataclass(frozen=True, slots=True)
class Variable:
    """What a name stands for, and the assignment that made it so.

    Not `certain` where the name exists for some compile-time choices only. `alternatives` are what
    it stands for under each choice, if their types differ.
    """

    value: Value
    assigned: Span
    certain: bool = True
    alternatives: tuple[Variable, ...] = ()


@dataclass(slots=True)
class Frame:
    """One activation of a kernel or helper."""

    variables: dict[str, Variable]
    returned: list[Value] = field(default_factory=list)
    depth: int = 0


class Expressions(ABC):
    """Evaluates expressions. What a helper of the same file returns is the subclass's business."""

    def __init__(self, module: Module, version: Version, widened_loads: frozenset[Span]) -> None:
        self.module = module
        self.usage = Usage()
        self.language = Language(version, self.usage)
        self.widened_loads = widened_loads
        self.frame = Frame({})

    @abstractmethod
    def call_helper(self, name: str, arguments: Arguments, has_stars: bool) -> Value:
        """What a `@triton.jit` function of this file returns."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression, names looked up in the current frame."""
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
                return self.binary(op, self.evaluate(left), self.evaluate(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(op, self.evaluate(operand))
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(op=op, values=values):
                return self._boolean(op, [self.evaluate(value) for value in values])
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
                self.frame.variables[name] = Variable(found, self.module.span(node))
                return found
            case ast.JoinedStr():
                return COMPILE_TIME
        return UNKNOWN

    def _name(self, name: str, node: ast.expr) -> Value:
        if name in self.frame.variables:
            return self.frame.variables[name].value
        if name in self.module.functions or name in _BUILTINS:
            return Function(name)
        if (path := self.module.qualified(node)) is not None:
            return _member(path)
        match self.module.assignments.get(name):
            case [value]:
                return self._global(value)
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
        value = self.evaluate(node.value)
        match node:
            case ast.Attribute(ast.Attribute(owner, "dtype" | "type"), "element_ty"):
                self.usage.address(self.evaluate(owner))
        match value, node.attr:
            case Tensor() | Pointer(), "dtype" | "type":
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
        )
        site = self.module.span(node)
        self.usage.site = site
        match callee:
            case Method(receiver=TypeRef() as dtype, name=test):
                return _test(dtype.dtypes, _DTYPE_TESTS[test])
            case Method(receiver=receiver, name=name) if name in _DESCRIPTOR_METHODS:
                return self._descriptor(receiver, name, arguments, site)
            case Method(receiver=receiver, name=name):
                name = "cast" if name == "to" else name
                arguments = replace(arguments, positional=(receiver, *arguments.positional))
                return self._library(f"triton.language.{name}", arguments, site)
            case Function(name=name) if name in self.module.functions:
                return self.call_helper(name, arguments, has_stars)
            case Function(name=name) if name in _BUILTINS:
                return _builtin(name, arguments, self.language)
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
        offsets = arguments.get(0, "offsets")
        rank = len(offsets.values) if isinstance(offsets, Items) else None
        found = self._library("triton.language.load", Arguments((receiver,), {}), site)
        return replace(found, rank=rank) if isinstance(found, Tensor) else found

    def _library(self, path: str, arguments: Arguments, site: Span) -> Value:
        found = functions.call(path, arguments, self.language)
        if path in _LOADS and isinstance(found, Tensor) and not found.dtypes.isdisjoint(types.HALF):
            if site in self.widened_loads:
                return replace(found, dtypes=types.FLOAT32)
            return replace(found, loads=frozenset({site}))
        return self.unknown_result(arguments) if found == UNKNOWN else found

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
                return replace(pointer, rank=broadcast(pointer, offset))
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
                return Tensor(types.BOOL, rank)
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
                return Tensor(types.BOOL, broadcast(left, right))
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
            return Tensor(types.BOOL, broadcast(*tensors))
        if all(isinstance(value, Constant) for value in values):
            return (
                values[-1]
                if all(v.is_known for v in values if isinstance(v, Constant))
                else COMPILE_TIME
            )
        return UNKNOWN

    def _ternary(self, node: ast.IfExp) -> Value:
        condition = self.evaluate(node.test)
        if isinstance(condition, Constant) and condition.is_known:
            return self.evaluate(node.body if condition.value else node.orelse)
        then, other = self.evaluate(node.body), self.evaluate(node.orelse)
        if isinstance(condition, Tensor):
            then, other = as_tensor(then), as_tensor(other)
            if differ(then, other):
                self.usage.rejected.add(("ternary", self.module.span(node)))
        return join(then, other)

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.evaluate(node.value)
        match value:
            case Items(values=values):
                match self.evaluate(node.slice):
                    case Constant(value=int() as index) if -len(values) <= index < len(values):
                        return values[index]
            case Tensor() | Pointer():
                if value.rank == 0 and not _adds_axes(node.slice):
                    return UNKNOWN  # a tuple that only looks like a number
                indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                added = sum(isinstance(index, ast.Constant) for index in indices)
                rank = None if value.rank is None else value.rank + added
                return replace(value, rank=rank)
        return UNKNOWN


def _adds_axes(index: ast.expr) -> bool:
    """True for `[None]`, `[:, None]`."""
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
