"""Calls of modules that raise because of the dtype of their input, as rules see them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call, Rejection
from precision_lint.facts.dtypes.domain.values import Instance, Model, Tensor
from precision_lint.facts.dtypes.operators.agreement import MEASURED
from precision_lint.facts.dtypes.operators.module_inputs import rejected
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import FLOAT32
from precision_lint.model.finding import Related
from precision_lint.model.regex import regex

_CALLEE = regex(r"[A-Za-z_][\w.]*(?=\s*\()")
_VISITING = r"(?:modules|named_modules|children|named_children|apply|register_\w+hook\w*)\("
HARMLESS = frozenset({"print", "len", "isinstance", "type", "repr", "id", "compile"})
"""Functions that leave a module as it is."""


def rejections(call: Call, file: PythonFile) -> tuple[Rejection, ...]:
    """The layers that a call certainly runs and that reject what they are given."""
    if call.rejections or not call.arguments:
        return call.rejections
    dtypes = rejected(call.called, call.arguments[0].value)
    if dtypes is None:
        return ()
    origin = Origin(file.text, call.span, "the layer is called here")
    return (Rejection(origin, *dtypes),)


def may_reject(call: Call) -> bool:
    """True if the body of a call knows a dtype of what the module is given, or of its weights.

    float32 is what weights have that nobody casts.
    """
    match call.called:
        case Model(parameters=Tensor() as weights) | Instance(parameters=Tensor() as weights):
            if weights.dtypes - {FLOAT32}:
                return True
    first = call.arguments[0].value if call.arguments else None
    return isinstance(first, Tensor) and bool(first.dtypes) and first.dtypes <= MEASURED


def callee_text(call: Call, file: PythonFile) -> str:
    """The name that a module is called by; empty for other expressions."""
    found = _CALLEE.match(file.text.text, call.span.start)
    return "" if found is None else found[0]


def is_shared_module(call: Call, file: PythonFile, followed: frozenset[str] = frozenset()) -> bool:
    """True if code that is not followed gets the module: it may cast some of its layers.

    Of functions that are `followed` it is known which modules they cast.
    """
    name = callee_text(call, file)
    if not name:
        return False
    text = file.text.text
    if re.search(rf"(?<![\w.]){re.escape(name)}\.{_VISITING}", text):
        return True
    given = re.compile(rf"(\w+)\((?:[^()\n]*[,(\s])?{re.escape(name)}\s*[,)]")
    return any(found[1] not in HARMLESS | followed for found in given.finditer(text))


def origins(call: Call) -> Iterator[Related]:
    """Where the weights and the inputs of a module get their dtypes."""
    weights = call.called.parameters if isinstance(call.called, Model | Instance) else None
    for value in (weights, *(each.value for each in call.arguments)):
        if isinstance(value, Tensor) and value.origin is not None:
            yield value.origin.related
