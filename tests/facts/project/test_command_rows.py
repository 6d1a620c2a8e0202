"""The rows of files that name a program."""

from __future__ import annotations

from pathlib import Path

from precision_lint.facts.project.command_rows import rows_naming

SCRIPT = Path("run.sh")


def test_a_row_goes_on_after_a_backslash() -> None:
    content = (
        b"cd src\ntorchrun --nproc 2 \\\n  train.py \\  \r\n  --deepspeed ds.json\necho done\n"
    )
    assert rows_naming(SCRIPT, content, "train.py").split() == [
        "torchrun", "--nproc", "2", "train.py", "--deepspeed", "ds.json",
    ]  # fmt: skip


def test_each_row_that_names_it() -> None:
    content = b"python train.py --lr 1\npython pretrain.py\n# python train.py\n"
    assert rows_naming(SCRIPT, content, "train.py").splitlines() == [
        "python train.py --lr 1",
        "# python train.py",
    ]


def test_a_part_of_a_word_is_another_name() -> None:
    assert rows_naming(SCRIPT, b"python pretrain.py\npython strain.py\n", "train.py") == ""


def test_a_file_without_the_name() -> None:
    assert rows_naming(SCRIPT, b"\\" * 100_000, "train.py") == ""


def test_rows_of_data_are_no_commands() -> None:
    assert (
        rows_naming(Path("data.json"), b'{"text": "' + b"train.py " * 10_000 + b'"}', "train.py")
        == ""
    )
