"""What certainly raises when a file is run as a program, because of the dtypes that it gives."""

from __future__ import annotations

import re

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Model, Tensor, Value
from precision_lint.facts.dtypes.interpreter.models import OF_THE_OUTPUT
from precision_lint.facts.dtypes.operators.agreement import IN_C, disagreement
from precision_lint.facts.dtypes.operators.collectives import refused
from precision_lint.facts.dtypes.operators.lacking import lacking
from precision_lint.facts.dtypes.operators.module_inputs import REJECTED, rejected
from precision_lint.facts.dtypes.operators.operands import operand, tensor_given, text_of
from precision_lint.facts.dtypes.operators.rejections import callee_text, is_shared_module
from precision_lint.facts.numerics.casts_in_place import casts_in_place
from precision_lint.facts.numerics.fills import FILLS, fill_of
from precision_lint.facts.numerics.keeping import functions_keeping
from precision_lint.facts.numerics.program import ARITHMETIC, calls_of_program
from precision_lint.facts.numerics.refused_arrays import refused_certainly
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import FLOAT32, FLOATING
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex

_CASTING = regex(
    r"\b(?:deepspeed|accelerate|apex|fabric|colossalai|set_default_\w+)\b"
    r"|\.(?:modules|named_modules|children|named_children|apply|_apply|\w*quantize\w*)\(",
    re.IGNORECASE,
)
"""Libraries and methods that cast the modules which they are given, and visits of their layers."""

_OF_AN_OBJECT = regex(r"\bhasattr\(|\.\w+ is (?:not )?None\b")
"""Conditions that objects decide, whatever the program does: a layer with a bias, or without."""

_WRITES = {"__setitem__": "an indexed write", "__setattr__": "an assignment of a gradient"}
"""What the statements are that these operators stand for."""


@frozen
class ProgramError:
    """A call that raises: what is wrong with it, the error, where the dtypes come from."""

    call: Call
    problem: str
    dtypes: tuple[str, ...]
    error: str
    origins: tuple[Origin, ...]


@fact
def program_errors(file: PythonFile) -> tuple[ProgramError, ...]:
    """The first call that raises of each statement that starts something, in their order."""
    found: dict[Span, ProgramError] = {}
    for call in calls_of_program(file):
        if any(_OF_AN_OBJECT.search(file.text[guard.span]) for guard in call.guards):
            continue
        start = call.way[0].span if call.way else call.span
        if start not in found and (error := _error(call, file)) is not None:
            found[start] = error
    by_place = {each.call.span: each for each in reversed(found.values())}
    return tuple(by_place[span] for span in sorted(by_place))


def _error(call: Call, file: PythonFile) -> ProgramError | None:
    if isinstance(call.called, Model):
        return _of_layer(call, call.called, file)
    if call.name in ARITHMETIC:
        return _of_float8(call, file)
    return (
        _of_operands(call, file)
        or _without_kernel(call, file)
        or _out_of_range(call, file)
        or _of_collective(call, file)
        or _of_library(call, file)
    )


def _of_layer(call: Call, layer: Model, file: PythonFile) -> ProgramError | None:
    given = call.argument(0, "input")
    if given is None or not isinstance(given.value, Tensor):
        return None
    name = callee_text(call, file) or call.name
    first = text_of(given, file, "its input")
    if layer.name == "Embedding":
        if not given.value.must_be(FLOATING):
            return None
        dtype = min(given.value.dtypes)
        problem = f"`{name}` takes integers, and {first} is {dtype}"
        error = "RuntimeError: Expected tensor for argument #1 'indices' to have one of the "
        error += "following scalar types: Long, Int"
        return ProgramError(call, problem, (dtype,), error, _origins(given.value))
    dtypes = None if call.autocast is not None else rejected(layer, given.value)
    if dtypes is None or _may_be_cast(call, file, given.value, layer.parameters):
        return None
    if _is_as_made(layer.parameters) and _is_cast_in_place(call, file):
        return None
    problem = f"`{name}` raises: {first} is {dtypes[0]}, and the weights are {dtypes[1]}"
    return ProgramError(call, problem, dtypes, REJECTED, _origins(given.value, layer.parameters))


def _may_be_cast(call: Call, file: PythonFile, *sides: Value) -> bool:
    """True if code that is not followed may cast what one side gets its dtype from.

    That is a layer or a model that is made in float32: nobody chooses its dtype.
    """
    if not any(map(_is_as_made, sides)):
        return False
    is_visited = any(map(_CASTING.search, _sources(call, file)))
    return is_visited or is_shared_module(call, file, functions_keeping(file))


