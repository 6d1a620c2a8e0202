"""GradScaler with bfloat16.

## What it does
Finds a `GradScaler` that is enabled while training runs in bfloat16: with
`autocast(dtype=torch.bfloat16)`, an autocast dtype that can be bfloat16, an `enabled=` that names
bfloat16, or weights whose dtype comes from a configuration that offers bfloat16. Autocast may be in
another function, in a base class, or in a function of another file that receives the scaler. The
scaler may be a `ShardedGradScaler`, or be created by a wrapper class of the project
(`NativeScaler`). Autocast without a dtype runs in bfloat16 on the CPU, and wherever
`torch.set_autocast_dtype` sets it.

Also reported:
- a precision plugin that creates a scaler whatever its `precision` is;
- a scaler that is passed to a Lightning plugin with `"bf16-mixed"`: it raises;
- `GradScalerKwargs` for an `Accelerator(mixed_precision="bf16")`, which ignores them;
- `AmpOptimWrapper(dtype="bfloat16", loss_scale="dynamic")`;
- apex that scales the loss under bfloat16 autocast, or that gets a bfloat16 model, which it
  rejects.

Fine are: a scaler whose `enabled=` depends on float16, float16-only code, autocast without a dtype
(float16 on CUDA), and a scaler that is created only under a condition that bfloat16 fails. If some
functions scale the loss or run backward, only their autocast counts: the others may be inference.

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
float16 training keeps its scaler. Existing arguments are kept. If only the configuration knows the
dtype, or if autocast is in another file, the fix is shown and not applied. There is no fix for
wrappers, plugins and frameworks, nor if the default dtype of autocast is set under a condition.

## References
- Pitfall B01
- https://github.com/h2oai/h2o-llmstudio/issues/628
- https://github.com/pytorch/pytorch/issues/127176
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from precision_lint.amp import apex, plugins, scalers
from precision_lint.amp.default_dtype import SETTERS, device_type
from precision_lint.amp.plugins import Ignored, Refused
from precision_lint.amp.scalers import AutocastRegion, Wrapper
from precision_lint.dtypes.calls import Argument, Call
from precision_lint.dtypes.conditions import (
    admits_bfloat16,
    condition_excludes_bfloat16,
    excludes_bfloat16,
    names_bfloat16,
)
from precision_lint.dtypes.environment import callee_name
from precision_lint.dtypes.values import BFLOAT16, FLOAT16, Condition, Constant, Dtype
from precision_lint.finding import Applicability, Confidence, Finding, Fix, Related, Severity
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
    triggers=(
        (b"Scaler", b"AmpOptimWrapper", b"apex"),
        (b"torch", b"AmpOptimWrapper", b"lightning", b"accelerate"),
    ),
    calls=frozenset(
        {"GradScaler", "ShardedGradScaler", "autocast", "partial", "scale", "backward"}
        | {"initialize", *SETTERS}
    ),
    pitfalls=("B01",),
)

_WHY = (
    "bfloat16 needs no loss scaling; with bfloat16 gradients `unscale_` and `step` raise on CUDA "
    "(all torch releases through 2.13)."
)
_OWN_SWITCH = re.compile(r"scal", re.IGNORECASE)
"""`enabled=cfg.use_grad_scaler`: whoever runs it decides, not the code."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    for refused in plugins.refused(file):
        yield _refused(refused, file)
    for ignored in plugins.ignored(file):
        yield _ignored(ignored, file)
    if "AmpOptimWrapper" in file.text.text:
        yield from _wrappers_of_mmengine(file)
    if "autocast" not in file.text.text:  # where it is, check_call sees its dtype
        for wrapper in scalers.wrappers(file):
            yield from _wrapped(wrapper, scalers.regions_elsewhere(wrapper.node, file), file)


def _wrappers_of_mmengine(file: PythonFile) -> Iterator[Finding]:
    """`AmpOptimWrapper`, called or configured: `dict(type="AmpOptimWrapper", dtype=…)`."""
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        made = given.get("type") if callee_name(node) == "dict" else node.func
        scale, dtype = given.get("loss_scale"), given.get("dtype")
        if made is None or dtype is None or not _names(made, "AmpOptimWrapper"):
            continue
        if names_bfloat16(dtype) and isinstance(scale, ast.Constant) and scale.value == "dynamic":
            yield file.finding(
                RULE,
                file.span_of(node),
                "`AmpOptimWrapper` scales the loss dynamically in bfloat16",
                confidence=Confidence.MEDIUM,
                why=_WHY,
            )


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    if call.name in {"autocast", "partial"}:
        regions = scalers.regions(call, file)
        if regions and regions[0].call is call:
            for wrapper in scalers.wrappers(file):
                yield from _wrapped(wrapper, regions, file)
    elif scalers.makes_grad_scaler(call.function or ""):
        yield from _scaler(call, file)
    elif call.function in apex.INITIALIZE:
        yield from _refused_by_apex(call, file)


