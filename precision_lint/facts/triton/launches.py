"""What the host code of the same file passes to a kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.module import HostFunction, JitFunction, Module, host_nodes
from precision_lint.facts.triton.values import NONE, UNKNOWN, Constant, Pointer, Tensor, Value, join
from precision_lint.source.python.syntax import named_parameters

_TORCH: dict[str, str] = {
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float": "fp32",
    "float64": "fp64",
    "double": "fp64",
    "bool": "int1",
    "uint8": "uint8",
    **{f"int{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    "int": "int32",
    "long": "int64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "fp8e5",
    "float8_e5m2fnuz": "fp8e5b16",
}
_FLOAT_FACTORIES = frozenset({"empty", "zeros", "ones", "rand", "randn"})
LIKE_FACTORIES = frozenset({"empty_like", "zeros_like", "ones_like", "rand_like", "randn_like"})
_OTHER_FACTORIES = frozenset(
    {"full", "tensor", "arange", "full_like", "new_empty", "new_zeros", "new_ones", "new_full"}
)
_SAME = frozenset(
    {"contiguous", "view", "reshape", "flatten", "detach", "clone", "t", "transpose", "permute"}
    | {"squeeze", "unsqueeze", "expand", "cuda", "cpu", "requires_grad_"}
)
_METHOD_CASTS = frozenset({"half", "bfloat16", "float", "double", "bool", "int", "long"})


@dataclass(frozen=True, slots=True)
class Launch:
    """One `kernel[grid](...)`, and the values of its arguments where they are proved."""

    arguments: dict[str, Value]
    is_complete: bool
    """False if `*args` or `**kwargs` pass what is not seen here."""


def launches_of(module: Module, kernel: JitFunction) -> list[Launch]:
    """The launches of a kernel by its name, anywhere in the file."""
    names = [parameter.arg for parameter in kernel.parameters]
    found = []
    for function, call in module.launches.get(kernel.node.name, ()):
        host = _Host(function)
        stars = any(isinstance(argument, ast.Starred) for argument in call.args)
        stars |= any(keyword.arg is None for keyword in call.keywords)
        values = {} if stars else dict(zip(names, map(host.value, call.args), strict=False))
        values |= {k.arg: host.value(k.value) for k in call.keywords if k.arg is not None}
        found.append(Launch(values, not stars))
    return found


def follow_their_input(module: Module, kernel: JitFunction) -> frozenset[str]:
    """The parameters for which a launch passes a parameter of the host that others are typed by.

    Who allocates `torch.empty_like(x)`, or something of `x.dtype`, takes `x` as it comes.
    """
    names = [parameter.arg for parameter in kernel.parameters]
    found: set[str] = set()
    for function, call in module.launches.get(kernel.node.name, ()):
        if isinstance(function, ast.Module):
            continue
        taken = {parameter.arg for parameter in named_parameters(function.args)}
        taken &= {name for node in host_nodes(function) for name in _typed_by(node)}
        given = [*zip(names, call.args, strict=False)]
        given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        found |= {
            name for name, value in given if isinstance(value, ast.Name) and value.id in taken
        }
    return frozenset(found)


def _typed_by(node: ast.AST) -> Iterator[str]:
    """The tensors whose dtype an expression makes use of."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="dtype"):
            yield name
        case ast.Call(
            func=ast.Attribute(attr=method), args=[ast.Name(id=name), *_], keywords=keywords
        ) if method in LIKE_FACTORIES and all(keyword.arg != "dtype" for keyword in keywords):
            yield name


def passed(launches: list[Launch], parameter: str) -> Value:
    """What every launch passes for a parameter; unknown if one of them may pass anything."""
    if not all(launch.is_complete for launch in launches):
        return UNKNOWN
    return _union([launch.arguments.get(parameter, UNKNOWN) for launch in launches])


def is_boolean(expression: ast.expr) -> bool:
    """True if an expression of the host certainly is a bool."""
    return _Host(ast.Module([], [])).value(expression) == Tensor(types.BOOL, 0)


def _union(values: list[Value]) -> Value:
    """One of `values`; an optional tensor is taken for the tensor."""
    values = [value for value in values if value != NONE] or values
    if not values or UNKNOWN in values:
        return UNKNOWN
    found = values[0]
    for value in values[1:]:
        if value != found:
            found = join(_run_time(found), _run_time(value))
    return found


def _run_time(value: Value) -> Value:
    """An argument that is specialised in one launch is a run-time value in another."""
    if value == Constant(1):
        return Tensor(types.INDEX, 0)
    return value


