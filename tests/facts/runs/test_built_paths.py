"""Files that a program loads by a path which a function builds of what it is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

SETTINGS = "train_cfgs:\n  bf16: true\n  lr: 0.1\n"
TOOLS = """\
import os
import yaml

def load(path):
    with open(path, encoding="utf-8") as stream:
        return yaml.safe_load(stream)

def read_settings(mode, task):
    here = os.path.abspath(__file__)
    parent = os.path.dirname(os.path.dirname(here))
    path = os.path.join(parent, "configs", mode, f"{task}.yaml")
    return load(path)
"""
PROGRAM = """\
import os
import torch
from transformers import AutoModelForCausalLM
from pkg.utils.tools import read_settings

def main():
    task = os.path.join("text", "NAME")
    config = read_settings(mode="train", task=task)
    dtype = torch.bfloat16 if config["train_cfgs"]["bf16"] else torch.float32
    AutoModelForCausalLM.from_pretrained("m", torch_dtype=dtype)

if __name__ == "__main__":
    main()
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/utils/__init__.py": "",
    "pkg/utils/tools.py": TOOLS,
    "pkg/sft.py": PROGRAM.replace("NAME", "sft"),
    "pkg/dpo.py": PROGRAM.replace("NAME", "dpo"),
    "pkg/configs/train/text/sft.yaml": SETTINGS,
    "pkg/configs/train/text/dpo.yaml": SETTINGS.replace("true", "false"),
}
OTHER = "pkg/configs/train/text/old.yaml"
NOT_READ = f"not understood: bf16: true ({OTHER}:2)"


def test_each_program_reads_the_file_that_it_names(tmp_path: Path) -> None:
    out = explained(tmp_path, FILES)
    assert "text/sft.yaml: PyTorch, read by pkg/sft.py\n  weights  bfloat16" in out
    assert "text/dpo.yaml: PyTorch, read by pkg/dpo.py\n  weights  float32" in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('f"{task}.yaml"', 'task + ".yaml"'),
        ('"configs", mode, f"{task}.yaml"', 'f"configs/{mode}/{task}.yaml"'),
        ('"configs", mode, f"{task}.yaml"', '"configs/" + mode + "/" + task + ".yaml"'),
        ("os.path.join(parent, ", "os.path.join(os.path.dirname(os.path.dirname(here)), "),
        ("    return load(path)", "    with open(path) as f:\n        return yaml.safe_load(f)"),
    ],
)
def test_other_ways_to_build_the_path(old: str, new: str, tmp_path: Path) -> None:
    assert old in TOOLS
    out = explained(tmp_path, FILES | {"pkg/utils/tools.py": TOOLS.replace(old, new)})
    assert "text/sft.yaml: PyTorch, read by pkg/sft.py\n" in out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"sft"', "input()"),  # only run time knows
        ("    main()\n", "    pass\n"),  # nothing calls it
        ('mode="train"', 'mode="eval"'),  # another file
    ],
)
def test_a_path_that_is_not_known_is_no_reason(old: str, new: str, tmp_path: Path) -> None:
    assert old in FILES["pkg/sft.py"]
    files = {name: text for name, text in FILES.items() if "dpo" not in name}
    program = files["pkg/sft.py"].replace(old, new)
    evaluation = "pkg/configs/eval/text/sft.yaml"
    out = explained(tmp_path, files | {"pkg/sft.py": program, evaluation: "seed: 1\n"})
    assert "text/sft.yaml: PyTorch, read by pkg/sft.py\n" not in out


@pytest.mark.parametrize(
    "tools",
    [
        TOOLS.replace("    here =", '    task = task or "sft"\n    here ='),
        TOOLS.replace("def read_settings(", "def load_all(") + "\nread_settings = choose()\n",
    ],
)
def test_a_function_that_is_not_seen_through(tools: str, tmp_path: Path) -> None:
    out = explained(tmp_path, FILES | {"pkg/utils/tools.py": tools})
    assert "read by pkg/sft.py\n" not in out


def test_a_method_loads_the_file(tmp_path: Path) -> None:
    program = FILES["pkg/sft.py"].replace("def main():", "class Run:\n  def __init__(self):")
    program = program.replace("    main()", "    Run()")
    out = explained(tmp_path, FILES | {"pkg/sft.py": program})
    assert "text/sft.yaml: PyTorch, read by pkg/sft.py\n" in out


def test_the_files_of_other_programs_are_read_by_none(tmp_path: Path) -> None:
    out = explained(tmp_path, FILES | {OTHER: SETTINGS})
    assert NOT_READ in out


def test_a_program_that_is_imported_reads_nothing_for_the_one_that_imports_it(
    tmp_path: Path,
) -> None:
    importing = FILES["pkg/dpo.py"].replace("from pkg.utils", "from pkg import sft\nfrom pkg.utils")
    out = explained(tmp_path, FILES | {"pkg/dpo.py": importing})
    assert "text/sft.yaml: PyTorch, read by pkg/sft.py\n  weights  bfloat16" in out
    assert "text/sft.yaml: PyTorch, read by pkg/dpo.py" not in out
