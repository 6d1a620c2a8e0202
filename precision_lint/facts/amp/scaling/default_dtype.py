"""What autocast runs in where no dtype is given: the device's default, or what the file sets."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from precision_lint.facts.amp.regions.autocast import autocasts
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call, Calls
from precision_lint.facts.dtypes.domain.lattice import join_dtypes
from precision_lint.facts.dtypes.domain.values import Constant, Dtype, Symbol
from precision_lint.model.dtypes import FLOAT16
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

BFLOAT16_DEVICES = frozenset({"cpu", "hpu", "maia", "xla"})
"""Devices that autocast runs in bfloat16 by default (torch 2.13); it is float16 on the others."""

SETTERS: Mapping[str, str] = {
    "set_autocast_dtype": "",
    "set_autocast_gpu_dtype": "cuda",
    "set_autocast_cpu_dtype": "cpu",
}
"""Functions of torch that set the default, for the whole process, and of which device."""


@frozen
class DefaultDtype:
    """A default that a file sets: by which call, for which device type, None if that is not known.

    `given` is the argument that says the dtype; None where the dtype depends on more than that.
    """

    call: Call
    device: str | None
    given: Argument | None
    dtype: Dtype


@fact
def defaults(module: Calls) -> tuple[DefaultDtype, ...]:
    """The defaults that a file sets, one for each device."""
    found: dict[str | None, DefaultDtype] = {}
    for name in SETTERS:
        for call in module.named(name):
            if call.function == f"torch.{name}":
                made = _set_by(call)
                held = found.get(made.device)
                found[made.device] = made if held is None else _either(held, made)
    return tuple(found.values())


def default_for(device: str | None, module: Calls) -> DefaultDtype | None:
    """The default that a file sets for a device type; one that is not known may well be CUDA."""
    wanted = (device,) if device is not None else (None, "cuda")
    return next((one for one in defaults(module) if one.device in wanted), None)


def _set_by(call: Call) -> DefaultDtype:
    device: str | None = SETTERS[call.name] or _constant(call.argument(0, "device_type"))
    given = call.argument(0 if SETTERS[call.name] else 1, "dtype")
    dtype = given.value if given is not None else None
    if given is None or not isinstance(dtype, Dtype) or not dtype.dtypes:
        return DefaultDtype(call, device, given, Dtype(may_be_other=True))
    if call.guards:  # elsewhere it stays what it was
        dtype = replace(dtype, dtypes=dtype.dtypes | {FLOAT16})
        return DefaultDtype(call, device, None, dtype)
    return DefaultDtype(call, device, given, dtype)


def _either(one: DefaultDtype, other: DefaultDtype) -> DefaultDtype:
    """What two calls set: nothing that is known if one restores what was there before."""
    is_known = one.dtype.dtypes and other.dtype.dtypes
    dtype = join_dtypes(one.dtype, other.dtype) if is_known else Dtype(may_be_other=True)
    return DefaultDtype(one.call, one.device, None, dtype)


def device_type(call: Call, file: PythonFile) -> str | None:
    """The device type of autocast, of a `partial` of it, or of a scaler; None if not known."""
    is_partial = call.name == "partial"
    name = call.function or ""
    if is_partial and isinstance(call.arguments[0].value, Symbol):
        name = call.arguments[0].value.name
    for device in ("cuda", "cpu"):
        if name.startswith(f"torch.{device}."):
            return device
    keyword = "device" if call.name.endswith("GradScaler") else "device_type"
    given = call.argument(1 if is_partial else 0, keyword)
    if given is not None and file.text[given.span].endswith(".type"):
        return _devices(file).get(call.span)
    return _constant(given)


def _constant(given: Argument | None) -> str | None:
    match given:
        case Argument(value=Constant(value=str(device))):
            return device.partition(":")[0]
    return None


@fact
def _devices(file: PythonFile) -> Mapping[Span, str]:
    """The device types of the autocast contexts that are given a `device.type`."""
    syntax = syntax_tree(file)
    found = {}
    for made in autocasts(syntax):
        match made.argument("device_type"):
            case ast.Attribute(value=ast.Name() as owner, attr="type"):
                device = _device_named(owner, syntax)
                if device is not None:
                    found[file.span_of(made.node)] = device
    return found


def _device_named(node: ast.Name, syntax: SyntaxTree) -> str | None:
    """The type of a `torch.device("cpu")` that a name holds."""
    match binding(node, syntax):
        case [ast.Call(func=function, args=[ast.Constant(value=str(device)), *_])] if (
            qualified(function, syntax.names) == "torch.device"
        ):
            return device.partition(":")[0]
    return None
