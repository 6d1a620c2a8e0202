"""What a run changes whose model is loaded in half precision: `from_pretrained(dtype=…)`.

All parameters have the dtype of the load, those that are made as float32 included, but for those
that the code casts, and those that the class keeps in float32. What becomes of buffers and of
tensors that are no parameters depends on the release of the library, so nothing is known of them.
Where a function is looked up, the one that is given as the default runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.containers import in_containers
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    FunctionValue,
    Instance,
    Model,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.facts.dtypes.operators.promotion import COMPLEX
from precision_lint.facts.dtypes.syntax.definitions import Class, Module
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import FLOAT16, FLOAT32
from precision_lint.model.finding import Span
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.text.text import SourceText

FIXED = frozenset({FLOAT16, FLOAT32, "float64"})
"""The dtypes that weights of bfloat16 do not agree with."""
_WIDE = FIXED - {FLOAT16}
_KEPT = frozenset({"_keep_in_fp32_modules", "_keep_in_fp32_modules_strict"})
"""What classes of transformers and diffusers call the modules that stay in float32."""
_OPEN = Tensor(caller_chosen=True, may_be_other=True)


class _Classes(Protocol):
    def bases(self, definition: Class) -> list[Class]: ...

    def is_module(self, definition: Class) -> bool: ...


def held(classes: _Classes, definition: Class, name: str, made: Value, weights: Tensor) -> Value:
    """What an attribute of a module holds after the weights are loaded."""
    bases = classes.bases(definition)
    if any(name in _kept_wide(each.module) for each in bases):
        weights = _OPEN
    is_parameter = any(name in each.parameters_made for each in bases)

    def loaded(value: Value) -> Value:
        match value:
            case Model(parameters=parameters, cast=cast):
                is_own = cast is not None or parameters.is_open
                return replace(value, parameters=_OPEN if is_own else weights)
            case Instance(definition=of, parameters=parameters) if classes.is_module(of):
                is_own = parameters is not None and parameters.origin is not None
                return replace(value, parameters=_OPEN if is_own else weights)
            case Tensor():
                return replace(weights if is_parameter else _OPEN, scalar=value.scalar)
        return in_containers(loaded, value)

    return loaded(reading(made))


def looked_up(node: ast.Call, given: CallSite, otherwise: Value) -> Value:
    """The function that a look-up is given as its default: `REGISTRY.get(name, function)`."""
    default = reading(given.arguments[1].value) if len(given.arguments) == 2 else UNKNOWN
    is_look_up = isinstance(node.func, ast.Attribute) and callee_name(node).startswith("get")
    return default if is_look_up and isinstance(default, FunctionValue) else otherwise


def is_fixed(tensor: Tensor) -> bool:
    """True for a tensor whose dtype the code decides: the weights have no part in it."""
    return tensor.must_be(FIXED | COMPLEX) and bool(tensor.dtypes & {FLOAT16, FLOAT32})


def kept_wide(left: Value, right: Value, value: Value) -> Value:
    """What an operator gives of float32 and a number that is not known: float32, no complex."""
    for one in (left, right):
        if isinstance(one, Tensor) and one.scalar is False and one.must_be(_WIDE | COMPLEX):
            return replace(one, dtypes=one.dtypes - COMPLEX)
    return value


def returned(value: Value, source: SourceText, span: Span) -> Value:
    """What a function returns: of a dtype that it decides, the way begins or goes on here."""
    match value:
        case Tensor(origin=origin) if is_fixed(value):
            dtype = min(value.dtypes & {FLOAT16, FLOAT32})
            place = Origin(source, span, f"{dtype} is returned here")
            is_known = origin is not None and origin.kind == "dtype"
            return replace(value, origin=origin.through(place) if origin and is_known else place)
        case Sequence(items=tuple(items)):
            return Sequence(value.item, tuple(returned(one, source, span) for one in items))
    return value


def _kept_wide(module: Module) -> frozenset[str]:
    """The names of modules that the classes of a file keep in float32."""
    return module.fact(_kept_wide, lambda: frozenset(_names_kept(module)))


def _names_kept(module: Module) -> Iterator[str]:
    for node in module.file.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in _KEPT:
                for each in walk(value):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield each.value.rpartition(".")[2]
