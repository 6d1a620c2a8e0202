"""What a value comes to at a place, in words: of a cast, of weights or of a region of autocast that
a switch turns on, the type; of a call that it turns on, the argument that is written out.
"""

from __future__ import annotations

import ast

from precision_lint.facts.runs.code.becoming import NOT_USED, Become, made_of
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.facts.runs.code.ways import cast_by
from precision_lint.facts.settings.vocabulary import names_precision
from precision_lint.model.dtypes import ALIASES
from precision_lint.source.python.syntax import dotted


def made_at(place: TorchPlace, become: Become, is_only: bool = True) -> str:
    """What a place gets of a value, as people write it: `bfloat16` where a switch turns on
    `model.to(torch.bfloat16)`. If it is not the only region that may be meant, others may have
    other types.
    """
    if become.value == NOT_USED and place.kind not in ("argument", "cast", "weights"):
        return "off"
    if become.value is not True:
        return made_of(become)
    if become.by:
        region = _region(place) if is_only else ""
        return f"{region} if {become.by}" if region else made_of(become)
    return turned_on(place, is_only) or made_of(become)


def turned_on(place: TorchPlace, is_only: bool = True) -> str:
    """What a place says itself, which a switch turns on; empty if it says nothing."""
    return type_of(place) or _argument(place) or (_region(place) if is_only else "")


def _region(place: TorchPlace) -> str:
    """The type of weights or a region that is written out, or that is the only default."""
    if place.kind not in ("autocast", "weights") or place.is_hidden:
        return ""
    name = (dotted(place.dtype) or "") if place.dtype is not None else f"torch.{place.plain or ''}"
    root, _, kind = name.rpartition(".")
    return ALIASES.get(kind, "") if root == "torch" else ""


def _argument(place: TorchPlace) -> str:
    """The text that an argument has: `16-mixed` of `MixedPrecision(precision="16-mixed")`."""
    match place.dtype:
        case ast.Constant(value=str(text)) if place.kind == "argument":
            return text
    return ""


def type_of(place: TorchPlace) -> str:
    """The type of a cast that is written out; empty for any other place."""
    match place.node:
        case ast.Call(func=ast.Attribute(attr=method), args=[], keywords=[]) if cast_by(method):
            return cast_by(method) if place.kind == "cast" else ""
        case ast.Call(func=ast.Attribute(attr="to"), args=args, keywords=keywords):
            given = [*args, *(each.value for each in keywords if each.arg == "dtype")]
            names = ((dotted(each) or "").split(".") for each in given)
            types = (name[-1] for name in names if name[0] == "torch" and names_precision(name[-1]))
            found = next(types, "") if place.kind == "cast" else ""
            return ALIASES.get(found, found)
    return ""
