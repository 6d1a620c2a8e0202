"""Calls of operators that have no kernel for a half dtype that an operand can have.

Which operators these are was measured (`scripts/measure_kernels.py`), on CPU and on an H100.
"""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes._generated.kernels import LACKING
from precision_lint.facts.dtypes._generated.operators import FUNCTIONS, METHODS
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.operators.operands import (
    is_method,
    operand,
    operator,
    tensor_given,
)
from precision_lint.facts.dtypes.operators.promotion import promote
from precision_lint.facts.dtypes.operators.signature import Lack
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

LACKING_CALLS = frozenset(name.rpartition(".")[2] for name in LACKING)
"""The last names of the operators, for `Rule.calls`."""

_DEVICES = ("cpu", "cuda")
_DEPTH = 4


@frozen
class Lacking:
    """An operator that raises for what it may be given.

    `errors` are what it raises, by dtype; `is_proved` says that no other dtype is possible.
    """

    operator: str
    operands: tuple[Argument, ...]
    tensors: tuple[Tensor, ...]
    errors: dict[str, str]
    is_proved: bool
    device: str | None
    """The device that the code names, if the operator raises on that one alone."""


def lacking(call: Call, file: PythonFile) -> Lacking | None:
    """The operator that a call runs for a dtype that it has no kernel for."""
    name = operator(call)
    by_dtype = LACKING.get(name or "")
    if name is None or by_dtype is None or "out" in call.keywords:
        return None
    row = (METHODS if is_method(call) else FUNCTIONS).get(name)
    places = ((0, "input"),) if row is None or not row.operands else row.operands
    given = [operand(call, position, keyword) for position, keyword in places]
    operands = tuple(one for one in given if one is not None)
    tensors = tuple(one for one in map(tensor_given, operands) if one is not None)
    if len(tensors) != len(places):
        return None
    promoted = tensors[0] if len(tensors) == 1 else promote(tensors)
    open_dtypes = by_dtype.keys() if promoted.caller_chosen else promoted.dtypes
    devices = {
        dtype: _raises_on(by_dtype[dtype], call) for dtype in by_dtype if dtype in open_dtypes
    }
    if not any(devices.values()):
        return None
    named = None
    if call.autocast is not None and call.autocast.device in _DEVICES:
        named = call.autocast.device
    elif any(on != set(_DEVICES) for on in devices.values()):
        named = _device(operands[0], call, file)
    wanted = set(_DEVICES) if named is None else {named}
    errors = {
        dtype: getattr(by_dtype[dtype], "cuda" if named == "cuda" else "cpu")
        for dtype, on in devices.items()
        if wanted <= on
    }
    if not errors:
        return None
    is_proved = promoted.must_be(frozenset(errors)) and not promoted.may_be_other
    return Lacking(name, operands, tensors, errors, is_proved, named)


def _raises_on(lack: Lack, call: Call) -> set[str]:
    """The devices on which an operator raises, in the region around it."""
    if call.autocast is not None:
        return {*lack.in_regions}
    return {device for device in _DEVICES if getattr(lack, device)}


def _device(argument: Argument, call: Call, file: PythonFile) -> str | None:
    """The device that the code moves a tensor to: `x.cpu()`, `x.to("cuda")`."""
    syntax = syntax_tree(file)
    found = calls_by_span(file).get(call.span)
    if found is None:
        return None
    nodes = [*found.args, *(each.value for each in found.keywords)]
    if isinstance(found.func, ast.Attribute):
        nodes.append(found.func.value)
    node = next((one for one in nodes if file.span_of(one) == argument.span), None)
    return None if node is None else _moved_to(node, syntax, _DEPTH)


def _moved_to(node: ast.expr, syntax: SyntaxTree, depth: int) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(value=owner)) if depth:
            name = callee_name(node)
            if name in _DEVICES:
                return name
            named = [each.value for each in node.keywords if each.arg == "device"]
            for each in (*named, *node.args) if name == "to" or named else ():
                match each:
                    case ast.Constant(value=str(device)):
                        kind = device.partition(":")[0]
                        return kind if kind in _DEVICES else None
            return _moved_to(owner, syntax, depth - 1)
        case ast.Name() if depth:
            match binding(node, syntax):
                case [value]:
                    return _moved_to(value, syntax, depth - 1)
    return None
