"""Forms in which files start a program: each gives it `--fp16 --bf16`, which nobody can want.

What is only alike, and starts nothing with both, is not reported.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from precision_lint.source.config.parse import parse_config
from precision_lint.source.config.settings_tree import Mapping
from precision_lint.source.text.text import SourceText
from tests.facts.frameworks.test_runs import found, project

PROGRAM = """\
import argparse
from transformers import TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--bf16", action="store_true")
args = parser.parse_args()
TrainingArguments("o", fp16=args.fp16, bf16=args.bf16)
"""


def rows(root: Path, name: str, text: str) -> list[int]:
    """The rows of what is found in a file that starts the program."""
    project(root, {name: text, "train.py": PROGRAM})
    return [one.place.start.row for one in found(root, name)]


def notebook(*lines: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": list(lines)}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize(
    "line", ["!python train.py --fp16 --bf16\n", "%run -i train.py --fp16 --bf16\n"]
)
def test_a_command_of_a_notebook(tmp_path: Path, line: str) -> None:
    assert rows(tmp_path, "a.ipynb", notebook(line)) == [1]


def test_a_cell_of_shell(tmp_path: Path) -> None:
    lines = ("%%bash\n", "python train.py --fp16 --bf16\n")
    assert rows(tmp_path, "a.ipynb", notebook(*lines)) == [2]


@pytest.mark.parametrize(
    ("script", "row"),
    [
        ('sbatch --wrap="python train.py --fp16 --bf16"\n', 1),
        ("sbatch -p gpu --wrap 'python train.py --fp16 --bf16'\n", 1),
        ("sbatch job.sh --fp16 --bf16\n", None),
    ],
)
def test_a_script_in_a_word(tmp_path: Path, script: str, row: int | None) -> None:
    assert rows(tmp_path, "run.sh", script) == ([] if row is None else [row])


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ('command: ["python", "train.py"]\nargs: ["--fp16", "--bf16"]\n', 2),
        ("command:\n- python\n- train.py\nargs:\n- --name=$(NAME)\n- --fp16\n- --bf16\n", 7),
        ("entrypoint: [python, train.py]\ncommand: [--fp16, --bf16]\n", 2),
        ('command: ["python", "train.py", "--fp16"]\nargs: ["--lr", "1"]\n', None),
        ("command: [bash, -c]\nargs:\n- |\n  python train.py --fp16 --bf16\n", 4),
        ("command: [python, other.py]\nargs: [--fp16, --bf16]\n", None),
        ("command: [python, train.py]\nargs: [--fp16, --name, --bf16 $(NAME)]\n", None),
    ],
)
def test_the_two_halves_of_a_command(tmp_path: Path, text: str, row: int | None) -> None:
    assert rows(tmp_path, "job.yaml", text) == ([] if row is None else [row])


LOOP = "for p in fp16 bf16; do\n"
TEMPLATE = """\
for p in fp16 bf16; do
cat > ds_$p.json <<EOF
{{"train_batch_size": 8, "$p": {{"enabled": true, {setting}}}}}
EOF
deepspeed train_ds.py --deepspeed_config ds_$p.json
done
"""


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ('"loss_scale_window": 100', [3]),
        ('"immediate_grad_update": true', []),
        ('"$OTHER": 100', []),
    ],
)
def test_a_here_document_in_a_loop(tmp_path: Path, setting: str, expected: list[int]) -> None:
    """The file of each pass has the values of that pass, and only one of them is wrong."""
    text = TEMPLATE.format(setting=setting)
    assert rows(tmp_path, "run.sh", text) == expected


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("fp16: $A\n", {"fp16": True}),
        ('fp16: "$A"\n', {"fp16": "true"}),
        ("p: x-${B}-$A\n", {"p": "x-bf16-true"}),
        ("p: $A$UNKNOWN\n", {"p": None}),
        ("p: ${A:-no}\n", {"p": None}),
        ("p: \\$A\n", {"p": None}),
        ("$B: 1\n", {"bf16": 1}),
    ],
)
def test_what_a_script_puts_into_a_file(
    tmp_path: Path, body: str, values: dict[str, object]
) -> None:
    text = SourceText(tmp_path / "a.sh", f"A=true\nB=bf16\ncat > a.yaml <<EOF\n{body}EOF\n")
    (written,) = parse_config(text, "shell").embedded
    (document,) = written.file.documents
    assert isinstance(document, Mapping)
    assert {entry.name: entry.scalar for entry in document.entries} == values


@pytest.mark.parametrize(
    ("script", "row"),
    [
        (LOOP + "sbatch <<EOF\n#!/bin/bash\npython train.py --$p --bf16\nEOF\ndone\n", 4),
        (LOOP + "cat > j_$p.sh <<EOF\npython train.py --$p --bf16\nEOF\ndone\n", 3),
        ("p=fp16\nsbatch <<'EOF'\n#!/bin/bash\npython train.py --$p --bf16\nEOF\n", None),
        ("p=fp16\nsbatch <<EOF\n#!/bin/bash\np=bf16\npython train.py --$p --bf16\nEOF\n", None),
    ],
)
def test_a_script_in_a_here_document(tmp_path: Path, script: str, row: int | None) -> None:
    assert rows(tmp_path, "run.sh", script) == ([] if row is None else [row])


@pytest.mark.parametrize(
    ("command", "program", "is_found"),
    [
        ("python -m pack.train", "src/pack/train.py", True),
        ("python $ROOT/train.py", "train.py", True),
        ("python ${ROOT}/tools/train.py", "tools/train.py", True),
        ("python here/pack/train.py", "pack/train.py", True),
        ("python pack/train.py", "lib/pack/train.py", True),
        ("python train.py", "lib/train.py", False),
        ("python $ROOT$NAME", "train.py", False),
        ("python ../pack/train.py", "lib/pack/train.py", False),
        ("python /opt/pack/train.py", "lib/pack/train.py", False),
    ],
)
def test_a_program_that_is_started_from_elsewhere(
    tmp_path: Path, command: str, program: str, is_found: bool
) -> None:
    project(tmp_path, {"run.sh": f"{command} --fp16 --bf16\n", program: PROGRAM})
    assert [one.place.start.row for one in found(tmp_path, "run.sh")] == [1] * is_found


def test_one_of_two_programs_that_may_be_meant(tmp_path: Path) -> None:
    programs = {"a/pack/train.py": PROGRAM, "b/pack/train.py": PROGRAM}
    project(tmp_path, {"run.sh": "python -m pack.train --fp16 --bf16\n", **programs})
    assert not found(tmp_path, "run.sh")


@pytest.mark.parametrize(
    ("line", "rows_found"),
    [
        ("echo python train.py --fp16 --bf16\n", []),
        ("cp train.py old.py --fp16 --bf16\n", []),
        ("cmd='python train.py --fp16 --bf16'\necho $cmd\n", []),
        ("cmd='python train.py --fp16 --bf16'\necho $cmd\neval $cmd\n", [1]),
        ("exec python train.py --fp16 --bf16\n", [1]),
        ("nohup python train.py --fp16 --bf16 &\n", [1]),
    ],
)
def test_commands_that_start_nothing(tmp_path: Path, line: str, rows_found: list[int]) -> None:
    assert rows(tmp_path, "run.sh", line) == rows_found


@pytest.mark.parametrize(
    ("script", "row"),
    [
        ("ray job submit --address a -- python3 train.py --fp16 --bf16\n", 1),
        ("kubectl exec pod -- torchrun train.py --fp16 --bf16\n", 1),
        ("ray job submit --address a -- python other.py --fp16 --bf16\n", None),
    ],
)
def test_a_program_that_another_tool_starts(tmp_path: Path, script: str, row: int | None) -> None:
    assert rows(tmp_path, "run.sh", script) == ([] if row is None else [row])


@pytest.mark.parametrize(
    ("path", "is_found"),
    [
        ('"$(dirname "$0")/parts/args.sh"', True),
        ('"${HERE}/parts/args.sh"', True),
        ('"${HERE}/${NAME}/args.sh"', False),
        ('"${HERE}args.sh"', False),
    ],
)
def test_a_file_that_is_sourced_below_an_unknown_folder(
    tmp_path: Path, path: str, is_found: bool
) -> None:
    project(tmp_path, {"parts/args.sh": "ARGS=(--fp16)\n"})
    script = f"HERE=$(folder_of_this)\nsource {path}\npython train.py ${{ARGS[@]}} --bf16\n"
    assert bool(rows(tmp_path, "run.sh", script)) is is_found
