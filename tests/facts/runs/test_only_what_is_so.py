"""What `explain-config` must not claim: calls in branches, defaults, dtypes of tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

BRANCH = """\
from transformers import BitsAndBytesConfig, HfArgumentParser, TrainingArguments
from own import Arguments

def quantization(args):
    {condition}
        return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype="bfloat16")

if __name__ == "__main__":
    args, training = read()
    quantization(args)
"""


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("if args.load_in_4bit:", ", only if args.load_in_4bit"),
        ("if not args.is_plain:", ", only if not args.is_plain"),
        ("if True:", ""),
        ("with context():", ""),
    ],
)
def test_the_condition_of_a_call_is_said(condition: str, shown: str, tmp_path: Path) -> None:
    files = {"run.sh": "python train.py --seed 1\n", "train.py": BRANCH.format(condition=condition)}
    rows = explained(tmp_path, files).splitlines()
    heads = [row for row in rows if ": bitsandbytes" in row]
    assert heads
    assert all(row.endswith(f"train.py{shown}") for row in heads)


FILLED = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments

parser = HfArgumentParser(TrainingArguments)
{}
if __name__ == "__main__":
    Trainer(args=args).train()
"""
GIVEN = "python train.py conf/a.yaml --output_dir o --do_train --learning_rate 1e-5 --seed 1\n"


@pytest.mark.parametrize(
    ("reads", "file", "shown"),
    [
        ("args, = parser.parse_yaml_file(path)", "bf16: true\n", "bf16 = true"),
        ("args = own(parser)", "bf16: true\n", "may be set elsewhere"),
        ("args = own(parser)", "lr_of_head: 1\n", "bf16 = false"),
    ],
)
def test_the_file_of_a_launch_leaves_no_defaults(
    reads: str, file: str, shown: str, tmp_path: Path
) -> None:
    files = {"run.sh": GIVEN, "train.py": FILLED.format(reads), "conf/a.yaml": file}
    out = explained(tmp_path, files, "run.sh")
    assert shown in out
    assert ("bf16 = false" in out.replace("fp16", "")) is (shown == "bf16 = false")


TENSOR = """\
import yaml
import torch

settings = yaml.safe_load(open("a.yaml"))
print(settings["lr"], settings["model"], settings["data"])

def dtype_of(obj):
    return {}.dtype

if __name__ == "__main__":
    print(dtype_of(make()), torch.bfloat16)
"""


@pytest.mark.parametrize(
    ("holder", "is_read"), [("next(iter(obj.parameters()))", False), ("settings", True)]
)
def test_the_dtype_of_a_tensor_is_no_setting(holder: str, is_read: bool, tmp_path: Path) -> None:
    config = "lr: 1\nmodel: m\ndata: d\ndtype: float16\n"
    files = {"a.yaml": config, "train.py": TENSOR.format(holder)}
    out = explained(tmp_path, files)
    assert ("nothing reads it (loaded, train.py:4)" in out) is not is_read
    assert ("dtype: float16 (a.yaml:4); read in train.py, line 8" in out) is is_read


LOADS = """\
import argparse
from transformers import {}

parser = argparse.ArgumentParser()
parser.add_argument("--kind_dtype", default="float16")
args = parser.parse_args()
loaded = {}.from_pretrained("m", torch_dtype=args.kind_dtype)
"""


@pytest.mark.parametrize(
    ("name", "has_weights"),
    [
        ("AutoModel", True),
        ("ConfigurableModel", True),
        ("AutoConfig", False),
        ("LlamaConfig", False),
        ("config_class", False),
    ],
)
def test_a_configuration_has_no_weights(name: str, has_weights: bool, tmp_path: Path) -> None:
    files = {"run.sh": "python train.py --kind_dtype bfloat16\n"}
    out = explained(tmp_path, files | {"train.py": LOADS.format(name, name)})
    assert "--kind_dtype bfloat16" in out
    assert ("weights  bfloat16" in out) is has_weights
