"""float16 weights trained with a GradScaler.

## What it does
Finds trainable float16 weights whose gradients are unscaled by a scaler: in a file with a
`GradScaler`, with Accelerate (`mixed_precision="fp16"` creates one), or with a `Trainer` under
`fp16=True`.

- LoRA: `model.add_adapter(…)` on a model that is cast to float16, or to a variable that is assigned
  float16 (`weight_dtype`). The adapter takes the dtype of the model. `get_peft_model` counts only
  with `autocast_adapter_dtype=False` or if PEFT is pinned below 0.11.
- All weights: `model.half()` or `from_pretrained(…, torch_dtype=torch.float16)` for a model whose
  `parameters()` are passed to an optimizer, or that is passed to a `Trainer`. The dtype is followed
  through the project, into the function that loads the model.
- All weights, in a run that a launch script starts: it gives `float16` for the setting of
  `from_pretrained(…, torch_dtype=…)` and turns on `fp16` for a `Trainer`, without DeepSpeed or
  FSDP, and adapters are optional.
- The validation pipeline: `pipeline.to(device, dtype=weight_dtype)` casts the modules in place. One
  of them is the model that is still being trained: `unet=accelerator.unwrap_model(unet)`.

All but the last are not reported in a file that casts parameters back to float32
(`cast_training_params`, `param.data = param.float()`, `model.float()`). None of them is
reported for inference.

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
    Applicability,
    Call,
    Cast,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Related,
    Rule,
    Severity,
    Span,
    TrainingFile,
    trainer_runs,
)

_TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer"})

RULE = Rule(
    code="MP202",
    name="unscale-fp16-gradients",
    summary="float16 weights trained with a GradScaler",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"float16", b"half", b"torch_dtype"),
        (b"Accelerator", b"GradScaler", b"Trainer"),
    ),
    calls=frozenset({"add_adapter", "get_peft_model", "parameters", *_TRAINERS, "backward"}),
    intraprocedural=frozenset({"backward"}),
    pitfalls=("B02",),
)

_WHY = "`ValueError: Attempting to unscale FP16 gradients.`"


def check_source(file: PythonFile) -> Iterator[Finding]:
    if not TrainingFile(file).upcasts:
        yield from _launched(file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    asked = [each for each in call.module if each.name in RULE.calls]
    if call is not asked[0]:
        return  # the calls are judged together
    training = TrainingFile(file, asked)
    if training.uses_accelerator or training.scaler is not None:
        yield from _adapters(training)
        yield from _pipelines(training)
    if not training.upcasts:
        yield from _whole_models(training)


def _adapters(training: TrainingFile) -> Iterator[Finding]:
    if training.upcasts:
        return
    file = training.file
    for node, model in training.adapters():
        cast = training.cast(model, node)
        if cast is None or training.is_upcast(model, training.scope(node)):
            continue
        yield file.finding(
            RULE,
            file.span_of(node),
            f"the adapter of `{model}` {_is(cast)} float16, and a scaler unscales its gradients",
            confidence=Confidence.MEDIUM if cast.elsewhere else Confidence.HIGH,
            why=f"{_WHY} The adapter takes the dtype of the model.",
            fix=_upcast(training, node, model),
            related=[_related(cast, file)],
        )


def _pipelines(training: TrainingFile) -> Iterator[Finding]:
    file = training.file
    for cast in training.shared_pipelines():
        yield file.finding(
            RULE,
            file.span_of(cast.node),
            f"the cast of `{cast.model}` makes the model that is trained float16"
            + ("" if cast.is_certain else " in some runs"),
            confidence=Confidence.HIGH,
            why=f"{_WHY} At the next step: the pipeline holds the training model itself.",
            fix=_without_dtype(file, cast),
        )


def _whole_models(training: TrainingFile) -> Iterator[Finding]:
    """Models whose every parameter an optimizer, or a trainer with `fp16=True`, gets."""
    file = training.file
    has_scaler = training.scaler is not None or training.uses_accelerator
    users = list(training.optimized()) if has_scaler else []
    for node, model in [*users, *training.trainers()]:
        cast = None if training.has_adapters else training.cast(model, node)
        if cast is None or training.is_upcast(model, training.scope(node)):
            continue
        yield file.finding(
            RULE,
            file.span_of(cast.node),
            f"`{model}` {_is(cast)} float16, and a scaler unscales its gradients",
            confidence=Confidence.HIGH
            if cast.is_certain and not cast.elsewhere
            else Confidence.MEDIUM,
            why=_WHY,
            related=[cast.elsewhere.related]
            if cast.elsewhere
            else [file.related(file.span_of(node), "it is trained here")],
        )


def _launched(file: PythonFile) -> Iterator[Finding]:
    """Models that a launch script loads in float16 and trains with `fp16`."""
    for run in trainer_runs(file):
        place = run.switch.origin.related.place
        yield file.finding(
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


def _related(cast: Cast, file: PythonFile) -> Related:
    if cast.elsewhere is not None:
        return cast.elsewhere.related
    return file.related(file.span_of(cast.node), "the model is cast here")


def _is(cast: Cast) -> str:
    return "is" if cast.is_certain else "can be"


def _upcast(training: TrainingFile, node: ast.Call, model: str) -> Fix | None:
    file = training.file
    statement = training.statement(node)
    if statement is None or "diffusers" not in file.text.text:
        return None
    name, added = imports.import_name(
        file, "diffusers.training_utils", "cast_training_params", file.span_of(node).start
    )
    line = f"{name}({model}, dtype=torch.float32)"
    inserted = statements.insert_after(file, statement, line)
    if inserted is None:
        return None
    message = "Cast trained parameters to float32, after the last adapter"
    return Fix(Applicability.DISPLAY, message, (*added, inserted))


def _without_dtype(file: PythonFile, cast: Cast) -> Fix | None:
    """`pipeline.to(device, dtype=dtype)` to `pipeline.to(device)`."""
    match cast.node:
        case ast.Call(args=[device], keywords=[ast.keyword(value=dtype)]):
            span = Span(file.span_of(device).end, file.span_of(dtype).end)
            if "#" in file.text[span]:
                return None
            return Fix(Applicability.UNSAFE, "Move without a dtype", (Edit(span, ""),))
    return None
