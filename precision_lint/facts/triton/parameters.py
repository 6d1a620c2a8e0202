"""What the parameters of a kernel are: by annotation, by launch, by default, by use."""

from __future__ import annotations

import ast
from typing import Literal

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.hosts.view import HostView
from precision_lint.facts.triton.launches import Launches
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.facts.triton.usage import Usage
from precision_lint.facts.triton.values import (
    COMPILE_TIME,
    Constant,
    Pointer,
    Provenance,
    Tensor,
    Value,
)
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

_COUNTS = regex(
    r"(?i)(?:^|_)(?:cu|count|end|id|idx|inds?|index|indice|indptr|len|length|loc|num|nnz|off|offset"
    r"|pos|position|seqlen|size|slot|start|step)(?:e?s)?(?=_|\d*$)"
)
"""Pointers that are called so hold integers, as a rule: `cu_seqlens`, `block_start_loc_ptr`."""

Kind = Literal["constexpr", "scalar", "pointer", "unknown"]


@frozen
class Parameter:
    """A parameter of a kernel.

    `annotation_at` is where an annotation can be inserted, None if there is one. It `is_boolean` if
    whatever launches or heuristics in the file pass for it is a bool.
    """

    name: str
    span: Span
    kind: Kind
    annotation_at: int | None
    is_boolean: bool

    @property
    def is_run_time_flag(self) -> bool:
        """True if a branch on it is a run-time branch only for want of an annotation."""
        return self.kind == "scalar" and self.annotation_at is not None


def describe(
    module: Module, function: JitFunction, hosts: HostView, launches: Launches, usage: Usage
) -> tuple[Parameter, ...]:
    """The parameters as facts."""
    found = []
    for argument in function.parameters:
        name_end = module.span(argument).start + len(argument.arg)
        is_bare = argument.annotation is None and argument.type_comment is None
        value = value_of(argument, function, launches, usage, "fp32")
        match value:
            case Constant():
                kind: Kind = "constexpr"
            case Pointer():
                kind = "pointer"
            case Tensor():
                kind = "scalar"
            case _:
                kind = "unknown"
        found.append(
            Parameter(
                argument.arg,
                module.span(argument),
                kind,
                name_end if is_bare else None,
                _is_boolean(argument.arg, function, hosts, launches),
            )
        )
    return tuple(found)


def _is_boolean(name: str, function: JitFunction, hosts: HostView, launches: Launches) -> bool:
    if name in function.heuristics:
        return hosts.is_boolean(function.heuristics[name])
    return launches.is_boolean(name)


def values_of(
    function: JitFunction, launches: Launches, usage: Usage, half: str
) -> dict[str, Value]:
    """The values of all parameters if every pointer that may be half points to `half`.

    Or to `anything`.
    """
    return {
        argument.arg: value_of(argument, function, launches, usage, half)
        for argument in function.parameters
    }


def value_of(
    argument: ast.arg, function: JitFunction, launches: Launches, usage: Usage, half: str
) -> Value:
    """The value of a parameter, as far as it is known."""
    name = argument.arg
    provenance = Provenance(name, frozenset({name}))
    if name in function.configured:
        return Constant(function.configured[name])
    if argument.annotation is not None:
        annotated = _annotated(argument.annotation, name)
        if annotated == COMPILE_TIME:
            constant = launches.constant(name, function.defaults.get(name))
            return _compile_time(launches.passed(name)) if constant is None else _known(constant)
        if annotated is not None:
            return annotated
    match launches.passed(name):
        case Pointer(elements=elements):
            return Pointer(elements, 0, name)
        case Tensor(dtypes=dtypes):
            return Tensor(dtypes, 0, provenance=provenance)
        case Constant() as constant:
            return constant
    if name in usage.pointers:
        return Pointer(_elements(name, usage, half), 0, name)
    return Tensor(_scalar(name, function, usage), 0, provenance=provenance)


def _known(constant: Constant) -> Constant:
    """A constant as Triton gets it, with its dtype as a tensor if it is a number."""
    match constant.value:
        case int() | float() as number if not isinstance(number, bool):
            return Constant(number, is_number=True, dtypes=types.of_number(number))
    return constant


def _compile_time(given: Value) -> Constant:
    """What is fixed at compile time, and what kind of number the launches pass for it."""
    match given:
        case Tensor(dtypes=dtypes):
            return Constant(is_number=True, dtypes=dtypes)
        case Constant(value=int() | float() as number):
            return Constant(is_number=True, dtypes=types.of_number(number))
    return COMPILE_TIME


def _annotated(annotation: ast.expr, name: str) -> Value | None:
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    if not isinstance(text, str):
        return None
    if "constexpr" in text:
        return Constant()
    dtype = types.BY_ANNOTATION.get(text.lstrip("*k").rpartition(".")[2])
    if dtype is None:
        return None
    if text.startswith("*"):
        return Pointer(frozenset({dtype}), 0, name)
    # `n: int` is as wide as its value; what `tl.int32` says is taken at its word.
    dtypes = types.INDEX if text == "int" else frozenset({dtype})
    return Tensor(dtypes, 0, provenance=Provenance(None, frozenset({name})))


def _elements(name: str, usage: Usage, half: str) -> types.Dtypes:
    if name in usage.integer_elements:
        return types.INTEGERS
    if name in usage.doubtful_elements or _COUNTS.search(name) or half == "anything":
        return types.ANY
    return frozenset({half})


def _scalar(name: str, function: JitFunction, usage: Usage) -> types.Dtypes:
    default = function.defaults.get(name)
    match default:
        case ast.Constant(value=bool()):
            return types.BOOL
        case ast.Constant(value=float()):
            return types.FLOAT32
    match name in usage.indices, name in usage.floats:
        case True, False:
            return types.INDEX
        case False, True:
            return types.FLOAT32
    return types.NUMBER