class _Host:
    """The values of expressions in one host function, by its assignments."""

    def __init__(self, function: HostFunction) -> None:
        self._assigned: dict[str, list[ast.expr | None]] = {}
        self._values: dict[str, Value] = {}
        self._dtypes: dict[str, Dtypes | None] = {}
        nodes = list(host_nodes(function))
        if not isinstance(function, ast.Module):
            for parameter in named_parameters(function.args):
                self._assigned[parameter.arg] = [None]
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assigned.setdefault(name, []).append(value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if (
                    len(names) == len(values)
                ):
                    for target, value in zip(names, values, strict=True):
                        if isinstance(target, ast.Name):
                            self._assigned.setdefault(target.id, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._assigned.setdefault(name, []).append(value)
        stored: dict[str, int] = {}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored[node.id] = stored.get(node.id, 0) + 1
        for name, count in stored.items():
            known = self._assigned.setdefault(name, [])
            if count > sum(value is not None for value in known):
                known.append(None)  # by a loop, a `with`, an unpacking

    def value(self, node: ast.expr) -> Value:
        """What Triton makes of an argument; unknown unless the function proves it."""
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return Tensor(types.BOOL, 0)
            case ast.Constant(value=1 as value) if isinstance(value, int):
                return Constant(1)
            case ast.Constant(value=int()):
                return Tensor(types.INDEX, 0)
            case ast.Constant(value=float()):
                return Tensor(types.FLOAT32, 0)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self.value(operand)
                return Tensor(types.INDEX, 0) if found == Constant(1) else found
            case ast.Call(func=ast.Name(id="bool")):
                return Tensor(types.BOOL, 0)
            case ast.Call(func=ast.Name(id="float")):
                return Tensor(types.FLOAT32, 0)
            case (
                ast.Call(func=ast.Name(id="int" | "len"))
                | ast.Call(func=ast.Attribute(attr="numel" | "stride" | "size" | "dim"))
                | ast.Subscript(value=ast.Attribute(attr="shape"))
            ):
                return Tensor(types.INDEX, 0)
            case ast.Name(id=name):
                return self._variable(name)
            case ast.IfExp(body=body, orelse=other):
                return _union([self.value(body), self.value(other)])
            case ast.Subscript(value=value):
                found = self.value(value)
                return found if isinstance(found, Pointer) else UNKNOWN
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)):
                found_dtypes = self._tensor_dtypes(node, receiver, method)
                return UNKNOWN if found_dtypes is None else Pointer(found_dtypes)
        return UNKNOWN

    def _variable(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = UNKNOWN  # as long as it is defined by itself
            assigned = self._assigned.get(name, [None])
            self._values[name] = _union([UNKNOWN if v is None else self.value(v) for v in assigned])
        return self._values[name]

    def _dtype_variable(self, name: str) -> Dtypes | None:
        if name not in self._dtypes:
            self._dtypes[name] = None
            assigned = self._assigned.get(name, [None])
            found = [None if value is None else self._dtype(value) for value in assigned]
            known = [dtypes for dtypes in found if dtypes is not None]
            if known and len(known) == len(found):
                self._dtypes[name] = frozenset().union(*known)
        return self._dtypes[name]

    def _tensor_dtypes(self, call: ast.Call, receiver: ast.expr, method: str) -> Dtypes | None:
        """The dtype of a tensor that a factory, a cast or a view returns."""
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        is_torch = isinstance(receiver, ast.Name) and receiver.id == "torch"
        if method in _FLOAT_FACTORIES | LIKE_FACTORIES | _OTHER_FACTORIES:
            if "dtype" in keywords:
                return self._dtype(keywords["dtype"])
            if is_torch and method in _FLOAT_FACTORIES:
                return types.FLOAT32
            if is_torch and method in LIKE_FACTORIES and call.args:
                return self._elements(call.args[0])
            return None
        if is_torch:
            return None
        if method in _METHOD_CASTS and not call.args:
            return frozenset({_TORCH[method]})
        if method == "to":
            given = [self._dtype(value) for value in (*call.args, *keywords.values())]
            known = [dtype for dtype in given if dtype is not None]
            return known[0] if known else None
        if method == "view" and any(map(_may_be_dtype, [*call.args[:1], *keywords.values()])):
            return self._dtype([*call.args, *keywords.values()][0])
        return self._elements(receiver) if method in _SAME else None

    def _elements(self, node: ast.expr) -> Dtypes | None:
        found = self.value(node)
        return found.elements if isinstance(found, Pointer) else None

    def _dtype(self, node: ast.expr) -> Dtypes | None:
        """`torch.float32`, `x.dtype`, or a variable that is one."""
        match node:
            case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in _TORCH:
                return frozenset({_TORCH[name]})
            case ast.Attribute(value=value, attr="dtype"):
                return self._elements(value)
            case ast.Name(id=name):
                return self._dtype_variable(name)
            case ast.IfExp(body=body, orelse=other):
                left, right = self._dtype(body), self._dtype(other)
                return left | right if left and right else None
        return None


def _may_be_dtype(node: ast.expr) -> bool:
    """True for what `view` takes as a dtype: `torch.uint8`, `x.dtype`, `storage_dtype`."""
    match node:
        case ast.Attribute(value=ast.Name(id="torch")):
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return "dtype" in name.lower()
    return False
