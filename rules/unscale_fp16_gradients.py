"""float16 weights trained with a GradScaler.

## What it does
Finds trainable float16 weights whose gradients are unscaled by a scaler: in a file with a
`GradScaler`, with Accelerate (`mixed_precision="fp16"` creates one), or with a `Trainer` under
`fp16=True`.

- LoRA: `model.add_adapter(…)` on a model that is cast to float16, or to a variable that is assigned
  float16 (`weight_dtype`). The adapter takes the dtype of the model. `get_peft_model` counts only
  with `autocast_adapter_dtype=False` or if PEFT is pinned below 0.12.
- All weights: `model.half()` or `from_pretrained(…, torch_dtype=torch.float16)` for a model whose
  `parameters()` are passed to an optimizer, or that is passed to a `Trainer`. The dtype is followed
  through the project, into the function that loads the model. A cast of the whole counts for its
  parts: `model.head.parameters()`, or a list that is made of them.
- All weights, in a run that a launch script starts: it gives `float16` for the setting of
  `from_pretrained(…, torch_dtype=…)` and turns on `fp16` for a `Trainer`, without DeepSpeed or
  FSDP, and adapters are optional.
- The validation pipeline: `pipeline.to(device, dtype=weight_dtype)` casts the modules in place. One
  of them is the model that is still being trained: `unet=accelerator.unwrap_model(unet)`.

The dtype flow says which dtype the weights have at the optimizer, at `accelerator.prepare` and at
the first backward pass, under the conditions of the scaler. A model is not reported if the program
casts its parameters back to float32 on some path (`cast_training_params`,
`param.data = param.float()`, `model.float()`, a function that does so), nor if the cast to float16
is for runs in other precisions. None of them is reported for inference.

## Why it hurts
The scaler needs float32 gradients. At the first step, or at the first step after a validation, it
raises `ValueError: Attempting to unscale FP16 gradients.`

## Example
```python
unet.to(accelerator.device, dtype=weight_dtype)  # torch.float16 with --mixed_precision=fp16
unet.add_adapter(lora_config)
```

## Use instead
```python
unet.to(accelerator.device, dtype=weight_dtype)
unet.add_adapter(lora_config)
cast_training_params(unet, dtype=torch.float32)  # from diffusers.training_utils
```
If all weights are trained, load them in float32; autocast computes in float16. Move a pipeline
without a dtype.

## Fix safety
Unsafe: `dtype=` is removed from the pipeline's `.to(…)`; modules of the pipeline that were in
float32 stay in float32, and validation may need autocast. The cast of adapters is shown and not
applied, because it must come after the last adapter and before the optimizer. No fix for whole
models.

## References
- Pitfall B02
- https://github.com/huggingface/diffusers/issues/6482
- https://github.com/huggingface/diffusers/pull/6119
- https://github.com/huggingface/diffusers/pull/10889
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import imports, statements
from precision_lint.rule_api import (
    FLOAT16_CALLS,
    Applicability,
    Call,
    Confidence,
    Edit,
    Finding,
    Fix,
    Float16Weights,
    PipelineCast,
    PythonFile,
    Rule,
    Severity,
    Span,
    TrainerRun,
    callee_name,
    casts_pipelines,
    float16_adapters,
    float16_models,
    launched_runs,
    may_train_float16,
    shared_pipelines,
    syntax_tree,
    unscaler,
)

RULE = Rule(
    code="MP202",
    name="unscale-fp16-gradients",
    summary="float16 weights trained with a GradScaler",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16",),
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"float16", b"half", b"torch_dtype"),
        (b"Accelerator", b"GradScaler", b"Trainer"),
    ),
    calls=FLOAT16_CALLS,
    intraprocedural=FLOAT16_CALLS - {"parameters"},
    pitfalls=("B02",),
)

_WHY = "`ValueError: Attempting to unscale FP16 gradients.`"


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    is_of_weights = isinstance(node, ast.Call) and callee_name(node) == "parameters"
    return not is_of_weights or may_train_float16(file)


def reads_dtypes(file: PythonFile) -> bool:
    return casts_pipelines(file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    calls = [each for each in call.module if each.name in RULE.calls]
    if call is not calls[0]:
        return  # the calls are judged together
    for weights in float16_adapters(calls, file):
        yield _adapter(weights, file)
    for weights in float16_models(calls, file):
        yield _whole_model(weights, file)
    if unscaler(calls, file) is not None:
        for cast in shared_pipelines(calls, file):
            yield _pipeline(cast, file)
    for run in launched_runs(calls, file):
        yield _launched(run, file)


def _adapter(weights: Float16Weights, file: PythonFile) -> Finding:
    return file.finding(
        RULE,
        file.span_of(weights.node),
        f"the adapter of `{weights.model}` {_is(weights)} float16, and a scaler unscales its "
        "gradients",
        confidence=Confidence.MEDIUM if weights.is_elsewhere else Confidence.HIGH,
        why=f"{_WHY} The adapter takes the dtype of the model.",
        fix=_upcast(weights, file),
        related=[weights.cast.related],
    )


def _whole_model(weights: Float16Weights, file: PythonFile) -> Finding:
    """A model whose every parameter an optimizer, or a trainer with `fp16=True`, gets."""
    is_proved = weights.is_certain and not weights.is_elsewhere
    return file.finding(
        RULE,
        file.span_of(weights.node),
        f"`{weights.model}` {_is(weights)} float16, and a scaler unscales its gradients",
        confidence=Confidence.HIGH if is_proved else Confidence.MEDIUM,
        why=_WHY,
        related=[weights.cast.related]
        if weights.is_elsewhere
        else [file.related(weights.trained.span, "it is trained here")],
    )


def _pipeline(cast: PipelineCast, file: PythonFile) -> Finding:
    return file.finding(
        RULE,
        file.span_of(cast.node),
        f"casting `{cast.pipeline}` makes the trained model float16"
        + ("" if cast.is_certain else " in some runs"),
        confidence=Confidence.HIGH,
        why=f"{_WHY} The next step raises it: the pipeline and the training share one model.",
        fix=_without_dtype(cast, file),
    )


def _launched(run: TrainerRun, file: PythonFile) -> Finding:
    """A model that a launch script loads in float16 and trains with `fp16`."""
    place = run.switch.origin.related.place
    return file.finding(
        RULE,
        file.span_of(run.loaded),
        f"`{run.model}` is float16 and a scaler unscales its gradients with "
        f"`{run.setting}={run.dtype.value}` and `fp16` ({place.path.name}:{place.start.row})",
        confidence=Confidence.MEDIUM,
        why=f"{_WHY} Adapters that are float32 are fine; training all weights raises.",
        related=[
            run.dtype.origin.related,
            run.switch.origin.related,
            file.related(file.span_of(run.trainer), "it is trained here"),
        ],
    )


def _is(weights: Float16Weights) -> str:
    return "is" if weights.is_certain else "can be"


def _upcast(weights: Float16Weights, file: PythonFile) -> Fix | None:
    around = syntax_tree(file).around(weights.node)
    statement = next((each for each in around if isinstance(each, ast.stmt)), None)
    if statement is None or "diffusers" not in file.text.text:
        return None
    name, added = imports.import_name(
        file,
        "diffusers.training_utils",
        "cast_training_params",
        file.span_of(weights.node).start,
        file.import_style,
    )
    line = f"{name}({weights.model}, dtype=torch.float32)"
    inserted = statements.insert_after(file, statement, line)
    if inserted is None:
        return None
    message = "Cast trained parameters to float32, after the last adapter"
    return Fix(Applicability.DISPLAY, message, (*added, inserted))


def _without_dtype(cast: PipelineCast, file: PythonFile) -> Fix | None:
    """`pipeline.to(device, dtype=dtype)` to `pipeline.to(device)`."""
    match cast.node:
        case ast.Call(args=[device], keywords=[ast.keyword(value=dtype)]):
            span = Span(file.span_of(device).end, file.span_of(dtype).end)
            if "#" in file.text[span]:
                return None
            return Fix(Applicability.UNSAFE, "Move without a dtype", (Edit(span, ""),))
    return None
