"""Commands whose program is not in the project: only their options give them to a framework."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import project, run

ELSEWHERE = ", by its options: the program is not where the command looks for it"
NOT_KNOWN = ", by its options: which program it starts is not known"
WORDS = "--output_dir out --learning_rate 1e-5 --do_train --bf16\n"
TRAIN = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments

if __name__ == "__main__":
    (arguments,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
    Trainer(model, arguments).train()
"""


def explained(folder: Path, script: str, **files: str) -> str:
    paths = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    root = project(folder, {"run.sh": script, "lib/__init__.py": "", **paths})
    return run("explain-config", "run.sh", cwd=root).out


@pytest.mark.parametrize(
    "started",
    [
        "python -m lib.train",
        "torchrun --nproc_per_node 2 -m lib.train",
        "accelerate launch -m lib.train",
        "python train_sft.py",
        "python /opt/examples/run_clm.py",
    ],
)
def test_a_program_that_is_not_there(started: str, tmp_path: Path) -> None:
    out = explained(tmp_path, f"{started} {WORDS}", lib__other=TRAIN)
    (row,) = (line for line in out.splitlines() if ": Hugging Face Trainer, started" in line)
    assert row.endswith(ELSEWHERE)


def test_a_program_whose_name_is_not_known(tmp_path: Path) -> None:
    assert NOT_KNOWN in explained(tmp_path, f"python $HOME/train.py {WORDS}")


@pytest.mark.parametrize(
    "started",
    [
        "python -m lib.train",
        "torchrun --nproc_per_node 2 -m lib.train",
        "accelerate launch -m lib.train",
        "python lib/train.py",
        "cd lib && python train.py",
        "PROGRAM=lib/train.py\npython $PROGRAM",
    ],
)
def test_a_program_that_is_there(started: str, tmp_path: Path) -> None:
    out = explained(tmp_path, f"{started} {WORDS}", lib__train=TRAIN)
    assert "Hugging Face Trainer" in out
    assert "by its options" not in out


@pytest.mark.parametrize("name", ["a.py", "lib/a.py"])
def test_a_program_that_the_script_writes(name: str, tmp_path: Path) -> None:
    out = explained(tmp_path, f"cat > {name} <<'EOF'\n{TRAIN}EOF\npython {name} {WORDS}")
    assert "Hugging Face Trainer, started as" in out
    assert "by its options" not in out


@pytest.mark.parametrize(
    ("started", "program"),
    [
        ("/data/me/pack_x/src/tune_words.py", "lib/src/tune_words.py"),
        ("/src/tune_words.py", "lib/src/tune_words.py"),
        ("$SCRATCH/src/tune_words.py", "lib/src/tune_words.py"),
        ("/data/me/pack_x/src/../tune_words.py", "lib/pack_x/tune_words.py"),
    ],
)
def test_a_program_by_the_end_of_its_path(started: str, program: str, tmp_path: Path) -> None:
    root = project(tmp_path, {"run.sh": f"python {started} {WORDS}", program: TRAIN})
    out = run("explain-config", "run.sh", cwd=root).out
    assert f"({program}, by the end of its path)\n" in out
    assert "by its options" not in out


@pytest.mark.parametrize(
    ("started", "programs"),
    [
        ("/data/me/src/tune_words.py", ["lib/tools/tune_words.py"]),
        ("/data/me/src/tune_words.py", ["a/src/tune_words.py", "b/src/tune_words.py"]),
        ("/data/me/src/tune_words.py", ["a/src/tune_words.py", "b/tune_words.py"]),
        ("/data/me/src/train.py", ["lib/src/train.py"]),
        ("/data/me/src/run_sft.py", ["lib/src/run_sft.py"]),
        ("/tune_words.py", ["lib/src/tune_words.py"]),
        ("$ROOT$NAME/tune_words.py", ["lib/src/tune_words.py"]),
        ("${ROOT}src/tune_words.py", ["lib/src/tune_words.py"]),
    ],
)
def test_an_end_that_may_be_that_of_another_program(
    started: str, programs: list[str], tmp_path: Path
) -> None:
    files = {"run.sh": f"python {started} {WORDS}", **dict.fromkeys(programs, TRAIN)}
    out = run("explain-config", "run.sh", cwd=project(tmp_path, files)).out
    assert "by its options" in out
    assert "by the end" not in out


def test_a_program_below_an_unknown_folder_that_is_where_the_path_says(tmp_path: Path) -> None:
    files = {"run.sh": f"python $ROOT/src/tune_words.py {WORDS}", "src/tune_words.py": TRAIN}
    out = run("explain-config", "run.sh", cwd=project(tmp_path, files)).out
    assert "Hugging Face Trainer, started as …/src/tune_words.py\n" in out


def test_a_tool_is_known_by_its_name(tmp_path: Path) -> None:
    out = explained(tmp_path, "trl sft --model_name_or_path m --dataset_name d --bf16\n")
    assert "TRL" in out
    assert "by its options" not in out


def test_where_it_is_said_in_json(tmp_path: Path) -> None:
    root = project(tmp_path, {"run.sh": f"python a.py {WORDS}python b.py {WORDS}", "b.py": TRAIN})
    found = json.loads(run("explain-config", "--output-format", "json", cwd=root).out)
    rows = {one["program"]: one["by_options"] for one in found}
    assert rows == {"a.py": True, "b.py": False}
    assert {one["program_by_its_end"] for one in found} == {None}


def test_the_end_of_a_path_in_json(tmp_path: Path) -> None:
    files = {"run.sh": f"python /opt/src/tune_words.py {WORDS}", "lib/src/tune_words.py": TRAIN}
    root = project(tmp_path, files)
    (found,) = json.loads(run("explain-config", "--output-format", "json", cwd=root).out)
    assert found["program_by_its_end"] == str(root / "lib/src/tune_words.py")
