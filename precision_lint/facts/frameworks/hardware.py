"""The GPU of a run as a configuration of its own, which the tables see as the link `gpu`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.frameworks.table import Key, frameworks
from precision_lint.facts.hardware.gpus import Gpu, gpu
from precision_lint.facts.hardware.requests import requested_gpus
from precision_lint.facts.project.facts import Recording
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import ParsedConfig

_EMULATES_BFLOAT16 = (2, 3)
"""From this release of torch on `torch.cuda.is_bf16_supported()` is true wherever a bfloat16 tensor
can be made (pytorch/pytorch#115924); before, wherever the GPU computes in bfloat16."""

_NOTE = "the GPU of the run is named here"


@frozen(eq=False, slots=False)
class GpuSource:
    """What is written of a GPU. What the user's option says of it is written nowhere."""

    file: ParsedConfig
    span: Span
    values: Mapping[str, object]

    def get(self, name: str) -> Occurrence | None:
        return next(self.all(name), None)

    def all(self, name: str) -> Iterator[Occurrence]:
        if name in self.values:
            yield Occurrence(name, self.values[name], CodePlace(self.span, _NOTE), self.file)

    def may_define(self, key: Key) -> bool:
        return False


def gpu_of(reading: EffectiveConfig, project: Recording) -> EffectiveConfig | None:
    """The GPU that the program of a configuration runs on, if the user or a file names it."""
    one = frameworks()["gpu"]
    targeted = gpu(project.target_gpu)
    if targeted is not None:
        values = _values([targeted], project) | {"name": f"{targeted.name} (`target-gpu`)"}
        keys = {name: replace(one.keys[name], default=value) for name, value in values.items()}
        source = GpuSource(reading.file, reading.source.span, {})
        return EffectiveConfig(replace(one, keys={**one.keys, **keys}), source)
    request = requested_gpus(reading.file, reading.source.span)
    if request is None:
        return None
    values = _values(request.gpus, project)
    return EffectiveConfig(one, GpuSource(request.file, request.span, values))


def _values(gpus: Sequence[Gpu], project: Recording) -> dict[str, object]:
    """What is true of each of the GPUs."""
    found: dict[str, object] = {"name": " or ".join(one.name for one in gpus)}
    capabilities = [one.capability for one in gpus if one.capability is not None]
    if len(capabilities) == len(gpus):
        found["capability"] = max(capabilities)
    each: dict[str, set[object]] = {
        "bfloat16": {_bfloat16(one, project) for one in gpus},
        "float8": {one.float8 for one in gpus},
        "tf32": {one.tf32 for one in gpus},
    }
    return found | {name: values.pop() for name, values in each.items() if len(values) == 1}


def _bfloat16(one: Gpu, project: Recording) -> str:
    if one.bfloat16:
        return "native"
    release = project.release_of("torch")
    return "refused" if release and release < _EMULATES_BFLOAT16 else "emulated"
