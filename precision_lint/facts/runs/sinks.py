"""Where a program decides in which precision it runs, and what comes out in one of its runs.

These places are the sinks of settings: autocast regions, casts and loading of models, the switches
of TF32, and the calls of frameworks whose tables say which argument is a precision.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from precision_lint.facts.dtypes.sources import NETWORK_NAME
from precision_lint.facts.frameworks.precision import Part, chosen
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CallSource
from precision_lint.facts.frameworks.verdicts import verdicts_of
from precision_lint.facts.runs.calls import readings_of_calls
from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.facts.runs.evaluation import Evaluator
from precision_lint.facts.runs.program import Program
from precision_lint.facts.runs.reachable import may_run
from precision_lint.model.finding import Place
from precision_lint.model.precision import Precision, precision_of
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_MARKS = (
    b"autocast(", b".half()", b".bfloat16()", b"dtype=", b"allow_tf32", b"float32_matmul_precision",
    b".to(",
)  # fmt: skip
_CALLS = (
    "autocast", "half", "bfloat16", "to", "from_pretrained", "set_float32_matmul_precision",
    "set_default_dtype",
)  # fmt: skip
_CASTS: dict[str, Precision] = {"half": "fp16", "bfloat16": "bf16"}
_CPU: Precision = "bf16"
"""The dtype of autocast on the CPU where none is given; on CUDA it is float16."""
_MOST_FILES = 30
_MOST_SINKS = 200


@dataclass(frozen=True, slots=True)
class Sink:
    """A place that decides a precision, and the one that it gets in a run.

    It is None if only run time knows it.
    """

    part: Part
    place: Place
    shown: str
    """The source of the call, for a report."""
    precision: Precision | None
    refused: str = ""
    """Why the framework rejects what it is given, in its own words."""


def sinks(run: RunEnvironment) -> Iterator[Sink]:
    """The sinks of a program that one of its runs reaches."""
    yield from _of_frameworks(run)
    evaluator = Evaluator(run)
    for file, node in _places(run.program):
        if evaluator.reaches(node, file):
            yield from _of_torch(node, file, evaluator)


def _of_frameworks(run: RunEnvironment) -> Iterator[Sink]:
    """What the calls of frameworks get in a run."""
    for reading in readings_of_calls(run):
        source = reading.source
        assert isinstance(source, CallSource)
        place = source.code.text.place(source.call)
        why = next(_refused(reading, run), "")
        for one in chosen(reading):
            if one.written is not None:
                shown = f"{reading.framework.name}: {one.key}"
                yield Sink(one.part, place, shown, one.precision, why)


def _refused(reading: EffectiveConfig, run: RunEnvironment) -> Iterator[str]:
    for verdict in verdicts_of(reading, run.program.project):
        if verdict.conflict.verdict == "error":
            yield verdict.message()


# The places in torch's own terms


def _places(program: Program) -> Iterator[tuple[ParsedPython, ast.AST]]:
    """The calls and assignments of a program that may decide a precision."""
    files = program.project.config_files
    paths = files.once(("files with sinks", program.path), lambda: tuple(_paths(program)))
    count = 0
    for path in paths:
        file = program.project.module(path)
        for node in _candidates(file) if file is not None else ():
            if file is not None and count < _MOST_SINKS and may_run(node, file, program):
                count += 1
                yield file, node


def _paths(program: Program) -> Iterator[Path]:
    count = 0
    for path in program.project.program(program.path):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if b"torch" in content and any(mark in content for mark in _MARKS):
            count += 1
            if count > _MOST_FILES:
                return
            yield path


def _candidates(file: ParsedPython) -> Iterator[ast.AST]:
    syntax = syntax_tree(file)
    for name in _CALLS:
        yield from (call for call in syntax.calls(name) if _is_candidate(call, name, syntax.names))
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="allow_tf32")]):
                yield node


def _is_candidate(call: ast.Call, name: str, names: object) -> bool:
    match name:
        case "half" | "bfloat16":
            return not call.args and _is_network(call)
        case "to":
            return _is_network(call) and _dtype_of_cast(call) is not None
        case "from_pretrained":
            return _keyword(call, "torch_dtype") is not None or _keyword(call, "dtype") is not None
        case "set_float32_matmul_precision" | "set_default_dtype":
            return bool(call.args)
    return True


def _is_network(call: ast.Call) -> bool:
    """True for a method of what is named like a whole network."""
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = (dotted(call.func.value) or "").rpartition(".")[2]
    return NETWORK_NAME.search(owner) is not None


def _dtype_of_cast(call: ast.Call) -> ast.expr | None:
    """The argument of `.to` that is a dtype, by its name."""
    if (given := _keyword(call, "dtype")) is not None:
        return given
    for argument in call.args:
        name = last_name(argument)
        if "dtype" in name or precision_of(name) is not None:
            return argument
    return None


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _of_torch(node: ast.AST, file: ParsedPython, evaluator: Evaluator) -> Iterator[Sink]:
    place = file.text.place(file.span_of(node))  # type: ignore[arg-type]
    shown = " ".join(file.text[file.span_of(node)].split())  # type: ignore[arg-type]
    match node:
        case ast.Assign(value=value):
            known = evaluator.value(value, file)
            on: Precision | None = None
            if known is not None:
                on = "tf32" if known.value else "fp32"
            yield Sink("matmul", place, shown, on)
        case ast.Call():
            yield from _of_call(node, file, evaluator, place, shown)


def _of_call(
    call: ast.Call, file: ParsedPython, evaluator: Evaluator, place: Place, shown: str
) -> Iterator[Sink]:
    match last_name(call.func):
        case "autocast":
            if qualified(call.func, syntax_tree(file).names).startswith("torch."):
                yield Sink("compute", place, shown, _autocast(call, file, evaluator))
        case "half" | "bfloat16" as name:
            yield Sink("weights", place, shown, _CASTS[name])
        case "to":
            yield Sink("weights", place, shown, _value(_dtype_of_cast(call), file, evaluator))
        case "from_pretrained":
            given = _keyword(call, "torch_dtype") or _keyword(call, "dtype")
            yield Sink("weights", place, shown, _value(given, file, evaluator))
        case "set_default_dtype":
            yield Sink("weights", place, shown, _value(call.args[0], file, evaluator))
        case "set_float32_matmul_precision":
            known = evaluator.value(call.args[0], file)
            named = {"highest": "fp32", "high": "tf32", "medium": "tf32"}
            product = named.get(str(known.value)) if known is not None else None
            yield Sink("matmul", place, shown, product)  # type: ignore[arg-type]


def _value(node: ast.expr | None, file: ParsedPython, evaluator: Evaluator) -> Precision | None:
    known = evaluator.value(node, file) if node is not None else None
    return precision_of(known.value) if known is not None and known.is_plain else None


def _autocast(call: ast.Call, file: ParsedPython, evaluator: Evaluator) -> Precision | None:
    """The precision of an autocast region: float32 if it is off."""
    name = qualified(call.func, syntax_tree(file).names)
    order = ("device_type", "dtype", "enabled")
    if name.startswith(("torch.cuda.amp.", "torch.cpu.amp.")):
        order = ("enabled", "dtype")  # type: ignore[assignment]
    given = dict(zip(order, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if "enabled" in given:
        holds = evaluator.truth(given["enabled"], file)
        if holds is False:
            return "fp32"
        if holds is None:
            return None
    if "dtype" in given:
        return _value(given["dtype"], file, evaluator)
    device = evaluator.value(given["device_type"], file) if "device_type" in given else None
    is_cpu = name.startswith("torch.cpu.") or (device is not None and device.value == "cpu")
    return _CPU if is_cpu else "fp16"