def _scaler(call: Call, file: PythonFile) -> Iterator[Finding]:
    node = scalers.node_at(file, call.span)
    if node is None or _is_tied_to_float16(call, file):
        return
    if any(each.scaler is node for each in plugins.refused(file)):
        return  # it raises before anything is scaled
    if _is_excluded(scalers.conditions_around(node, file), file):
        return
    regions = scalers.regions(call, file)
    if not regions:
        regions = scalers.regions_elsewhere(node, file)
        if not any(one.dtype for one in regions):
            regions = scalers.defaults(call, file) or regions
    if device_type(call, file) == "cuda":  # the CPU is another way to train
        regions = [one for one in regions if one.device != "cpu"]
    enabled = _enabled(call)
    if (region := _in_bfloat16(regions)) is not None:
        yield _beside_autocast(call, region, file)
    elif any(one.dtype is not None and one.dtype.dtypes for one in regions):
        return  # float16, or several of their own
    elif enabled and admits_bfloat16(_condition(enabled, file)):
        yield _enabled_for_bfloat16(call, enabled, file)
    elif plugin := _made_for_every_precision(node, file):
        yield plugin
    elif regions:
        yield from _beside_configured_weights(call, regions, file)


def _wrapped(
    wrapper: Wrapper, regions: list[AutocastRegion], file: PythonFile
) -> Iterator[Finding]:
    """A class that makes a scaler inside, called beside autocast in bfloat16."""
    region = _in_bfloat16(regions)
    if region is None or region.dtype is None:
        return
    if _is_excluded(wrapper.conditions, file):
        return
    yield file.finding(
        RULE,
        file.span_of(wrapper.node),
        f"`{ast.unparse(wrapper.node.func)}` scales the loss "
        + _when(region.dtype, "while autocast runs in", "when the autocast dtype is"),
        confidence=Confidence.HIGH,
        why=_WHY,
        related=[*_related(region, region.dtype), *filter(None, [wrapper.made])],
    )


def _refused_by_apex(call: Call, file: PythonFile) -> Iterator[Finding]:
    """A bfloat16 model that apex gets to train with loss scaling."""
    node = scalers.node_at(file, call.span)
    weights = apex.refuses(call, node) if node is not None else None
    if weights is None:
        return
    yield file.finding(
        RULE,
        call.span,
        "`amp.initialize` gets a bfloat16 model, whose loss apex cannot scale",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        why=f"The first `amp.scale_loss` raises {apex.REFUSED}.",
        related=[weights.origin.related] if weights.origin else [],
    )


def _is_excluded(conditions: scalers.Conditions, file: PythonFile) -> bool:
    """True if what stands under conditions is not made in bfloat16."""
    return any(
        condition_excludes_bfloat16(scalers.spelled_out(test, file), holds)
        for test, holds in conditions
    )


def _in_bfloat16(regions: list[AutocastRegion]) -> AutocastRegion | None:
    """The first region that can run in bfloat16, unless the scaler may belong to another one.

    Beside a region whose dtype is chosen, one in float16 is what an older torch gets.
    """
    chosen = {_place(one) for one in regions if _dtypes(one) >= {FLOAT16, BFLOAT16}}
    for one in regions:
        if _dtypes(one) & {FLOAT16, BFLOAT16} == {FLOAT16} and _place(one) not in chosen:
            return None
    return next((one for one in regions if BFLOAT16 in _dtypes(one)), None)


def _dtypes(region: AutocastRegion) -> frozenset[str]:
    return region.dtype.dtypes if region.dtype is not None else frozenset({FLOAT16})


def _place(region: AutocastRegion) -> tuple[Path, str]:
    """The file and the function that make a region."""
    return region.file.text.path, region.call.scope


def _beside_autocast(call: Call, region: AutocastRegion, file: PythonFile) -> Finding:
    dtype = region.dtype
    assert dtype is not None
    return file.finding(
        RULE,
        call.span,
        "GradScaler is on " + _when(dtype, "while autocast runs in", "when the autocast dtype is"),
        confidence=Confidence.LOW if _has_own_switch(call, file) else Confidence.HIGH,
        why=_WHY,
        fix=_fix(call, region, _is_always(dtype), file),
        related=_related(region, dtype),
    )


def _has_own_switch(call: Call, file: PythonFile) -> bool:
    """True if a setting turns the scaler on by itself: `if use_grad_scaler:`, `enabled=scale_loss`.

    Whoever runs it decides then. `if scaler is None:` is no setting.
    """
    conditions = [file.text[guard.span] for guard in call.guards if guard.holds]
    if (enabled := _enabled(call)) is not None:
        conditions.append(_condition(enabled, file))
    return any(_OWN_SWITCH.search(one) and "None" not in one for one in conditions)


def _is_always(dtype: Dtype) -> bool:
    return dtype.dtypes == {BFLOAT16} and not (dtype.chosen or dtype.partial)


