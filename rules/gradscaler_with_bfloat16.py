"""GradScaler beside bfloat16.

## What it does
Finds a `GradScaler` that is on while training runs in bfloat16: `autocast(dtype=torch.bfloat16)`
beside it, an autocast dtype that can be bfloat16, an `enabled=` that names bfloat16, or weights
whose dtype comes from a configuration that offers bfloat16. A scaler whose `enabled=` depends on
float16 is fine, and so is float16-only code.

## Why it hurts
Loss scaling keeps float16 gradients from underflowing. bfloat16 has the exponent range of float32
and needs none: with float32 parameters under bfloat16 autocast the scaler is pointless. With
bfloat16 *parameters* the gradients are bfloat16 too, and on CUDA every release through torch 2.13
raises at `unscale_` or `step`:
`"_amp_foreach_non_finite_check_and_unscale_cuda" not implemented for 'BFloat16'`.

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
Safe where the name that holds the autocast dtype holds the same where the scaler is made, or where
`enabled=` lists both dtypes: a disabled scaler passes losses and optimizers through, and what is on
for float16 stays on. Arguments that are there are kept.
Where only the configuration knows the dtype, the fix is shown and not applied.

## References
- Pitfall B01
- https://github.com/h2oai/h2o-llmstudio/issues/628
- https://github.com/pytorch/pytorch/issues/127176
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from precision_lint.dtypes.calls import Argument, Call
from precision_lint.dtypes.conditions import (
    admits_bfloat16,
    excludes_bfloat16,
    guard_excludes_bfloat16,
)
from precision_lint.dtypes.values import BFLOAT16, FLOAT16, Condition, Constant, Dtype
from precision_lint.finding import Applicability, Confidence, Finding, Fix, Severity
from precision_lint.fixers import calls, comparisons
from precision_lint.rule import Rule
from precision_lint.source.python import PythonFile

RULE = Rule(
    code="MP201",
    name="gradscaler-with-bfloat16",
    summary="a GradScaler that is on while training runs in bfloat16",
    severity=Severity.WARNING,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"GradScaler",), (b"torch",)),
    calls=frozenset({"GradScaler", "autocast"}),
    pitfalls=("B01",),
)

_WHY = (
    "bfloat16 needs no loss scaling; with bfloat16 gradients `unscale_` and `step` raise on CUDA "
    "(all torch releases through 2.13)."
)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    if call.name != "GradScaler" or not (call.function or "").startswith("torch."):
        return
    if _is_tied_to_float16(call, file) or any(
        guard_excludes_bfloat16(guard, file.text) for guard in call.guards
    ):
        return
    regions = [region for region in call.module.named("autocast") if _is_autocast(region)]
    dtypes = [_dtype(region) for region in regions]
    known = [(region, dtype) for region, dtype in zip(regions, dtypes, strict=True) if dtype.dtypes]
    bf16 = [(region, dtype) for region, dtype in known if BFLOAT16 in dtype.dtypes]
    if bf16:
        region, dtype = bf16[0]
        if any(FLOAT16 in other.dtypes and BFLOAT16 not in other.dtypes for _, other in known):
            return  # float16 regions of their own: the scaler may be theirs
        yield _beside_autocast(call, region, dtype, file)
    elif (enabled := _enabled(call)) and admits_bfloat16(_condition(enabled, file)):
        yield _enabled_for_bfloat16(call, enabled, file)
    elif not known and regions:
        yield from _beside_configured_weights(call, regions, file)


def _beside_autocast(call: Call, region: Call, dtype: Dtype, file: PythonFile) -> Finding:
    always = dtype.dtypes == {BFLOAT16} and not (dtype.chosen or dtype.partial)
    related = [file.related(region.span, "the autocast region")]
    if dtype.origin is not None:
        related.append(replace(dtype.origin.related, message="bfloat16 enters here"))
    return file.finding(
        RULE,
        call.span,
        "GradScaler is on while autocast runs in bfloat16"
        if always
        else "GradScaler is on when the autocast dtype is bfloat16",
        confidence=Confidence.HIGH,
        why=_WHY,
        fix=_fix(call, region, always, file),
        related=related,
    )


def _enabled_for_bfloat16(call: Call, enabled: Argument, file: PythonFile) -> Finding:
    only = comparisons.only_float16(file, enabled.span)
    message = "Turn the scaler on for float16 only"
    fix = None if only is None else Fix(Applicability.SAFE, message, (only,))
    return file.finding(
        RULE,
        call.span,
        "GradScaler is on for bfloat16 too",
        confidence=Confidence.HIGH,
        why=_WHY,
        fix=fix,
    )


def _beside_configured_weights(
    call: Call, regions: list[Call], file: PythonFile
) -> Iterator[Finding]:
    """No dtype in sight here, but the project's configuration offers bfloat16 weights."""
    if "enabled" in call.keywords or not any(_is_configured(region, file) for region in regions):
        return
    choice = file.project.bfloat16_weights
    if choice is None:
        return
    yield file.finding(
        RULE,
        call.span,
        "GradScaler is on whatever the weights are, and the configuration offers bfloat16",
        severity=Severity.ERROR,
        confidence=Confidence.MEDIUM,
        why="With bfloat16 weights the gradients are bfloat16, and `unscale_` and `step` raise on "
        "CUDA (all torch releases through 2.13).",
        fix=_display(call, file),
        related=[choice],
    )


