"""GradScaler with bfloat16.

## What it does
Finds a `GradScaler` that is enabled while training runs in bfloat16: with
`autocast(dtype=torch.bfloat16)`, an autocast dtype that can be bfloat16, an `enabled=` that names
bfloat16, a condition around the scaler that bfloat16 meets (`elif precision == "bf16":`), or
weights whose dtype is a setting of the program that is bfloat16. The autocast dtype may be a
setting: an option, a key of a configuration file, a field that the project sets, a parameter whose
documentation names bfloat16; the message says the value and where it is given. Without autocast, a
scaler that is always on is reported if the same class compares its settings with bfloat16 and
scales the loss then. Autocast may be in another function, in a base class, or in a function of
another file that receives the scaler, alone or in a field of a dataclass. Its class may be in a
variable (`autocast = torch.cuda.amp.autocast`, or a choice between the classes for CUDA and the
CPU). The scaler may be a `ShardedGradScaler`, or be created by a wrapper class of the project
(`NativeScaler`). Autocast without a dtype runs in bfloat16 on the CPU, and wherever
`torch.set_autocast_dtype` sets it.

Also reported:
- a precision plugin that creates a scaler whatever its `precision` is;
- a scaler that is passed to a Lightning plugin with `"bf16-mixed"`: it raises;
- `GradScalerKwargs` for an `Accelerator(mixed_precision="bf16")`, which ignores them;
- `AmpOptimWrapper(dtype="bfloat16", loss_scale="dynamic")`;
- apex that scales the loss under bfloat16 autocast, or that gets a bfloat16 model, which it
  rejects;
- a scaler whose `enabled=` names bfloat16 beside autocast without a dtype: on CUDA, a run that asks
  for bfloat16 gets float16 there, and needs the scaler until autocast gets the dtype.

Fine are: a scaler whose `enabled=` depends on float16, float16-only code, autocast without a dtype
(float16 on CUDA) with a scaler that names no dtype, a scaler that is created only under a condition
that bfloat16 fails, bfloat16 that is chosen only where there is no GPU, and a scaler that code only
tests, saves, loads or gives to `accelerator.prepare`. If some functions scale the loss or run
backward, only their autocast counts: the others may be inference.

## Why it hurts
Loss scaling keeps float16 gradients from underflowing. bfloat16 has the exponent range of float32
and does not need it: with float32 parameters under bfloat16 autocast the scaler has no benefit.
With bfloat16 *parameters* the gradients are bfloat16 too, and on CUDA every release through torch
2.13 raises at `unscale_` or `step`:
`"_amp_foreach_non_finite_check_and_unscale_cuda" not implemented for 'BFloat16'`.

Lightning raises when the plugin is created, a `MisconfigurationException` in its Trainer and a
`ValueError` in Fabric and FSDP: `precision='bf16-mixed'` does not use a scaler. Since 0.17,
accelerate creates no scaler for bfloat16, so the scaler's settings have no effect.

## Example
```python
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
with torch.autocast("cuda", dtype=amp_dtype):  # torch.bfloat16 where the GPU has it
    loss = model(batch)
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0, enabled=amp_dtype == torch.float16)
with torch.autocast("cuda", dtype=amp_dtype):
    loss = model(batch)
```

## Fix safety
Safe if the variable that holds the autocast dtype has the same value where the scaler is created,
or if `enabled=` lists both dtypes: a disabled scaler passes losses and optimizers through, and
float16 training keeps its scaler. Existing arguments are kept. If autocast is in another file and
always runs in bfloat16, the fix turns the scaler off; it is shown and not applied. There is no fix
where the dtype is not known yet when the scaler is created, where autocast gets no dtype, for
wrappers, plugins and frameworks, nor if the default dtype of autocast is set under a condition.

## References
- Pitfall B01
- https://github.com/h2oai/h2o-llmstudio/issues/628
- https://github.com/pytorch/pytorch/issues/127176
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from precision_lint.fixers import comparisons, scalers
from precision_lint.fixers.wrapping import edit_joined
from precision_lint.rule_api import (
    SCALING_CALLS,
    Applicability,
    Call,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Scaling,
    ScalingForm,
    Severity,
    frozen,
    scaling_at,
    scaling_in,
)

RULE = Rule(
    code="MP201",
    name="gradscaler-with-bfloat16",
    summary="a GradScaler that is on while training runs in bfloat16",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("bf16",),
    fix="sometimes",
    triggers=(
        (b"Scaler", b"AmpOptimWrapper", b"apex"),
        (b"torch", b"AmpOptimWrapper", b"lightning", b"accelerate"),
    ),
    calls=SCALING_CALLS,
    pitfalls=("B01",),
)


@frozen
class _Report:
    """How a form is reported; `{when}` is whether training always runs in bfloat16."""

    message: str
    why: str = (
        "bfloat16 needs no loss scaling; with bfloat16 gradients `unscale_` and `step` raise on "
        "CUDA (all torch releases through 2.13)."
    )
    severity: Severity = RULE.severity
    confidence: Confidence = Confidence.HIGH


_REPORTS: Mapping[ScalingForm, _Report] = {
    "lightning": _Report(
        "`{subject}` gets a GradScaler and bfloat16",
        "Lightning raises {error}, found …",
        Severity.ERROR,
    ),
    "accelerate": _Report(
        "`GradScalerKwargs` is ignored in bfloat16",
        "bfloat16 needs no loss scaling: accelerate makes a scaler for fp16 only.",
    ),
    "mmengine": _Report(
        "`AmpOptimWrapper` scales the loss dynamically in bfloat16",
        confidence=Confidence.MEDIUM,
    ),
    "apex": _Report(
        "`amp.initialize` gets a bfloat16 model, whose loss apex cannot scale",
        "The first `amp.scale_loss` raises {error}.",
        Severity.ERROR,
    ),
    "wrapper": _Report("`{subject}` scales the loss {when} bfloat16"),
    "autocast": _Report("GradScaler is on {when} bfloat16"),
    "enabled": _Report("GradScaler is on for bfloat16 too"),
    "unheeded": _Report(
        "GradScaler is on for bfloat16 too, but autocast gets no dtype and runs in float16",
        "On CUDA, autocast without `dtype=` runs in float16, so a run that selects bfloat16 gets "
        "float16. Give autocast the dtype; then turn the scaler off for bfloat16.",
        confidence=Confidence.MEDIUM,
    ),
    "plugin": _Report(
        "GradScaler is made for every `precision`, including bfloat16",
        confidence=Confidence.MEDIUM,
    ),
    "guard": _Report("GradScaler is made for bfloat16", confidence=Confidence.MEDIUM),
    "offered": _Report(
        "GradScaler is on when autocast runs in bfloat16: with {value}",
        confidence=Confidence.MEDIUM,
    ),
    "chosen": _Report(
        "GradScaler is also on in bfloat16: with {value}", confidence=Confidence.MEDIUM
    ),
    "weights": _Report(
        "GradScaler is always on, and the weights are bfloat16 with {value}",
        "With bfloat16 weights the gradients are bfloat16, and `unscale_` and `step` raise on CUDA "
        "(all torch releases through 2.13).",
        Severity.ERROR,
        Confidence.MEDIUM,
    ),
}


def check_source(file: PythonFile) -> Iterator[Finding]:
    for scaling in scaling_in(file):
        yield _finding(scaling, file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    for scaling in scaling_at(call, file):
        yield _finding(scaling, file)


def _finding(scaling: Scaling, file: PythonFile) -> Finding:
    report = _REPORTS[scaling.form]
    when = "while autocast runs in" if scaling.is_always else "when the autocast dtype is"
    return file.finding(
        RULE,
        scaling.span,
        report.message.format(subject=scaling.subject, value=scaling.value, when=when),
        severity=report.severity,
        confidence=Confidence.LOW if scaling.is_optional else report.confidence,
        why=report.why.format(error=scaling.error),
        fix=_fix(scaling, file),
        related=scaling.related,
    )


def _fix(scaling: Scaling, file: PythonFile) -> Fix | None:
    switch = scaling.switch
    if switch is None:
        return None
    call, enabled = switch.call, switch.enabled
    applicability, message = Applicability.SAFE, "Turn the scaler on for float16 only"
    edit = None
    if scaling.form == "weights":
        edit = scalers.only_for_float16(file, call, enabled, "weights_dtype")
        applicability = Applicability.DISPLAY
        message += "; `weights_dtype` stands for your weights' dtype"
    elif scaling.form == "enabled" and enabled is not None:
        edit = comparisons.only_float16(file, enabled.span)
    elif scaling.is_always:
        edit, message = scalers.turn_off(file, call, enabled), "Turn the scaler off"
        if not switch.is_in_reach:
            applicability = Applicability.DISPLAY
    elif switch.dtype is not None and switch.is_in_reach:
        edit = scalers.only_for_float16(file, call, enabled, switch.dtype)
    edits = edit_joined(file, call.span, edit, file.import_style)
    return Fix(applicability, message, edits) if edits else None
