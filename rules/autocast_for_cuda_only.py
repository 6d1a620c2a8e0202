"""An autocast region that names CUDA, in a program that offers other devices.

## What it does
Finds `torch.autocast("cuda", …)` and `torch.cuda.amp.autocast(…)` in a program that shows that it
runs on other devices: another function of the file creates a region for the device at hand
(`x.device.type`), or code of the program chooses `"mps"`, `"xpu"`, `"npu"` or `"hpu"` as a device.
A region that turns autocast off is reported only if a file that uses this one has a region for any
device. Also finds a device type that depends on `torch.cuda.is_available()` in a class or function
that uses a device which its user chooses (`self.device`, `args.device`), unless the region is in
float16, which is not meant for the CPU; and `"cuda" if device == "cuda" else "cpu"`, where the file
chooses `"mps"` or another accelerator for this device, unless the pinned torch is older than 2.5,
whose autocast knows no MPS.

Confidence is low, so that the finding is hidden by default, unless the region has to work there:
its file has regions for any device, other than the one that Accelerate finds, it keeps a part of
a module in float32 in a program that chooses another device by its name, or it takes such a device
for the CPU.

Not reported: regions around nothing that autocast runs in half precision (a mean, a division),
regions under a condition on the device, also in `enabled=`, and files that call
`.cuda()` or need CUDA in another way. The CPU does not count as another device: it is rarely meant
for more than a try.

## Why it hurts
There is no error. Without CUDA, torch warns
`UserWarning: CUDA is not available or torch_xla is imported. Disabling autocast.` and the region
does nothing: the code runs in the dtype of its tensors. A region with `dtype=torch.float32` or
`enabled=False`, which is there to keep a part of the model in float32, keeps nothing. On the CPU,
`torch.autocast("cpu", dtype=torch.bfloat16)` around `torch.autocast("cuda", enabled=False)` gives
products in bfloat16.

## Example
```python
class Rotary(torch.nn.Module):
    def forward(self, x):
        with torch.autocast("cuda", enabled=False):
            return self.angles(x.float())


def evaluate(model, batch):
    with torch.autocast(batch.device.type, dtype=torch.bfloat16):
        return model(batch)
```

## Use instead
```python
class Rotary(torch.nn.Module):
    def forward(self, x):
        with torch.autocast(x.device.type, enabled=False):
            return self.angles(x.float())


def evaluate(model, batch):
    with torch.autocast(batch.device.type, dtype=torch.bfloat16):
        return model(batch)
```

## Fix safety
There is no fix: only the author knows the tensor whose device counts.

## References
- Pitfall C11
- https://github.com/huggingface/accelerate/pull/906
- https://github.com/huggingface/diffusers/pull/12841
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    fixed_devices,
)

RULE = Rule(
    code="MP223",
    name="autocast-for-cuda-only",
    summary="an autocast region that names CUDA, in a program that offers other devices",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"autocast",), (b"torch",), (b"cuda",)),
    pitfalls=("C11",),
)


_EFFECTS = {
    "region": "this autocast is for CUDA only",
    "island": "this region turns autocast off on CUDA only",
    "guess": "this autocast is for CUDA wherever there is a GPU",
    "cpu": "this autocast is for the CPU wherever the device is not CUDA",
}


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in fixed_devices(file):
        place = found.witness.place
        yield file.finding(
            RULE,
            file.span_of(found.node),
            f"{_EFFECTS[found.form]}, but the device of the program is {found.device} "
            f"({place.path.name}:{place.start.row})",
            confidence=Confidence.MEDIUM if found.is_needed else Confidence.LOW,
            why="autocast has no effect on tensors of another device type. Pass the device type of "
            "the tensors, such as `x.device.type`.",
            related=[found.witness],
        )
