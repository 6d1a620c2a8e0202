"""Files of weights that a program writes in bfloat16, and then reads as arrays of NumPy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Constant, Dictionary, Model, Tensor
from precision_lint.facts.dtypes.operators.operands import may_fail_on_purpose
from precision_lint.facts.dtypes.operators.sinks import LACKING, tensors
from precision_lint.facts.numerics.program import calls_of_program
from precision_lint.model.dtypes import BFLOAT16
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax_tree import syntax_tree

_SAVING = frozenset({"safetensors.torch.save_file", "safetensors.torch.save_model"})
_LOADING = "safetensors.numpy.load_file"
_OPENING = frozenset({"safetensors.safe_open", "safetensors.torch.safe_open"})
_NUMPY = (Constant("np"), Constant("numpy"))
_READING = frozenset({"get_tensor", "get_slice"})


@frozen
class NumPyRead:
    """A call that reads a file as arrays of NumPy, and the one that wrote bfloat16 into it."""

    call: Call
    saved: Call
    path: str
    dtype: str


@fact
def numpy_reads(file: PythonFile) -> tuple[NumPyRead, ...]:
    """The reads that certainly raise where the file runs as a program."""
    saved: dict[str, list[Call]] = {}
    found: list[NumPyRead] = []
    for call in calls_of_program(file):
        if call.function in _SAVING and (path := _path(call, 1, "filename")) is not None:
            saved.setdefault(path, []).append(call)
        elif _reads_arrays(call, file) and not may_fail_on_purpose(call, file):
            path = _path(call, 0, "filename")
            before = saved.get(path or "", [])
            dtypes = [_dtype(each) for each in before]
            is_certain = all(dtypes) and any(not _is_conditional(each, file) for each in before)
            if path is not None and before and is_certain:
                found.append(NumPyRead(call, before[-1], path, dtypes[-1] or BFLOAT16))
    by_place = {each.call.span: each for each in reversed(found)}
    return tuple(
        by_place[span]
        for span in sorted(by_place)
        if all(_dtype(each) is not None for each in saved[by_place[span].path])
    )


def _path(call: Call, position: int, keyword: str) -> str | None:
    match call.value(position, keyword):
        case Constant(value=str(path)):
            return path
    return None


def _dtype(call: Call) -> str | None:
    """The dtype that NumPy lacks and that all the weights have which a call writes."""
    match call.arguments[0].value if call.arguments else None:
        case Dictionary() as weights:
            every = list(tensors(weights))
        case Model(parameters=parameters):
            every = [parameters]
        case _:
            return None
    is_lacking = bool(every) and all(_is_lacking(each) for each in every)
    return min(every[0].dtypes) if is_lacking else None


def _is_lacking(weight: Tensor) -> bool:
    return weight.must_be(LACKING)


def _is_conditional(call: Call, file: PythonFile) -> bool:
    """True if a program may not come to a call: it, or one that leads to it, is in an `if`."""
    guards = (*call.guards, *(guard for place in call.way for guard in place.guards))
    return any("__name__" not in file.text[guard.span] for guard in guards)


def _reads_arrays(call: Call, file: PythonFile) -> bool:
    if call.function == _LOADING:
        return True
    is_opened = call.function in _OPENING and call.value(1, "framework") in _NUMPY
    return is_opened and any(_reads_of(call, file))


def _reads_of(call: Call, file: PythonFile) -> Iterator[bool]:
    """Whether `with safe_open(…) as f:` reads tensors of `f`."""
    node = file.node_at(call.span)
    syntax = syntax_tree(file)
    item = None if node is None else syntax.parent(node)
    match item:
        case ast.withitem(optional_vars=ast.Name(id=name)):
            opened = syntax.parent(item)
            for inner in walk(opened) if opened is not None else ():
                match inner:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)):
                        yield owner == name and method in _READING