def _is_cast_in_place(call: Call, file: PythonFile) -> bool:
    """True if a file that leads to a call casts a module, which other names may hold."""
    paths = dict.fromkeys(site.source.path for site in call.way if site.source != file.text)
    modules = (file, *map(file.project.module, paths))
    return any(each is None or casts_in_place(each) for each in modules)


def _sources(call: Call, file: PythonFile) -> list[str]:
    """The texts of the files that lead to a call."""
    sources = {file.text.path: file.text, **{site.source.path: site.source for site in call.way}}
    return [source.text for source in sources.values()]


def _is_as_made(value: Value) -> bool:
    if not isinstance(value, Tensor) or FLOAT32 not in value.dtypes:
        return False
    return value.origin is None or value.origin.text == OF_THE_OUTPUT


def _of_operands(call: Call, file: PythonFile) -> ProgramError | None:
    found = disagreement(call)
    if found is None or not found.is_proved or found.may_be_scalar:
        return None
    if found.operator == "__setattr__" and "grad_dtype" in file.text.text:
        return None  # it chooses the dtype of gradients
    one, other = found.first, found.second
    if _may_be_cast(call, file, one.tensor, other.tensor):
        return None
    first = text_of(one.argument, file, "one operand")
    second = text_of(other.argument, file, "another")
    name = _WRITES.get(found.operator, f"`{found.operator}`")
    problem = f"{name} raises: {first} is {found.dtypes[0]}, and {second} is {found.dtypes[1]}"
    origins = _origins(one.tensor, other.tensor)
    return ProgramError(call, problem, found.dtypes, found.error, origins)


def _of_float8(call: Call, file: PythonFile) -> ProgramError | None:
    """Arithmetic on float8 and another dtype: float8 is promoted to none (torch 2.1 to 2.13)."""
    given = [operand(call, *place) for place in ((0, "input"), (1, "other"))]
    operands = [one for one in given if one is not None and _is_dimensioned(one.value)]
    dtypes = [min(one.dtypes) for one in map(tensor_given, operands) if one is not None]
    if len({*dtypes}) < 2 or not any(dtype.startswith("float8_") for dtype in dtypes):
        return None
    sides = zip(operands, dtypes, strict=True)
    are = ", and ".join(f"{text_of(one, file, 'an operand')} is {dtype}" for one, dtype in sides)
    error = "RuntimeError: Promotion for Float8 Types is not supported"
    origins = _origins(*(one.value for one in operands))
    return ProgramError(call, f"arithmetic raises: {are}", tuple(dtypes), error, origins)


def _of_library(call: Call, file: PythonFile) -> ProgramError | None:
    """A function of another library that refuses an array or a scalar of NumPy."""
    found = refused_certainly(call, file)
    if found is None:
        return None
    what = text_of(found.argument, file, "what it is given")
    kind = f"{found.dtype} scalar" if found.is_scalar else f"{found.dtype} array"
    problem = f"`{call.name}` raises: {what} {'holds' if found.is_inside else 'is'} a {kind}"
    return ProgramError(call, problem, (found.dtype,), found.error, ())


def _is_dimensioned(value: Value) -> bool:
    """True for a tensor with dimensions whose dtype is certain."""
    return (
        isinstance(value, Tensor)
        and len(value.dtypes) == 1
        and not value.is_open
        and value.scalar is False
    )


def _without_kernel(call: Call, file: PythonFile) -> ProgramError | None:
    found = lacking(call, file)
    if found is None or not found.is_proved:
        return None
    dtype = min(found.errors)
    first = text_of(found.operands[0], file, "its operand")
    problem = f"`{found.operator}` has no {dtype} kernel, and {first} is {dtype}"
    return ProgramError(call, problem, (dtype,), found.errors[dtype], _origins(*found.tensors))


def _out_of_range(call: Call, file: PythonFile) -> ProgramError | None:
    fill = fill_of(call, file) if call.name in FILLS else None
    if fill is None or not (fill.is_certain and fill.raises):
        return None
    number = text_of(fill.number, file, "the number")
    problem = f"{number} is out of the range of {fill.dtype}, which the tensor has"
    error = f"RuntimeError: value cannot be converted to type {IN_C[fill.dtype]} without overflow"
    return ProgramError(call, problem, (fill.dtype,), error, (fill.origin,))


def _of_collective(call: Call, file: PythonFile) -> ProgramError | None:
    found = refused(call, file)
    if found is None or _may_be_cast(call, file, *found.tensors):
        return None
    dtypes = tuple(min(one.dtypes) for one in found.tensors)
    return ProgramError(call, found.problem, dtypes, found.error, _origins(*found.tensors))


def _origins(*values: Value) -> tuple[Origin, ...]:
    found = (value.origin for value in values if isinstance(value, Tensor))
    return tuple(dict.fromkeys(origin for origin in found if origin is not None))
