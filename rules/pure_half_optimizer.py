"""An optimizer that updates weights in half precision.

## What it does
Finds optimizers of torch, bitsandbytes, transformers, apex and others that get the parameters of a
model whose weights are bfloat16 or float16: loaded so, or cast so, where no copy of them in float32
exists. A variable may hold one of several such classes. All tensors that the optimizer gets must be
known to be in half precision, whoever calls the function that makes it, or in the run of the file
as a program (`mp.spawn(main, args=(model,))` included).

Also finds a `Trainer` of transformers or TRL (SFT, DPO, KTO, ORPO, CPO, GRPO, GKD, Reward) that
gets such a model, with arguments that select a plain optimizer; and a class of the project that
extends one, whatever its name is, and leaves the optimizer and the loop to it. The file makes the
arguments, or a parser makes them (`HfArgumentParser`, `TrlParser`): then scripts, pages and
comments that start the program say what is given, and the class what is not; the options of a
command may choose the dtype as well (`torch.bfloat16 if training_args.bf16 else torch.float32`). It
is not reported where all commands that start the program have DeepSpeed, FSDP or a configuration of
Accelerate; of the commands without these, the message names one. An option that hands DeepSpeed its
configuration (`deepspeed=args.config if args.deepspeed else None`) counts where a command gives it,
or where it is on by default. The launcher `deepspeed` alone is none of these: a Trainer asks for
its argument `deepspeed`.

Not reported: files with LoRA, PEFT or quantization (in their code, not in comments), unless a run
that the project offers certainly leaves these out (`LoraConfig() if args.use_peft else None`, and
no command has `--use_peft`), PEFT leaves the adapters in the dtype of the model (pinned below 0.12,
or `autocast_adapter_dtype=False`), the model is cast when the adapters have been added, or the
optimizer gets the parameters of another module (a head, a critic), alone or in a group of their
own; models that are frozen as a whole, or in part if layers of another dtype may be added to them,
which counts as well for what functions of other files do with the model; DeepSpeed, Megatron,
Lightning, FSDP under Accelerate and others with float32 weights of their own (torch's own FSDP
keeps the dtype of the weights that it shards, whatever its `MixedPrecision` says; whose FSDP it is,
the imports and the calls say, and not what a variable is called); models that a helper casts to
float32; optimizers that round stochastically or sum with compensation (one that is only imported,
or that another branch makes instead, is not used for these weights); a learning rate of 1e-3 or
more, which is also the default of torch, unless weights in float16 get `Adam`, `AdamW`, `NAdam`,
`RAdam` or `RMSprop` with the `eps` of torch, which divides by zero; float16 weights with a scaler,
which `unscale-fp16-gradients` reports.

Confidence is low in programs with an Accelerator, or with a `Trainer` that gets the optimizer, if
no command of the project starts them, or if the project names DeepSpeed or FSDP (a command with
Python alone starts an Accelerator without these); for a `Trainer` with parsed arguments if no
command starts it, and the project names DeepSpeed or FSDP; for weights that are not pretrained if
the learning rate is not known; for an optimizer that is made where another one fails; and if the
program reads its settings from a file that is not there. The learning rate of an option, or of a
field that `HfArgumentParser` fills, is its default, if no script or page gives it another
magnitude, or the largest number that the commands of the project give it; that of a key is small if
all numbers that the project gives the key are.

Weights that are in half precision on a GPU and in float32 elsewhere (`torch.bfloat16 if
torch.cuda.is_available() else torch.float32`) count, and the message says so.

Weights that an option of argparse makes float32 (`torch.bfloat16 if args.bf16 else torch.float32`)
count where they are in half precision without options, and no script or page gives the option
something else; the message says so, too.

Weights for which the options of a command, or the file of settings that it names, choose between
half precision and float32 count where a command of the project chooses the first
(`torch.bfloat16 if config.mixed_precision else torch.float32`); the command is shown. Of a program
that no command starts, it is the file of settings that the program opens itself.

Weights that a dtype variable casts (`model.to(weight_dtype)`) count where a run chooses `bf16` for
the Accelerator, and the variable is bfloat16 for that.

## Why it hurts
There is no error. A bfloat16 number has 8 significant bits: an update that is smaller than about
1/256 of a weight rounds to nothing, at every step. Measured with torch 2.13 on a network of two
layers, `AdamW` moves 7 of 100 weights in 20 steps at a learning rate of 1e-5 (float32: all of them)
and at most half of them at 1e-4; weight decay does nothing, and the averages of squared gradients
stop short. In float16, `eps=1e-8` is 0, so that a weight without gradient becomes NaN at the first
step.

## Example
```python
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
```

## Use instead
```python
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(**batch).loss
```
or an optimizer that rounds stochastically, such as `torchao.optim.AdamW8bit` with
`bf16_stochastic_round=True`.

## Fix safety
There is no fix: float32 weights need twice the memory.

## References
- Pitfall E08
- https://github.com/pytorch/pytorch/issues/120376
- https://github.com/pytorch/ao/pull/1124
- https://github.com/meta-pytorch/torchtune/issues/2254
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    HALF_UPDATES,
    Call,
    Confidence,
    Finding,
    HalfUpdate,
    PythonFile,
    Related,
    Rule,
    Severity,
    accelerator_may_run_in_backend,
    all_half_updates,
    keeps_float32,
    may_run_in_backend,
    precision_of,
)

RULE = Rule(
    code="MP302",
    name="pure-half-optimizer",
    summary="an optimizer updates weights in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=(
        (b"torch", b"transformers"),
        (b"parameters(", b"Trainer(", b"args="),
        (b"optim", b"Adam", b"SGD", b"Lion", b"Trainer"),
    ),
    calls=HALF_UPDATES,
    intraprocedural=frozenset({"Accelerator", "GradScaler", "backward", "train"}),
    pitfalls=("E08",),
    yields_to=("MP310",),
)

_TOO_LARGE = 1e-3
"""A learning rate from which on updates are seldom lost."""

_DIVIDING = frozenset({"Adam", "AdamW", "NAdam", "RAdam", "RMSprop"})
"""Optimizers that divide by the root of a running square, which is 0 in float16 as `eps` is: after
20 steps with gradients of about 1e-3, no weight is a number any more (torch 2.13 on CPU).
"""


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return not keeps_float32(file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    calls = [each for each in call.module if each.name in RULE.calls]
    if call is not calls[0]:
        return  # the calls are judged together
    for update in all_half_updates(calls, file):
        if update.rate is not None and update.rate >= _TOO_LARGE and not _divides_by_zero(update):
            continue
        yield file.finding(
            RULE,
            update.call.span,
            f"`{update.optimizer}` updates weights in {update.dtype}"
            + (" on a GPU" if update.is_on_gpu else "")
            + ("" if update.by_default is None else " by default")
            + ("" if update.rate is None else f" at a learning rate of {update.rate:g}")
            + _run(update),
            confidence=_confidence(update, calls, file),
            why=_WHY[update.dtype],
            related=[*_places(update)],
            precisions=tuple(filter(None, [precision_of(update.dtype)])),
        )


def _divides_by_zero(update: HalfUpdate) -> bool:
    """True at whatever rate, unless the program chooses another `eps`."""
    is_given = "eps" in update.call.keywords
    return update.dtype == "float16" and update.optimizer in _DIVIDING and not is_given


def _run(update: HalfUpdate) -> str:
    """The command that starts a program without the backend that others give it."""
    if not update.is_beside_backend or update.by_command is None:
        return ""
    place = update.by_command.place
    return f" in the run that {place.path.name}:{place.start.row} starts"


def _places(update: HalfUpdate) -> dict[Related, None]:
    """Where the dtype is chosen, the option or the command that does so, the calls in between."""
    choices = filter(None, (update.by_default, update.by_command, update.adapter))
    route = (site.related for site in update.origin.route)
    return dict.fromkeys((update.origin.related, *choices, *route))


_WHY = {
    "bfloat16": "An update that is smaller than about 1/256 of a weight rounds to nothing: keep "
    "the weights in float32 under autocast, or use an optimizer that rounds stochastically.",
    "float16": "`eps=1e-8` and squares of gradients below 2e-4 are 0 in float16, which makes "
    "weights NaN: keep the weights in float32 under autocast.",
}


def _confidence(update: HalfUpdate, calls: list[Call], file: PythonFile) -> Confidence:
    is_fine_tuned = update.rate is not None or update.has_small_rate or update.is_pretrained
    if not update.is_certain or not is_fine_tuned or _may_be_in_backend(calls, file):
        return Confidence.LOW
    return Confidence.MEDIUM


def _may_be_in_backend(calls: list[Call], file: PythonFile) -> bool:
    """True if a backend with float32 weights may get the optimizer that a program makes."""
    if any("optimizers" in each.keywords for each in calls):
        return may_run_in_backend(file)
    is_prepared = any(each.name in {"Accelerator", "prepare"} for each in calls)
    return is_prepared and accelerator_may_run_in_backend(file)
