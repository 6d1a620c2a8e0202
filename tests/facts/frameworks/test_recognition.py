"""Who reads a file, and what its settings come to."""

from __future__ import annotations

import pytest

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import readings
from tests.context import recording
from tests.source.config.reading import config


def read(text: str, format: str, framework: str) -> list[EffectiveConfig]:
    found = readings(config(text, format), recording())
    return [reading for reading in found if reading.framework.slug == framework]


def value(text: str, format: str, framework: str, key: str) -> object:
    (reading,) = read(text, format, framework)
    setting = reading.setting(key)
    assert setting is not None
    assert setting.written is not None
    return setting.value


def test_an_env_file_becomes_arguments_and_the_extra_ones_come_last() -> None:
    text = (
        "export MIXED_PRECISION='bf16'\nexport OPTIMIZER=$OPT\n"
        'export TRAINER_EXTRA_ARGS="--gradient_precision=fp32 --mixed_precision=no"\n'
        'export TRAINER_EXTRA_ARGS="${TRAINER_EXTRA_ARGS} --gradient_precision unmodified"\n'
    )
    assert value(text, "shell", "simpletuner", "gradient_precision") == "unmodified"
    assert value(text, "shell", "simpletuner", "mixed_precision") == "no"
    assert value(text, "shell", "simpletuner", "optimizer") is None


def test_an_env_file_without_the_extra_arguments_is_nobodys() -> None:
    text = "MIXED_PRECISION=bf16\nGRADIENT_PRECISION=fp32\n"
    assert not read(text, "shell", "simpletuner")


@pytest.mark.parametrize("format", ["json", "toml"])
def test_keys_with_and_without_dashes(format: str) -> None:
    pairs = [("--mixed_precision", '"bf16"'), ("gradient_precision", '"fp32"')]
    if format == "json":
        text = "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"
    else:
        text = "\n".join(f'"{key}" = {value}' for key, value in pairs)
    assert value(text, format, "simpletuner", "mixed_precision") == "bf16"
    assert value(text, format, "simpletuner", "gradient_precision") == "fp32"


def test_the_command_line_is_that_of_the_program_not_of_its_launcher() -> None:
    text = (
        "accelerate launch --mixed_precision=fp16 train.py"
        " --model_type=lora --gradient_precision=fp32 --mixed_precision=$MP\n"
    )
    assert value(text, "shell", "simpletuner", "mixed_precision") is None
    assert value(text, "shell", "simpletuner", "gradient_precision") == "fp32"


@pytest.mark.parametrize(
    "text",
    [
        '{"model_type": "qwen", "mixed_precision": "bf16", "optimizer": "adamw"}',
        '{"gradient_precision": "fp32"}',
        '{"training": {"model_family": "flux", "gradient_precision": "fp32"}}',
        '["gradient_precision", "mixed_precision"]',
    ],
)
def test_a_few_words_of_a_framework_are_not_its_file(text: str) -> None:
    assert not read(text, "json", "simpletuner")


ARGUMENTS = "output_dir: out\nper_device_train_batch_size: 2\nlearning_rate: 1.0e-5\n"


@pytest.mark.parametrize(
    ("written", "expected"),
    [("true", True), ("no", False), ("", None), ("'true'", "true"), ("${X}", None)],
)
def test_values_are_those_of_the_loader(written: str, expected: object) -> None:
    text = f"{ARGUMENTS}fp16: {written}\n"
    assert value(text, "yaml", "hf_trainer", "fp16") == expected


def test_what_is_not_written_has_its_default() -> None:
    (reading,) = read(f"{ARGUMENTS}fp16: true\n", "yaml", "hf_trainer")
    setting = reading.setting("bf16")
    assert setting is not None
    assert (setting.value, setting.written) == (False, None)


def test_what_a_merge_may_bring_is_unknown() -> None:
    text = f"<<: ${{base}}\n{ARGUMENTS}fp16: true\n"
    (reading,) = read(text, "yaml", "hf_trainer")
    assert reading.setting("bf16") is None


def test_settings_may_be_in_a_section_and_several_times() -> None:
    section = "".join(f"  {line}\n" for line in ARGUMENTS.splitlines())
    text = f"a:\n{section}  bf16: true\nb:\n{section}  fp16: true\n"
    found = read(text, "yaml", "hf_trainer")
    on = [[key for key in ("fp16", "bf16") if one.setting(key).value] for one in found]  # type: ignore[union-attr]
    assert on == [["bf16"], ["fp16"]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--fp16", True),
        ("--fp16 True", True),
        ("--fp16=1", True),
        ("--fp16 no", False),
        ("--no_fp16", False),
        ("--fp16 $FP16", None),
        ("--fp16 --fp16 false", False),
        ("--fp16 maybe", None),
    ],
)
def test_words_of_a_command_line_are_read_as_its_parser_does(given: str, expected: object) -> None:
    text = f"torchrun --fp16 train.py --output_dir out --do_train {given} --learning_rate 1e-5\n"
    assert value(text, "shell", "hf_trainer", "fp16") == expected


@pytest.mark.parametrize("unknown", ["$EXTRA", '"$@"', "${ARGS[@]}", "$(options)"])
def test_words_that_are_unknown_may_be_options(unknown: str) -> None:
    text = f"python train.py --output_dir out --do_train --learning_rate 1e-5 {unknown}\n"
    (reading,) = read(text, "shell", "hf_trainer")
    assert reading.setting("bf16") is None
    assert not reading.is_absent("bf16")


def test_a_value_that_is_unknown_is_no_option() -> None:
    text = "python train.py --do_train --learning_rate 1e-5 --output_dir=$OUT --seed=$SEED\n"
    (reading,) = read(text, "shell", "hf_trainer")
    assert reading.is_absent("bf16")


@pytest.mark.parametrize(
    "more", ["base_model: x", "zero_optimization: {stage: 2}", "tensor_parallel_degree: 2"]
)
def test_others_share_fields(more: str) -> None:
    assert len(read(f"{ARGUMENTS}fp16: true\n", "yaml", "hf_trainer")) == 1
    assert not read(f"{ARGUMENTS}fp16: true\n{more}\n", "yaml", "hf_trainer")


def test_a_few_common_fields_are_not_enough() -> None:
    for text in (
        "output_dir: out\nlearning_rate: 1\nseed: 1\nfp16: true\n",
        "per_device_train_batch_size: 1\nseed: 1\nfp16: true\n",
    ):
        assert not read(text, "yaml", "hf_trainer")
