"""TRL's `SFTConfig`, which switches bf16 on by itself, against `trl.toml`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("DS_ACCELERATOR", "cpu")
trl = pytest.importorskip("trl")

from tests.oracles import ABSENT, choices, errors  # noqa: E402

FLAGS = list(choices(fp16=(ABSENT, True, False), bf16=(ABSENT, True, False)))
COMMON = (
    "max_length: 512\ndataset_text_field: text\nper_device_train_batch_size: 2\ndo_train: true\n"
)


def refusal(folder: Path, flags: dict[str, object]) -> str:
    try:
        trl.SFTConfig(output_dir=str(folder), report_to="none", use_cpu=True, **flags)
    except ValueError as error:
        if not str(error).startswith("At most one of"):
            raise
        return str(error)
    return ""


def test_same_verdict_as_sft_config(tmp_path: Path) -> None:
    wrong = []
    for index, flags in enumerate(FLAGS):
        text = COMMON + "".join(f"{key}: {str(each).lower()}\n" for key, each in flags.items())
        run = "trl sft --config sft.yaml\n"
        found = errors(tmp_path / str(index), sft__yaml=text, run__sh=run)
        if bool(refusal(tmp_path, flags)) != bool(found):
            wrong.append((flags, refusal(tmp_path, flags), [one.message for one in found]))
    assert not wrong
    assert {bool(refusal(tmp_path, flags)) for flags in FLAGS} == {True, False}
