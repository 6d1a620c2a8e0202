"""Who reads a file, and what the settings come to."""

from __future__ import annotations

import pytest

from precision_lint.consumers import readings
from precision_lint.consumers.reading import Reading
from tests.config.reading import config

TRAINER = "Hugging Face Trainer"
SIMPLETUNER = "SimpleTuner"


def read(text: str, format: str) -> list[Reading]:
    return list(readings(config(text, format)))


def values(text: str, format: str) -> dict[str, object]:
    (reading,) = read(text, format)
    return {key: setting.value for key, setting in reading.settings.items()}


def test_names_select_consumers() -> None:
    file = config('{"model_family": "flux", "gradient_precision": "fp32"}', "json")
    assert [reading.consumer for reading in readings(file)] == [SIMPLETUNER]
    assert not list(readings(file, TRAINER))


def test_simpletuner_env_file() -> None:
    text = (
        "export MIXED_PRECISION='bf16'\nexport OPTIMIZER=$OPT\n"
        'export TRAINER_EXTRA_ARGS="--gradient_precision=fp32 --use_x"\n'
        'export TRAINER_EXTRA_ARGS="${TRAINER_EXTRA_ARGS} --gradient_precision unmodified"\n'
    )
    assert values(text, "shell") == {
        "mixed_precision": "bf16",
        "optimizer": None,
        "gradient_precision": "unmodified",
        "use_x": True,
    }


def test_simpletuner_extra_arguments_come_last() -> None:
    text = 'TRAINER_EXTRA_ARGS="--mixed_precision=no"\nMIXED_PRECISION=bf16\n'
    assert values(text, "shell") == {"mixed_precision": "no"}


def test_an_env_file_without_the_extra_arguments_is_nobodys() -> None:
    assert read("MIXED_PRECISION=bf16\nGRADIENT_PRECISION=fp32\n", "shell") == []


@pytest.mark.parametrize("format", ["json", "toml"])
def test_simpletuner_keys_with_and_without_dashes(format: str) -> None:
    pairs = [
        ("--mixed_precision", '"bf16"'), ("gradient_precision", '"fp32"'), ("lora_rank", "16"),
        ("--use_ema", "true"), ("--gradient_checkpointing", '"false"'), ("optimizer", '"${OPT}"'),
    ]  # fmt: skip
    if format == "json":
        text = "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"
    else:
        text = "\n".join(f'"{key}" = {value}' for key, value in pairs)
    assert values(text, format) == {
        "mixed_precision": "bf16",
        "gradient_precision": "fp32",
        "lora_rank": "16",
        "use_ema": True,
        "optimizer": None,
    }


def test_simpletuner_command_line_is_that_of_the_script() -> None:
    text = (
        "accelerate launch --mixed_precision=fp16 train.py"
        " --model_type=lora --gradient_precision=fp32 --mixed_precision=$MP\n"
    )
    assert values(text, "shell") == {
        "model_type": "lora",
        "gradient_precision": "fp32",
        "mixed_precision": None,
    }


@pytest.mark.parametrize(
    "text",
    [
        '{"model_type": "qwen", "mixed_precision": "bf16", "optimizer": "adamw"}',
        '{"gradient_precision": "fp32"}',
        '{"training": {"model_family": "flux", "gradient_precision": "fp32"}}',
        '["gradient_precision", "mixed_precision"]',
    ],
)
def test_not_simpletuner(text: str) -> None:
    assert read(text, "json") == []


ARGUMENTS = "output_dir: out\nper_device_train_batch_size: 2\nlearning_rate: 1.0e-5\n"


@pytest.mark.parametrize(
    ("written", "value"),
    [("true", True), ("no", False), ("auto", None), ("", None), ("'true'", None), ("${X}", None)],
)
def test_trainer_switches(written: str, value: object) -> None:
    assert values(f"{ARGUMENTS}fp16: {written}\n", "yaml") == {"fp16": value}


def test_trainer_arguments_may_be_in_a_section_and_several_times() -> None:
    section = "".join(f"  {line}\n" for line in ARGUMENTS.splitlines())
    text = f"a:\n{section}  bf16: true\nb:\n{section}  fp16: true\n"
    found = [{k: s.value for k, s in r.settings.items()} for r in read(text, "yaml")]
    assert found == [{"bf16": True}, {"fp16": True}]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("--fp16", True),
        ("--fp16 True", True),
        ("--fp16=1", True),
        ("--fp16 no", False),
        ("--fp16 $FP16", None),
        ("--fp16 --fp16 false", False),
        ("--fp16 maybe", None),
    ],
)
def test_trainer_command_line(given: str, value: object) -> None:
    text = f"torchrun --fp16 train.py --output_dir out --do_train {given} --learning_rate 1e-5\n"
    assert values(text, "shell") == {"fp16": value}


@pytest.mark.parametrize(
    "more",
    [
        "base_model: x",
        "finetuning_type: lora",
        "zero_optimization: {stage: 2}",
        "tensor_parallel_degree: 2",
    ],
)
def test_others_share_the_fields_of_the_trainer(more: str) -> None:
    assert len(read(f"{ARGUMENTS}fp16: true\n", "yaml")) == 1
    assert read(f"{ARGUMENTS}fp16: true\n{more}\n", "yaml") == []


def test_a_few_common_fields_are_not_enough() -> None:
    assert read("output_dir: out\nlearning_rate: 1\nseed: 1\nfp16: true\n", "yaml") == []
    assert read("per_device_train_batch_size: 1\nseed: 1\nfp16: true\n", "yaml") == []