def _is_tied_to_float16(call: Call, file: PythonFile) -> bool:
    """True if `enabled=` is off, depends on float16 alone, or comes from where we cannot see."""
    enabled = _enabled(call)
    if enabled is None:
        return call.has_stars
    if isinstance(enabled.value, Constant):
        return not enabled.value.value
    return excludes_bfloat16(_condition(enabled, file))


def _condition(enabled: Argument, file: PythonFile) -> str:
    """The source of the condition that `enabled=` is, or that its variable was assigned."""
    match enabled.value:
        case Condition(span=span):
            return file.text[span]
    return file.text[enabled.span]


def _enabled(call: Call) -> Argument | None:
    """`enabled=`: fifth in torch.cuda.amp.GradScaler, sixth in torch.amp.GradScaler."""
    is_generic = call.function == "torch.amp.GradScaler"
    return call.argument(5 if is_generic else 4, "enabled")


def _is_autocast(call: Call) -> bool:
    return (call.function or "").startswith("torch.")


def _dtype(region: Call) -> Dtype:
    """The dtype of an autocast region: second positional in both signatures."""
    match region.value(1, "dtype"):
        case Dtype() as dtype:
            return dtype
    return Dtype(partial=True)


def _is_configured(region: Call, file: PythonFile) -> bool:
    """True if a setting turns the region on: `enabled=cfg.training.mixed_precision`."""
    enabled = region.keywords.get("enabled")
    return enabled is not None and "." in file.text[enabled.span]


def _fix(call: Call, region: Call, always: bool, file: PythonFile) -> Fix | None:
    if always:
        expression, message = "False", "Turn the scaler off"
    else:
        argument = region.argument(1, "dtype")
        assert argument is not None
        expression = f"{file.text[argument.span]} == torch.float16"
        message = "Turn the scaler on for float16 only"
        if (enabled := _enabled(call)) is not None:
            given = file.text[enabled.span]
            expression = f"{given if _is_simple(given) else f'({given})'} and {expression}"
    if _enabled(call) is not None and "enabled" not in call.keywords:
        return None  # positional
    edit = calls.set_keyword(file, call, "enabled", expression)
    if edit is None:
        return None
    is_in_reach = always or _is_in_reach(call, region, file)
    return Fix(Applicability.SAFE if is_in_reach else Applicability.DISPLAY, message, (edit,))


def _is_in_reach(call: Call, region: Call, file: PythonFile) -> bool:
    """True if the name that holds the region's dtype holds the same where the scaler is made."""
    argument = region.argument(1, "dtype")
    assert argument is not None
    name = file.text[argument.span]
    is_same_variable = call.scope in {region.scope, ""} or name.startswith("self.")
    return (
        is_same_variable
        and call.dtypes.get(name) == argument.value
        and call.module.imports.get("torch") == "torch"
    )


def _is_simple(expression: str) -> bool:
    return re.fullmatch(r"[\w.]+", expression) is not None


def _display(call: Call, file: PythonFile) -> Fix | None:
    edit = calls.set_keyword(file, call, "enabled", "weights_dtype == torch.float16")
    if edit is None:
        return None
    message = "Turn the scaler on for float16 only; `weights_dtype` stands for your weights' dtype"
    return Fix(Applicability.DISPLAY, message, (edit,))
