"""The value of an expression of host code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Protocol

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.hosts import tensors
from precision_lint.facts.triton.hosts.scopes import Host
from precision_lint.facts.triton.hosts.values import (
    ANYTHING,
    HostValue,
    OneOf,
    Open,
    Several,
    computed,
    elements,
    joined,
)
from precision_lint.facts.triton.values import (
    NONE,
    UNKNOWN,
    Constant,
    Pointer,
    Tensor,
    TypeRef,
)

_INTEGER = Tensor(types.INDEX, 0)
_SIZES = frozenset({"numel", "stride", "size", "dim", "element_size", "data_ptr", "nelement"})


class Surroundings(Protocol):
    """What an expression needs to know of other functions: `calls.Calls`."""

    def free(self, host: Host, name: str) -> HostValue:
        """A variable that the function does not bind."""

    def of_forward(self, host: Host, name: str) -> tuple[HostValue, set[str]]:
        """What a forward pass kept for a backward pass, and whose dtypes it makes use of."""

    def result(self, at: Expressions, call: ast.Call) -> HostValue:
        """What a call returns."""

    def known_after(self, at: Expressions, call: ast.Call) -> Mapping[str, HostValue]:
        """What variables are, by what a call that is true says of its arguments."""


class Expressions:
    """Evaluates expressions where variables are what `variables` says."""

    def __init__(self, host: Host, around: Surroundings) -> None:
        self.host = host
        self.variables: dict[str, HostValue] = {}
        self.asked: set[str] = set()
        """The names of what is open whose dtype the code makes use of."""
        self._around = around

    def evaluate(self, node: ast.expr) -> HostValue:
        """What Triton makes of an argument; unknown unless the function proves it."""
        match node:
            case ast.Constant(value=value):
                return _constant(value)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                self._evaluate_within(node)
                return Tensor(types.BOOL, 0)
            case ast.UnaryOp(operand=operand):
                found = self.evaluate(operand)
                return _INTEGER if found == Constant(1) else found
            case ast.Name(id=name):
                return self._name(name)
            case ast.IfExp(test=test, body=body, orelse=other):
                self.evaluate(test)
                return joined([self.evaluate(body), self.evaluate(other)])
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                if any(isinstance(part, ast.Starred) for part in parts):
                    return UNKNOWN
                return Several(tuple(map(self.evaluate, parts)))
            case (
                ast.GeneratorExp(elt=element, generators=[each])
                | ast.ListComp(elt=element, generators=[each])
            ):
                return self._each(element, each)
            case ast.Subscript(value=ast.Attribute(attr="shape")):
                return _INTEGER
            case ast.Subscript(value=value, slice=index):
                return _item(self.evaluate(value), index)
            case ast.BinOp(left=left, right=right):
                return computed([self.evaluate(left), self.evaluate(right)])
            case ast.BoolOp(values=values):
                return joined(map(self.evaluate, values))
            case ast.NamedExpr(target=target, value=value):
                self.variables[target.id] = found = self.evaluate(value)
                return found
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
        self._evaluate_within(node)
        return UNKNOWN

    def _each(self, element: ast.expr, each: ast.comprehension) -> HostValue:
        """An expression for each item of a tuple: `tuple(t.contiguous() for t in (q, k, v))`."""
        match each, self.evaluate(each.iter):
            case ast.comprehension(target=ast.Name(id=name), ifs=[]), Several(values=items):
                outer = dict(self.variables)
                found = []
                for item in items:
                    self.variables[name] = item
                    found.append(self.evaluate(element))
                self.variables = outer
                return Several(tuple(found))
        self._evaluate_within(element)
        return UNKNOWN

    def _evaluate_within(self, node: ast.expr) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)

    def _name(self, name: str) -> HostValue:
        if name in self.variables:
            return self.variables[name]
        return self._around.free(self.host, name)

    def _attribute(self, node: ast.Attribute) -> HostValue:
        match node:
            case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in tensors.DTYPES:
                return TypeRef(frozenset({tensors.DTYPES[name]}))
            case ast.Attribute(value=ast.Name(id="ctx"), attr="saved_tensors" | "saved_variables"):
                return self._of_forward("")
            case ast.Attribute(value=ast.Name(id="ctx"), attr=name):
                return self._of_forward(name)
            case ast.Attribute(value=value, attr="dtype"):
                found = self.evaluate(value)
                self._ask(found)
                known = elements(found)
                return found if known is None else TypeRef(known)
            case ast.Attribute(value=value, attr="T" | "mT" | "data" | "grad"):
                return self.evaluate(value)
            case ast.Attribute(value=value, attr="real" | "imag"):
                self.evaluate(value)
                return Pointer(types.WIDE)  # of a complex tensor: see `tensors.WIDE`
            case ast.Attribute(value=ast.Name(id="self" | "module" as owner), attr=name):
                return Open(frozenset({self.host.key(f"{owner}.{name}")}))
        self.evaluate(node.value)
        return UNKNOWN

    def _of_forward(self, name: str) -> HostValue:
        found, asked = self._around.of_forward(self.host, name)
        self.asked |= asked
        return found

    def _ask(self, value: HostValue) -> None:
        if isinstance(value, Open):
            self.asked |= value.names

    def _call(self, node: ast.Call) -> HostValue:
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.evaluate(argument)
        match node.func:
            case ast.Name(id="tuple" | "list") if len(node.args) == 1:
                found = self.evaluate(node.args[0])
                return found if isinstance(found, Several | OneOf) else UNKNOWN
            case ast.Name(id="bool"):
                return Tensor(types.BOOL, 0)
            case ast.Name(id="float"):
                return Tensor(types.FLOAT32, 0)
            case ast.Name(id="int" | "len") | ast.Attribute(attr="cdiv" | "next_power_of_2"):
                return _INTEGER
            case ast.Attribute(attr=method) if method in _SIZES:
                return _INTEGER
            case ast.Attribute(attr="type_as"):
                return self.evaluate(node.args[0]) if node.args else UNKNOWN
            case ast.Attribute(value=receiver, attr=method):
                if (found := self._tensor(node, receiver, method)) != UNKNOWN:
                    return found
            case ast.Name(id=function):
                if (found := self._tensor(node, None, function)) != UNKNOWN:
                    return found
        return self._around.result(self, node)

    def _tensor(self, call: ast.Call, receiver: ast.expr | None, method: str) -> HostValue:
        """The tensor that a factory, a cast or a view returns."""
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        of_module = receiver is None or _is_module(receiver)
        if of_module and method in tensors.WIDE:
            return Pointer(types.WIDE)
        if method in tensors.FACTORIES:
            return self._made(call, keywords, receiver, method)
        if of_module:
            if method in tensors.MIXING or method in tensors.SAME:
                given = [self.evaluate(argument) for argument in call.args[:2]]
                given = [
                    value
                    for one in given
                    for value in (one.values if isinstance(one, Several) else (one,))
                ]
                is_mixing = method in tensors.MIXING
                return computed(given) if is_mixing else _floating(given[0] if given else UNKNOWN)
            return UNKNOWN
        assert receiver is not None
        if method in tensors.METHOD_CASTS and not call.args:
            return Pointer(frozenset({tensors.DTYPES[method]}))
        if method in ("to", "type"):
            return self._cast(call, receiver)
        given_first = [*call.args[:1], *keywords.values()]
        if method == "view" and any(map(_may_be_dtype, given_first)):
            return _tensor_of(self.evaluate(given_first[0]))
        if "dtype" in keywords:
            return _tensor_of(self.evaluate(keywords["dtype"]))
        if method in tensors.SAME:
            found = self.evaluate(receiver)
            return found if isinstance(found, Pointer | Open) else UNKNOWN
        if method in tensors.MIXING:
            return computed([self.evaluate(receiver), *map(self.evaluate, call.args)])
        return UNKNOWN

    def _made(
        self,
        call: ast.Call,
        keywords: dict[str | None, ast.expr],
        receiver: ast.expr | None,
        method: str,
    ) -> HostValue:
        """What a factory makes: of the dtype that is given, else of that of its tensor."""
        if "dtype" in keywords:
            given = self.evaluate(keywords["dtype"])
            self._ask(given)
            if given != NONE:
                return _tensor_of(given)
        if None in keywords:
            return UNKNOWN
        if method in tensors.FLOAT_FACTORIES:
            return Pointer(types.FLOAT32) if receiver is not None else UNKNOWN
        like = None
        if method in tensors.LIKE_FACTORIES | tensors.LIKE_THIS and call.args:
            like = self.evaluate(call.args[0])
        elif method in tensors.NEW_FACTORIES and receiver is not None:
            like = self.evaluate(receiver)
        if like is None:
            return UNKNOWN
        self._ask(like)
        return like if isinstance(like, Pointer | Open) else UNKNOWN

    def _cast(self, call: ast.Call, receiver: ast.expr) -> HostValue:
        """`x.to(dtype)`, `x.to(device, dtype)`, `x.to(other)`; a device leaves it what it is."""
        values = [*call.args, *(k.value for k in call.keywords if k.arg in ("dtype", "other"))]
        for value in values:
            match value:
                case ast.Constant() | ast.Attribute(attr="device"):
                    continue
            found = self.evaluate(value)
            if isinstance(found, TypeRef | Pointer | Open):
                is_dtype = isinstance(found, TypeRef) or _may_be_dtype(value)
                if is_dtype or isinstance(found, Pointer):
                    self._ask(found)
                    return _tensor_of(found)
                return ANYTHING  # of a device, or of another tensor
        found = self.evaluate(receiver)
        return found if isinstance(found, Pointer | Open) else UNKNOWN


def _constant(value: object) -> HostValue:
    match value:
        case None:
            return NONE
        case bool():
            return Tensor(types.BOOL, 0)
        case 1 if isinstance(value, int):
            return Constant(1)
        case int():
            return _INTEGER
        case float():
            return Tensor(types.FLOAT32, 0)
    return UNKNOWN


def _item(value: HostValue, index: ast.expr) -> HostValue:
    if isinstance(value, OneOf):
        value = joined(value.options)
    match value, index:
        case Several(values=values), ast.Constant(value=int() as position):
            return values[position] if position < len(values) else UNKNOWN
        case ((Pointer() | Open()), _):
            return value
    return UNKNOWN


def _tensor_of(dtype: HostValue) -> HostValue:
    """The tensor that has a dtype."""
    if isinstance(dtype, Open):
        return dtype
    known = elements(dtype)
    return UNKNOWN if known is None else Pointer(known)


def _floating(value: HostValue) -> HostValue:
    """What a function makes of floats; of integers it may make floats."""
    known = elements(value)
    if isinstance(value, Open) or (known is not None and known <= types.FLOATS):
        return value
    return UNKNOWN


def _is_module(node: ast.expr) -> bool:
    """True for `torch` and `torch.nn.functional`."""
    match node:
        case ast.Name(id="torch" | "F" | "einops"):
            return True
        case ast.Attribute(value=value):
            return _is_module(value)
    return False


def _may_be_dtype(node: ast.expr) -> bool:
    """True for what names a dtype: `torch.uint8`, `x.dtype`, `storage_dtype`."""
    match node:
        case ast.Attribute(value=ast.Name(id="torch")):
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return "dtype" in name.lower()
    return False
