"""Settings that no class of a framework has: what the program does with them counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

FILE = (
    "model_name_or_path: m\ndataset_name: d\nper_device_train_batch_size: 1\nlearning_rate: 0.1\n"
    "use_peft: true\nbf16: true\ntorch_dtype: bfloat16\nload_in_4bit: true\n"
)
PROGRAM = """\
import torch
from transformers import AutoModel
from trl import ModelConfig, ScriptArguments, SFTConfig, SFTTrainer, TrlParser
from trl import get_quantization_config

def main():
    parser = TrlParser((ScriptArguments, SFTConfig, ModelConfig))
    script_args, training_args, model_args = parser.parse_args_and_config()
    {}
    SFTTrainer(model=model_args.model_name_or_path, args=training_args).train()

if __name__ == "__main__":
    main()
"""
KEPT = """\
table = dict(torch_dtype=model_args.torch_dtype, revision="main")
    training_args.model_init_kwargs = table"""
GIVEN = "SFTConfig(model_init_kwargs={'torch_dtype': model_args.torch_dtype})"
UNPACKED = """\
table = dict(torch_dtype=getattr(torch, model_args.torch_dtype))
    AutoModel.from_pretrained("m", **table)"""
LOADED = 'AutoModel.from_pretrained("m", torch_dtype=model_args.torch_dtype)'


def explained(tmp_path: Path, files: dict[str, str]) -> str:
    return run("explain-config", cwd=project(tmp_path, {"a.yaml": FILE, **files})).out


@pytest.mark.parametrize(
    ("code", "place"),
    [
        (KEPT, "argument of model_init_kwargs={torch_dtype}, train.py:10"),
        (GIVEN, "argument of SFTConfig(model_init_kwargs={torch_dtype}), train.py:9"),
        (UNPACKED, "argument of from_pretrained(torch_dtype=), train.py:10"),
        (LOADED, "weights, train.py:9"),
    ],
)
@pytest.mark.parametrize(
    "script",
    ["python train.py --config a.yaml\n", "python train.py --torch_dtype bfloat16 --bf16\n"],
)
def test_what_the_program_does_with_them(
    script: str, code: str, place: str, tmp_path: Path
) -> None:
    files = {"run.sh": script, "train.py": PROGRAM.format(code)}
    out = explained(tmp_path, files).replace(" of AutoModel", "")
    rows = [row for row in out.splitlines() if place in row]
    assert any("torch_dtype" in row for row in rows)


def test_what_the_program_does_not_look_at(tmp_path: Path) -> None:
    files = {"run.sh": "python train.py --config a.yaml\n", "train.py": PROGRAM.format("pass")}
    out = explained(tmp_path, files)
    assert "bf16 = true" in out
    assert "torch_dtype = " not in out
    assert "not understood: torch_dtype: bfloat16 (a.yaml:7); " in out


def test_what_a_function_of_trl_reads(tmp_path: Path) -> None:
    program = PROGRAM.format("get_quantization_config(model_args)")
    out = explained(tmp_path, {"run.sh": "python train.py --config a.yaml\n", "train.py": program})
    assert "(argument of get_quantization_config(), train.py:9)" in out
    assert "load_in_4bit: true" in out


def test_without_a_program_that_reads_it_the_convention_counts(tmp_path: Path) -> None:
    assert "torch_dtype = bf16" in explained(tmp_path, {})


CHOSEN = """\
import inspect
import sys
import yaml
from transformers import AutoModel, TrainingArguments

def main():
    given = yaml.safe_load(open(sys.argv[1]))
    print(given["model_name_or_path"], given["dataset_name"], given["use_peft"])
    known = inspect.signature(TrainingArguments.__init__).parameters
    train_args = {{key: value for key, value in given.items() if key in known}}
    TrainingArguments(**train_args)
    {}

if __name__ == "__main__":
    main()
"""


def test_a_field_that_the_class_does_not_have_goes_elsewhere(tmp_path: Path) -> None:
    code = 'AutoModel.from_pretrained("m", torch_dtype=given["torch_dtype"])'
    out = explained(tmp_path, {"train.py": CHOSEN.format(code)}).replace(" of AutoModel", "")
    assert "TrainingArguments(torch_dtype=)" not in out
    assert "weights, train.py:12" in out


def test_a_field_that_the_class_does_not_have_and_nothing_reads(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": CHOSEN.format("pass")})
    assert "TrainingArguments(torch_dtype=)" not in out
    assert "not understood: torch_dtype" in out
