"""Collectives of `torch.distributed` that refuse the dtypes of what they are given."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Sequence, Tensor
from precision_lint.source.python.syntax_tree import syntax_tree

_DISTRIBUTED = "torch.distributed."
_SIDES: Mapping[str, tuple[str, str]] = {
    "all_gather": ("tensor_list", "tensor"),
    "gather": ("tensor", "gather_list"),
    "scatter": ("tensor", "scatter_list"),
    "reduce_scatter": ("output", "input_list"),
    "all_to_all": ("output_tensor_list", "input_tensor_list"),
    "all_to_all_single": ("output", "input"),
}
"""The two arguments that need one dtype, by the name of the collective."""

_IN_AUTOGRAD = "torch.distributed.nn."
_RETURNING = frozenset({"all_gather", "gather", "scatter"})
"""Those that autograd records have one side: they return the other one (torch 2.13)."""

_OF_ONE = frozenset({"all_reduce", "reduce", "broadcast"})
COLLECTIVES = _OF_ONE | frozenset(_SIDES)


class Refused(NamedTuple):
    """What is wrong with a call, what it raises, and the tensors that show it."""

    problem: str
    error: str
    tensors: tuple[Tensor, ...]


def may_be_refused(function: str, file: PythonFile) -> bool:
    """True for a collective by its qualified name, if the backend of the file may refuse it."""
    if not function.startswith(_DISTRIBUTED):
        return False
    name = function.rpartition(".")[2]
    if name in _OF_ONE:
        return _is_gloo(file)
    return not (function.startswith(_IN_AUTOGRAD) and name in _RETURNING)


def refused(call: Call, file: PythonFile) -> Refused | None:
    """What is wrong with the dtypes that a collective certainly gets."""
    if call.name not in COLLECTIVES or not may_be_refused(call.function or "", file):
        return None
    return _of_two_sides(call) if call.name in _SIDES else _of_float8(call)


def _of_two_sides(call: Call) -> Refused | None:
    sides = enumerate(_SIDES[call.name])
    one, other = (_decided(call.argument(place, name)) for place, name in sides)
    if one is None or other is None or one.dtypes == other.dtypes:
        return None
    (first,), (second,) = one.dtypes, other.dtypes
    return Refused(
        f"`{call.name}` needs tensors of one dtype, but gets {first} and {second}",
        "ValueError: Invalid usage of tensors with different dtypes.",
        (one, other),
    )


def _of_float8(call: Call) -> Refused | None:
    given = _decided(call.argument(0, "tensor"))
    if given is None or not any(dtype.startswith("float8") for dtype in given.dtypes):
        return None
    dtype = next(iter(given.dtypes))
    problem = f"`{call.name}` of gloo does not support {dtype}"
    return Refused(problem, "RuntimeError: Invalid scalar type", (given,))


def _decided(argument: Argument | None) -> Tensor | None:
    """The tensor that is given, or one of a list, if it certainly has one dtype."""
    value = None if argument is None else argument.value
    if isinstance(value, Sequence):
        value = value.item
    if not isinstance(value, Tensor) or value.is_open or value.clauses:
        return None
    return value if len(value.dtypes) == 1 else None


def _is_gloo(file: PythonFile) -> bool:
    """True if the file opens its process groups with gloo, and with nothing else."""
    opened = syntax_tree(file).calls("init_process_group")
    named = [
        value.value
        for call in opened
        for value in (
            *call.args[:1],
            *(each.value for each in call.keywords if each.arg == "backend"),
        )
        if isinstance(value, ast.Constant)
    ]
    return bool(opened) and named == ["gloo"] * len(opened)
