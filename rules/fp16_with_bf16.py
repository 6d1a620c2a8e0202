"""fp16 and bf16 both switched on.

## What it does
Finds arguments for the Hugging Face `Trainer` that set `fp16` and `bf16` to true together, in YAML,
JSON, TOML and on the command line. A section belongs to the `Trainer` if several of its keys are
fields of `TrainingArguments`; YAML anchors, merge keys and duplicates are resolved first. Programs
that have the same two keys and other rules (axolotl, DeepSpeed, fairseq) are left alone, and so are
tables of capabilities.

## Why it hurts
`TrainingArguments` refuses: `ValueError: At most one of fp16 and bf16 can be True, but not both`
(transformers 4.56 and 5.23). The job dies when it starts, often after it waited for its GPUs.

## Example
```yaml
output_dir: out
per_device_train_batch_size: 2
lr_scheduler_type: cosine
fp16: true
bf16: true
```

## Use instead
```yaml
output_dir: out
per_device_train_batch_size: 2
lr_scheduler_type: cosine
bf16: true
```

## Fix safety
Display only. Which of the two is meant depends on the GPU: bfloat16 needs Ampere or newer, float16
needs a loss scaler. The linter shows the edit for bfloat16 and never applies it.

## References
- Pitfalls I01
- https://github.com/huggingface/transformers/blob/v4.56.2/src/transformers/training_args.py
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint import consumers
from precision_lint.consumers import hf_trainer
from precision_lint.consumers.reading import Setting
from precision_lint.finding import Applicability, Confidence, Finding, Fix, Severity
from precision_lint.fixers.settings import change_value
from precision_lint.rule import Rule
from precision_lint.source.config import ConfigFile
from precision_lint.source.settings_tree import Member

RULE = Rule(
    code="MP702",
    name="fp16-with-bf16",
    summary="fp16 and bf16 both switched on for the Hugging Face Trainer",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="display",
    triggers=((b"fp16",), (b"bf16",)),
    pitfalls=("I01",),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for reading in consumers.readings(file, hf_trainer.NAME):
        if not (reading.value("fp16") is True and reading.value("bf16") is True):
            continue
        fp16, bf16 = reading.settings["fp16"], reading.settings["bf16"]
        first, second = sorted((fp16, bf16), key=lambda setting: setting.span)
        other = "fp16" if first is fp16 else "bf16"
        yield file.finding(
            RULE,
            second.span,
            "`fp16` and `bf16` are both switched on",
            confidence=Confidence.HIGH,
            why="ValueError: At most one of fp16 and bf16 can be True, but not both.",
            fix=_keep_bf16(fp16),
            related=[file.related(first.span, f"`{other}` is switched on here")],
        )


def _keep_bf16(fp16: Setting) -> Fix | None:
    edit = change_value(fp16.origin, "false") if isinstance(fp16.origin, Member) else None
    if edit is None:
        return None
    message = "Keep one: bf16 on Ampere and newer GPUs, fp16 on older ones"
    return Fix(Applicability.DISPLAY, message, (edit,))
