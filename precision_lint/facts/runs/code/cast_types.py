"""What a value comes to at a place, in words: of a cast that a switch turns on, its type; of a call
that it turns on, the argument that is written out.
"""

from __future__ import annotations

import ast

from precision_lint.facts.runs.code.becoming import NOT_USED, Become, made_of
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.facts.runs.code.ways import cast_by
from precision_lint.facts.settings.vocabulary import names_precision
from precision_lint.model.dtypes import ALIASES
from precision_lint.source.python.syntax import dotted


def made_at(place: TorchPlace, become: Become) -> str:
    """What a place gets of a value, as people write it: `bfloat16` where a switch turns on
    `model.to(torch.bfloat16)`.
    """
    if become.value == NOT_USED and place.kind not in ("argument", "cast", "weights"):
        return "off"
    is_turned_on = become.value is True and not become.by
    return (type_of(place) or _argument(place) if is_turned_on else "") or made_of(become)


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
