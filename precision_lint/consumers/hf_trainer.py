"""Hugging Face `Trainer`: `TrainingArguments` in YAML, JSON, TOML and on command lines.

Scripts read them flat (`HfArgumentParser`) or from a section (`TrainingArguments(**config[...])`),
so that any mapping may hold them: it does if several of its keys are fields of the dataclass.
Programs that share the fields but resolve the precision themselves are told apart by their own
keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from precision_lint.consumers.reading import Reading, Setting
from precision_lint.source.config import ConfigFile
from precision_lint.source.options import script_options
from precision_lint.source.settings_tree import Mapping, Member, Scalar, mappings

NAME = "Hugging Face Trainer"

_PRECISION = ("fp16", "bf16", "fp16_full_eval", "bf16_full_eval", "tf32")

# Fields that say `TrainingArguments`, one of which must be there, and fields that others have, too.
_OWN = frozenset(
    {
        "per_device_train_batch_size",
        "per_device_eval_batch_size",
        "lr_scheduler_type",
        "lr_scheduler_kwargs",
        "eval_strategy",
        "evaluation_strategy",
        "save_strategy",
        "logging_strategy",
        "overwrite_output_dir",
        "load_best_model_at_end",
        "metric_for_best_model",
        "ddp_find_unused_parameters",
        "dataloader_num_workers",
        "remove_unused_columns",
        "gradient_checkpointing_kwargs",
        "do_train",
    }
)
_SHARED = frozenset(
    {
        "output_dir",
        "num_train_epochs",
        "gradient_accumulation_steps",
        "gradient_checkpointing",
        "learning_rate",
        "warmup_ratio",
        "warmup_steps",
        "weight_decay",
        "max_steps",
        "max_grad_norm",
        "logging_steps",
        "save_steps",
        "eval_steps",
        "save_total_limit",
        "report_to",
        "optim",
        "seed",
    }
)
_ENOUGH = 3

_FOREIGN = frozenset(
    {
        # axolotl
        "base_model",
        "micro_batch_size",
        "sequence_len",
        # LLaMA-Factory
        "finetuning_type",
        "cutoff_len",
        "pure_bf16",
        # DeepSpeed
        "zero_optimization",
        "train_micro_batch_size_per_gpu",
        # ms-swift
        "train_type",
        "sft_type",
        "tuner_type",
        # PaddleNLP
        "tensor_parallel_degree",
        "amp_master_grad",
    }
)

_TRUE = frozenset({"yes", "true", "t", "y", "1"})
_FALSE = frozenset({"no", "false", "f", "n", "0"})


def readings(file: ConfigFile) -> Iterator[Reading]:
    found = list(mappings(file.documents))
    # An anchor that others merge is a stock of defaults: what counts is what they make of it.
    merged = {id(source) for mapping in found for source in mapping.merged}
    for mapping in found:
        if id(mapping) not in merged and _recognizes(mapping.get):
            yield Reading(NAME, dict(_members(mapping)))
    if file.script is not None:
        for command in file.script.commands:
            given = {option.name: option for option in script_options(command)}
            if _recognizes(given.get):
                known = (given[key] for key in _PRECISION if key in given)
                yield Reading(
                    NAME, {option.name: Setting(_switch(option.value), option) for option in known}
                )


def _recognizes(get: Callable[[str], object]) -> bool:
    def has(key: str) -> bool:
        return get(key) is not None

    own = sum(map(has, _OWN))
    return own > 0 and own + sum(map(has, _SHARED)) >= _ENOUGH and not any(map(has, _FOREIGN))


def _members(mapping: Mapping) -> Iterator[tuple[str, Setting]]:
    for key in _PRECISION:
        if member := mapping.get(key):
            yield key, Setting(_boolean(member), member)


def _boolean(member: Member) -> bool | None:
    """A field's value. The dataclass converts nothing, so that only a boolean is one."""
    match member.entry.value:
        case Scalar(value=bool(value)):
            return value
        case _:
            return None


def _switch(value: str | bool | None) -> bool | None:
    """A value as `HfArgumentParser` reads it; a bare flag is true."""
    if isinstance(value, str):
        return True if value.lower() in _TRUE else False if value.lower() in _FALSE else None
    return value
