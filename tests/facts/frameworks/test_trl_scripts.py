"""The scripts of TRL, which a launcher starts as modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

WORDS = "--model_name_or_path m --output_dir o --learning_rate 1e-5 --do_train True --bf16 True"


@pytest.mark.parametrize(
    "command",
    [
        "accelerate launch --num_processes 4 -m trl.scripts.sft",
        "accelerate launch --module trl.scripts.dpo",
        "python -m trl.scripts.reward",
    ],
)
def test_a_script_of_trl_is_its_command_line(command: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": f"{command} {WORDS}\n"})
    assert "TRL's command line, started as trl.scripts" in out
    assert "Hugging Face Trainer" not in out


@pytest.mark.parametrize(
    "command",
    [
        "python -m trl.scripts.env",
        "python -m own.scripts.sft",
        "python -m scripts.sft",
        "python sft.py",
        "python -m trl.trainer.sft",
        "python -m trl_scripts.sft",
    ],
)
def test_other_modules_are_not(command: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"run.sh": f"{command} {WORDS}\n"})
    assert "TRL's command line" not in out