def _when(dtype: Dtype, always: str, sometimes: str) -> str:
    return f"{always if _is_always(dtype) else sometimes} bfloat16"


def _related(region: AutocastRegion, dtype: Dtype) -> list[Related]:
    related = [region.related]
    if dtype.origin is not None:
        related.append(replace(dtype.origin.related, message="bfloat16 enters here"))
    return related


def _refused(refused: Refused, file: PythonFile) -> Finding:
    """A scaler that Lightning gets together with bfloat16."""
    return file.finding(
        RULE,
        file.span_of(refused.scaler),
        f"`{refused.plugin}` gets a GradScaler and bfloat16",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        why=f"Lightning raises {refused.error}, found …",
        related=[file.related(file.span_of(refused.precision), "bfloat16 enters here")],
    )


def _ignored(ignored: Ignored, file: PythonFile) -> Finding:
    """Settings of a scaler that accelerate gets together with bfloat16."""
    return file.finding(
        RULE,
        file.span_of(ignored.handler),
        "`GradScalerKwargs` is ignored in bfloat16",
        confidence=Confidence.HIGH,
        why="bfloat16 needs no loss scaling: accelerate makes a scaler for fp16 only.",
        related=[file.related(file.span_of(ignored.precision), "bfloat16 enters here")],
    )


def _made_for_every_precision(node: ast.Call, file: PythonFile) -> Finding | None:
    """A scaler that a precision plugin makes without asking for the precision."""
    precision = _precision_of_plugin(node, file)
    if precision is None:
        return None
    return file.finding(
        RULE,
        file.span_of(node),
        "GradScaler is made whatever `precision` is, bfloat16 too",
        confidence=Confidence.MEDIUM,
        why=_WHY,
        related=[file.related(file.span_of(precision), "the precision is chosen here")],
    )


def _precision_of_plugin(node: ast.Call, file: PythonFile) -> ast.arg | None:
    """The parameter of a plugin's constructor that chooses the precision but not the scaler."""
    owner = scalers.enclosing_class(file, node)
    if owner is None or not any("Precision" in ast.unparse(base) for base in owner.bases):
        return None
    for method in owner.body:
        if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
            continue
        parameters = {one.arg: one for one in [*method.args.args, *method.args.kwonlyargs]}
        inside = list(ast.walk(method))
        precision = parameters.get("precision")
        if precision is None or not any(one is node for one in inside):
            return None
        tests = [one.test for one in inside if isinstance(one, ast.If | ast.IfExp | ast.Assert)]
        if any("precision" in ast.unparse(test) for test in tests):
            return None
        annotation = "" if precision.annotation is None else ast.unparse(precision.annotation)
        is_16_only = "Literal" in annotation and "bf16" not in annotation
        return None if is_16_only else precision
    return None


def _names(made: ast.expr, name: str) -> bool:
    return ast.unparse(made).strip("'\"").rpartition(".")[2] == name


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
    call: Call, regions: list[AutocastRegion], file: PythonFile
) -> Iterator[Finding]:
    """No dtype in sight here, but the project's configuration offers bfloat16 weights."""
    if "enabled" in call.keywords or not any(map(_is_configured, regions)):
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
    """`enabled=`, by keyword or position."""
    return call.argument(scalers.enabled_position(call.function or ""), "enabled")


def _is_configured(region: AutocastRegion) -> bool:
    """True if a setting turns the region on: `enabled=cfg.training.mixed_precision`."""
    enabled = region.call.keywords.get("enabled")
    return enabled is not None and "." in region.file.text[enabled.span]


def _fix(call: Call, region: AutocastRegion, always: bool, file: PythonFile) -> Fix | None:
    if always:
        expression, message = "False", "Turn the scaler off"
    else:
        if region.given is None:
            return None
        dtype = region.file.text[region.given.span]
        expression = f"{dtype if _is_simple(dtype) else f'({dtype})'} == torch.float16"
        message = "Turn the scaler on for float16 only"
        if (enabled := _enabled(call)) is not None:
            given = file.text[enabled.span]
            expression = f"{given if _is_simple(given) else f'({given})'} and {expression}"
    if _enabled(call) is not None and "enabled" not in call.keywords:
        return None  # positional
    edit = calls.set_keyword(file, call, "enabled", expression)
    if edit is None:
        return None
    is_in_reach = region.file is file and (always or _is_in_reach(call, region, file))
    return Fix(Applicability.SAFE if is_in_reach else Applicability.DISPLAY, message, (edit,))


def _is_in_reach(call: Call, region: AutocastRegion, file: PythonFile) -> bool:
    """True if the name that holds the region's dtype holds the same where the scaler is made."""
    assert region.given is not None
    assert region.giver is not None
    name = file.text[region.given.span]
    is_same_variable = call.scope in {region.giver.scope, ""} or name.startswith("self.")
    return (
        is_same_variable
        and call.dtypes.get(name) == region.given.value
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
