"""`TrainingArguments`, with and without DeepSpeed, against `hf_trainer.toml`."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

os.environ.setdefault("DS_ACCELERATOR", "cpu")
transformers = pytest.importorskip("transformers", minversion="5")

from tests.oracles import ABSENT, choices, command, errors  # noqa: E402

FLAGS = list(
    choices(
        fp16=(ABSENT, True, False),
        bf16=(ABSENT, True, False),
        fp16_full_eval=(ABSENT, True),
        bf16_full_eval=(ABSENT, True),
    )
)
ENABLED = (ABSENT, True, False, "auto", "true")
DEEPSPEED = list(choices(fp16=ENABLED, bf16=ENABLED))
COMMON = {"per_device_train_batch_size": 2, "do_train": True, "learning_rate": 1e-5}
REFUSALS = ("At most one of", "Please correct the following DeepSpeed")


def refusal(folder: Path, flags: dict[str, object], deepspeed: object = None) -> str:
    """What transformers says to a combination, if it refuses it whatever the hardware."""
    try:
        arguments = transformers.TrainingArguments(
            output_dir=str(folder), report_to="none", use_cpu=True, deepspeed=deepspeed, **flags
        )
        if deepspeed is not None:
            model = SimpleNamespace(config=SimpleNamespace(hidden_size=8))
            arguments.hf_deepspeed_config.trainer_config_finalize(arguments, model, 10)
            resolved = arguments.hf_deepspeed_config.config
            if all(resolved.get(one, {}).get("enabled") is True for one in ("fp16", "bf16")):
                return "bfloat16 and fp16 modes cannot be simultaneously enabled"
    except ValueError as error:
        if not str(error).startswith(REFUSALS):
            raise  # the hardware, not the combination
        return str(error)
    return ""


def on_disk(fp16: object = ABSENT, bf16: object = ABSENT) -> dict[str, object]:
    sections = {"fp16": fp16, "bf16": bf16}
    return {
        "zero_optimization": {"stage": 2},
        "train_micro_batch_size_per_gpu": "auto",
        **{key: {"enabled": each} for key, each in sections.items() if each is not ABSENT},
    }


@pytest.mark.parametrize("form", ["json", "yaml", "command"])
def test_same_verdict_as_training_arguments(form: str, tmp_path: Path) -> None:
    wrong = []
    for index, flags in enumerate(FLAGS):
        said = refusal(tmp_path, flags)
        settings = {**COMMON, "output_dir": "out", **flags}
        match form:
            case "json":
                written: dict[str, object] = {"train__json": settings}
            case "yaml":
                text = "".join(f"{key}: {str(each).lower()}\n" for key, each in settings.items())
                written = {"train__yaml": text}
            case _:
                written = {"train__sh": command("run_clm.py", settings)}
        found = errors(tmp_path / str(index), **written)
        if bool(said) != bool(found):
            wrong.append((flags, said, [finding.message for finding in found]))
    assert not wrong


def test_same_verdict_as_the_deepspeed_integration(tmp_path: Path) -> None:
    pytest.importorskip("deepspeed")
    wrong, refused, count = [], 0, 0
    for flags in FLAGS:
        if refusal(tmp_path, flags):
            continue  # refused without DeepSpeed already
        for sections in DEEPSPEED:
            deepspeed = on_disk(**sections)
            said = refusal(tmp_path, flags, deepspeed)
            options = {**COMMON, "output_dir": "out", "deepspeed": "ds.json", **flags}
            found = errors(
                tmp_path / str(count), ds__json=deepspeed, run__sh=command("run_clm.py", options)
            )
            count += 1
            refused += bool(said)
            if bool(said) != bool(found):
                wrong.append((flags, sections, said, [finding.message for finding in found]))
    assert not wrong, f"{len(wrong)} of {count}: {wrong[:3]}"
    assert 100 < refused < count - 100
