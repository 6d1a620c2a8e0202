"""Calls of the AMP API with arguments that its classes and decorators do not take.

`torch.cuda.amp.autocast(enabled, dtype, cache_enabled)` and
`torch.autocast(device_type, dtype, enabled, cache_enabled)` have one name and two signatures, and
so have the scalers and the decorators. The signatures were read with torch 2.13; those of the
classes for one device are the same in every release that has them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum, auto

from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Reference, scopes_in


@frozen
class Signature:
    """The parameters of a callable: `positional` ones may be given by keyword as well."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...] = ()
    required: str = ""
    first: type = object
    """The type of the first parameter: `bool`, `float` or `str`; `object` where it is any."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.positional, *self.keyword_only))


_REGION = ("dtype", "enabled", "cache_enabled")
_SCALE = ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled")

_AUTOCAST = Signature(("device_type", *_REGION), required="device_type", first=str)
_OLD_AUTOCAST = Signature(("enabled", "dtype", "cache_enabled"), first=bool)
_SCALER = Signature(("device", *_SCALE), first=str)
_OLD_SCALER = Signature(_SCALE, first=float)

SIGNATURES = {
    "torch.autocast": _AUTOCAST,
    "torch.amp.autocast": _AUTOCAST,
    "torch.amp.autocast_mode.autocast": _AUTOCAST,
    "torch.amp.GradScaler": _SCALER,
    "torch.amp.grad_scaler.GradScaler": _SCALER,
    "torch.amp.custom_fwd": Signature(("fwd",), ("device_type", "cast_inputs"), "device_type"),
    "torch.amp.custom_bwd": Signature(("bwd",), ("device_type",), "device_type"),
    "torch.cuda.amp.custom_fwd": Signature(("fwd",), ("cast_inputs",)),
    "torch.cuda.amp.custom_bwd": Signature(("bwd",)),
    **{
        f"torch.{device}.amp.{module}{name}": signature
        for device in ("cuda", "cpu")
        for name, at, signature in (
            ("autocast", "autocast_mode.", _OLD_AUTOCAST),
            ("GradScaler", "grad_scaler.", _OLD_SCALER),
        )
        for module in ("", at)
    },
}
"""What each qualified name takes."""


class Mismatch(Enum):
    """What is wrong with the arguments of a call."""

    UNEXPECTED = auto()  # a keyword that is no parameter
    MISSING = auto()  # a parameter without a default
    TOO_MANY = auto()  # more positional arguments than parameters
    KIND = auto()  # a first argument of another type


@frozen
class WrongCall:
    """A call, or a decorator without parentheses, that does not fit its signature.

    `argument` is the parameter that is meant, and `given` the argument at fault.
    """

    reference: Reference
    qualified: str
    mismatch: Mismatch
    argument: str
    given: ast.expr | ast.keyword | None
    call: ast.Call | None
    """None for a bare decorator."""

    @property
    def signature(self) -> Signature:
        return SIGNATURES[self.qualified]


def wrong_calls(file: ParsedPython) -> Iterator[WrongCall]:
    """The calls of the AMP API in a file that do not fit their signatures, in source order."""
    for reference in scopes_in(file).references:
        name = reference.qualified
        if name not in SIGNATURES:
            continue
        at = reference.at
        match at.node:
            case ast.Call(func=func) as call if func is reference.node:
                yield from _checked(call, reference, name)
            case ast.FunctionDef(decorator_list=decorators) if (
                SIGNATURES[name].required and reference.node in decorators
            ):
                required = SIGNATURES[name].required
                yield WrongCall(reference, name, Mismatch.MISSING, required, None, None)


def _checked(call: ast.Call, reference: Reference, name: str) -> Iterator[WrongCall]:
    signature = SIGNATURES[name]
    by_keyword = {each.arg for each in call.keywords}
    if any(isinstance(given, ast.Starred) for given in call.args):
        return
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg not in signature.names:
            yield WrongCall(reference, name, Mismatch.UNEXPECTED, keyword.arg, keyword, call)
            return
    if len(call.args) > len(signature.positional):
        extra = call.args[len(signature.positional)]
        yield WrongCall(reference, name, Mismatch.TOO_MANY, "", extra, call)
        return
    required = signature.required
    given = {*by_keyword, *signature.positional[: len(call.args)]}
    if required and None not in by_keyword and required not in given:
        yield WrongCall(reference, name, Mismatch.MISSING, required, None, call)
        return
    if call.args and not _fits(call.args[0], signature.first):
        first = signature.positional[0]
        yield WrongCall(reference, name, Mismatch.KIND, first, call.args[0], call)


def _fits(node: ast.expr, wanted: type) -> bool:
    """False for an expression whose type is certain to be another one."""
    kind = _type(node)
    return kind is None or wanted is object or kind is wanted


def _type(node: ast.expr) -> type | None:
    """`str`, `bool`, `float` for any number, `object` for others; None if that is not certain."""
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return bool
        case ast.Constant(value=int() | float()):
            return float
        case ast.BinOp(left=left, right=right) if _type(left) is float is _type(right):
            return float
        case ast.Constant(value=str()) | ast.JoinedStr():
            return str
        case ast.Constant():
            return object
    return None
