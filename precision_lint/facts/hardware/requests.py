"""Where files name the GPU that a program runs on.

In scripts these are the directives of Slurm, PBS and LSF, and the options of `srun`; in YAML files
that describe jobs they are the node selectors, the accelerators and the machine types around the
script; in Python they are what Modal's functions and SageMaker's jobs ask for. A GPU that is only
one of several choices counts if all of them are known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from precision_lint.facts.hardware.gpus import Gpu, gpu, machine_gpu
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import (
    MAX_DEPTH,
    Mapping,
    Scalar,
    Sequence,
    Value,
)
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython

_SCHEDULED = regex(r"^[ \t]*#(?:SBATCH|PBS|BSUB|\$)[ \t](?P<options>[^\n]*)", re.MULTILINE)
_OPTIONS = (
    # Slurm: what names the GPU itself, then what the nodes are called
    regex(r"--gres(?:=|\s+)[\"']?(?:[\w/:]+,)*gpu:(?P<gpu>[A-Za-z][\w.-]*)"),
    regex(r"--gpus(?:-per-\w+)?(?:=|\s+)[\"']?(?P<gpu>[A-Za-z][\w.-]*)(?=:\d|\s|$)"),
    regex(r"(?:^|\s)-G\s*(?P<gpu>[A-Za-z][\w.-]*)(?=:\d|\s|$)"),
    # PBS, LSF, Grid Engine
    regex(r"\b(?:gpu_type|gpu_model|gputype|gmodel)=(?P<gpu>\w[\w.-]*)"),
    regex(r"(?:--constraint(?:=|\s+)|(?:^|\s)-C\s*)(?P<gpu>\"[^\"\n]+\"|'[^'\n]+'|\S+)"),
    regex(r"(?:--partition(?:=|\s+)|(?:^|\s)-p\s*)(?P<gpu>\"[^\"\n]+\"|'[^'\n]+'|\S+)"),
)
"""The options of a scheduler that can name a GPU, the clearest first."""

_MODELS = frozenset({
    "accelerators", "accelerator", "accelerator_type", "acceleratorType", "gpu", "gpu_type",
    "gpuType", "gpu_model", "gpus",
})  # fmt: skip
_MACHINES = frozenset({
    "instance_type", "instanceType", "InstanceType", "machine_type", "machineType", "vm_size",
    "vmSize",
})  # fmt: skip
_SECTIONS = frozenset({
    "resources", "compute", "machineSpec", "machine_spec", "any_of", "ordered", "policy",
})  # fmt: skip
_LABEL = regex(r"gpu|accelerator|instance-type|machine|vm-size")
_AMOUNT = regex(r"[\d.\s]*(?:[GM]i?B?)?", re.IGNORECASE)

_Choice: TypeAlias = "tuple[Gpu | None, Span]"
"""One of the GPUs that a run may get, None if it is not known, and where it is named."""


@frozen
class GpuRequest:
    """The GPUs of which a run gets one, and where that is written."""

    gpus: tuple[Gpu, ...]
    file: ParsedConfig
    span: Span


def requested_gpus(file: ParsedConfig, span: Span) -> GpuRequest | None:
    """What the program at a place of a file runs on; None if that is not said, or not known."""
    if file.python is not None:
        python = file.python
        return file.fact(requested_gpus, lambda: _of_choices(file, _in_calls(python)))
    if file.script is not None:
        text = (file.masked or file.text).text
        line = text[slice(*span)]
        if found := file.fact((_scheduled, span), lambda: _scheduled(file, ((line, span.start),))):
            return found
        if found := file.fact(requested_gpus, lambda: _scheduled(file, _directives(text))):
            return found
    whole = file
    while whole.script is not None and whole.around is not None:
        whole = whole.around
        if whole.script is not None and (found := requested_gpus(whole, span)):
            return found
    return _described(whole, span) if whole.format == "yaml" else None


def _directives(text: str) -> list[tuple[str, int]]:
    """The lines of a script that its scheduler reads, and where each begins."""
    return [(match["options"], match.start("options")) for match in _SCHEDULED.finditer(text)]


def _scheduled(file: ParsedConfig, lines: Iterable[tuple[str, int]]) -> GpuRequest | None:
    """What the options of a scheduler name; the last one of a kind counts."""
    lines = list(lines)
    for option in _OPTIONS:
        matches = [(match, at) for line, at in lines for match in option.finditer(line)]
        if matches:
            match, at = matches[-1]
            if gpus := _alternatives(match["gpu"].strip("\"'")):
                place = Span(at + match.start(), at + match.end())
                return GpuRequest(gpus, file, place)
    return None


def _alternatives(text: str) -> tuple[Gpu, ...]:
    """The GPUs of an expression of features such as `[v100|a100]`; empty if one is not known."""
    found = [gpu(part) for part in re.split(r"[|,]", text)]
    return tuple(dict.fromkeys(one for one in found if one)) if all(found) else ()


def _described(file: ParsedConfig, span: Span) -> GpuRequest | None:
    """What the mappings around a place say, the innermost first."""
    around = [one for document in file.documents for one in _around(document, span.start, 0)]
    for mapping in reversed(around):
        choices = list(_choices(mapping, 0))
        if choices:
            return _of_choices(file.home(mapping), choices)
    return None


def _of_choices(file: ParsedConfig, choices: Iterable[_Choice]) -> GpuRequest | None:
    """A request for one of several GPUs; None if there is none, or if one of them is not known."""
    choices = list(choices)
    if not choices or not all(one for one, _ in choices):
        return None
    known = tuple(dict.fromkeys(one for one, _ in choices if one))
    return GpuRequest(known, file, choices[0][1])


def _in_calls(python: ParsedPython) -> Iterator[_Choice]:
    """The GPUs that functions of Modal and jobs of SageMaker ask for by keyword."""
    for node in python.nodes:
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg not in ("gpu", "instance_type"):
                continue
            find = gpu if keyword.arg == "gpu" else machine_gpu
            for value in walk(keyword.value):
                match value:
                    case ast.Constant(value=str(text)) if not _AMOUNT.fullmatch(text):
                        yield find(text), python.span_of(value)


def _around(value: Value, offset: int, depth: int) -> Iterator[Mapping]:
    """The mappings that a place is in, the outermost first."""
    if depth > MAX_DEPTH or not value.span.start <= offset <= value.span.end:
        return
    match value:
        case Mapping(entries=entries):
            yield value
            for entry in entries:
                yield from _around(entry.value, offset, depth + 1)
        case Sequence(items=items):
            for item in items:
                yield from _around(item, offset, depth + 1)


def _choices(mapping: Mapping, depth: int) -> Iterator[_Choice]:
    """What a mapping says of the GPU, in itself and in its sections about machines."""
    if depth > MAX_DEPTH:
        return
    for entry in mapping.entries:
        value = entry.value
        match entry.name:
            case "nodeSelector" if isinstance(value, Mapping):
                for label in value.entries:
                    if label.name is not None and _LABEL.search(label.name.lower()):
                        yield from (one for one in _labeled(label.value) if one[0])
            case "affinity":
                yield from _required(value, depth)
            case "runs-on":
                yield from ((one, span) for text, span in _texts(value) if (one := gpu(text)))
            case name if name in _MODELS:
                yield from _models(value, is_map_of_models=name == "accelerators")
            case name if name in _MACHINES:
                yield from (
                    (one, span) for text, span in _texts(value) if (one := machine_gpu(text))
                )
            case name if name in _SECTIONS:
                for part in value.items if isinstance(value, Sequence) else (value,):
                    if isinstance(part, Mapping):
                        yield from _choices(part, depth + 1)


def _models(value: Value, *, is_map_of_models: bool) -> Iterator[_Choice]:
    """`V100:8`, a list of these, `{V100: 8}`, `{name: V100, count: 8}`; but not `8` or `24GB`."""
    if isinstance(value, Mapping):
        for entry in value.entries:
            if is_map_of_models and entry.name is not None:
                yield gpu(entry.name), entry.span
            elif entry.name in ("name", "type", "model"):
                yield from _models(entry.value, is_map_of_models=False)
        return
    for text, span in _texts(value):
        if not _AMOUNT.fullmatch(text):
            yield gpu(text), span


def _labeled(value: Value) -> Iterator[_Choice]:
    for text, span in _texts(value):
        yield gpu(text) or machine_gpu(text), span


def _required(value: Value, depth: int) -> Iterator[_Choice]:
    """The labels that an affinity requires: `{key: …, operator: In, values: […]}`."""
    if depth > MAX_DEPTH:
        return
    match value:
        case Mapping() as mapping:
            key, operator, values = (mapping.get(name) for name in ("key", "operator", "values"))
            if key and operator and values and operator.entry.scalar == "In":
                if _LABEL.search(str(key.entry.scalar).lower()):
                    yield from _labeled(values.entry.value)
                return
            for entry in mapping.entries:
                if entry.name is None or not entry.name.startswith("preferred"):
                    yield from _required(entry.value, depth + 1)
        case Sequence(items=items):
            for item in items:
                yield from _required(item, depth + 1)


def _texts(value: Value) -> Iterator[tuple[str, Span]]:
    """The text that a value is, or those that are in a list."""
    match value:
        case Scalar(span=span, value=str(text)):
            yield text, span
        case Sequence(items=items):
            for item in items:
                if isinstance(item, Scalar) and isinstance(item.value, str):
                    yield item.value, item.span
