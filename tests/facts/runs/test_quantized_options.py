"""Options of quantized weights: what a program has them for, besides what else they decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
from dataclasses import dataclass
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, HfArgumentParser
from tools import is_sharded, prepare

@dataclass
class ModelArguments:
    name: str = "m"
    load_in_8bit: bool = False
    load_in_4bit: bool = {default}
    bnb_4bit_quant_type: str = "nf4"

def main():
    args, = HfArgumentParser(ModelArguments).parse_args_into_dataclasses()
    load_in_4bit = args.load_in_4bit
    load_in_8bit = args.load_in_8bit
    config = None
    if load_in_4bit and load_in_8bit:
        raise ValueError("one of them")
    elif load_in_4bit or load_in_8bit:
        if is_sharded():
            raise ValueError("neither")
        if load_in_8bit:
            config = BitsAndBytesConfig(load_in_8bit=True)
        elif load_in_4bit:
            config = BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_compute_dtype="bfloat16",
                bnb_4bit_quant_type=args.bnb_4bit_quant_type,
            )
    model = AutoModelForCausalLM.from_pretrained(args.name, quantization_config=config)
    {more}

if __name__ == "__main__":
    main()
"""
PREPARED = "if load_in_4bit or load_in_8bit:\n        model = prepare(model)"


MAYBE = """\
import sys
import yaml
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from tools import load_settings, is_large, prepare

settings = load_settings(sys.argv[1])
print(settings.epochs, settings.lr, yaml.safe_load(text))

def main():
    config = None
    if settings.load_in_4bit:
        if is_large():
            config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype="bfloat16")
    model = AutoModelForCausalLM.from_pretrained("m", quantization_config=config)
    {more}

if __name__ == "__main__":
    main()
"""
SETTINGS = "epochs: 3\nlr: 0.1\nload_in_4bit: true\n"


def of_file(more: str, tmp_path: Path) -> str:
    files = {"train.py": MAYBE.format(more=more), "a.yaml": SETTINGS}
    return explained(tmp_path, files | {"run.sh": "python train.py a.yaml\n"})


def rows(tmp_path: Path, default: bool = False, more: str = PREPARED) -> list[str]:
    files = {"train.py": PROGRAM.format(default=default, more=more)}
    return explained(tmp_path, files).splitlines()


def test_what_a_switch_decides_as_well_is_not_in_the_way(tmp_path: Path) -> None:
    out = "\n".join(rows(tmp_path))
    assert "off by default (4-bit products, train.py:25)" in out
    assert "not used by default (argument of BitsAndBytesConfig(load_in_8bit=), train.py:23)" in out
    assert "not understood: load_in" not in out


def test_a_default_that_is_on(tmp_path: Path) -> None:
    out = "\n".join(rows(tmp_path, default=True))
    assert "bfloat16 by default (4-bit products, train.py:25)" in out


def test_the_type_of_the_weights(tmp_path: Path) -> None:
    out = "\n".join(rows(tmp_path))
    assert (
        "nf4 by default (argument of BitsAndBytesConfig(bnb_4bit_quant_type=), train.py:25" in out
    )


@pytest.mark.parametrize(
    "more",
    [
        "if settings.load_in_4bit:\n        model = prepare(model)",
        "if settings.load_in_4bit and is_large():\n        model = prepare(model)",
        "if not settings.load_in_4bit:\n        prepare(model)\n    else:\n        model.run()",
    ],
)
def test_a_place_that_a_run_may_come_to(more: str, tmp_path: Path) -> None:
    text = of_file(more, tmp_path)
    assert "true (4-bit products, train.py:13, only if is_large())" in text
    assert "not understood" not in text


@pytest.mark.parametrize(
    "more",
    [
        "model = keep(model, settings.load_in_4bit)",
        "kept = bits_of(settings.load_in_4bit)\n    use(kept)",
        "return pick(model, settings.load_in_4bit)",
        "while settings.load_in_4bit:\n        step(model)",
        "model.bits = compute(settings.load_in_4bit)",
        "values = [keep(each, settings.load_in_4bit) for each in model]",
    ],
)
def test_a_value_that_goes_elsewhere_is(more: str, tmp_path: Path) -> None:
    assert "(4-bit products" not in of_file(more, tmp_path)


ARGUMENTS = """\
from dataclasses import dataclass

@dataclass
class {name}:
    load_in_4bit: bool = False
"""
USER = """\
from transformers import AutoModelForCausalLM, HfArgumentParser
from {package} import {name}

def main():
    args, = HfArgumentParser({name}).parse_args_into_dataclasses()
    AutoModelForCausalLM.from_pretrained("m", load_in_4bit=args.load_in_4bit)

if __name__ == "__main__":
    main()
"""
PACKAGE = "from kit.arguments import ModelArguments\n"
FOUND = "(4-bit weights, train.py:6)"


def in_package(files: dict[str, str], tmp_path: Path) -> str:
    own = {"kit/__init__.py": PACKAGE, "kit/arguments.py": ARGUMENTS.format(name="ModelArguments")}
    return explained(tmp_path, own | files, "kit/arguments.py")


@pytest.mark.parametrize("package", ["kit", "kit.arguments"])
def test_a_class_that_a_package_hands_on(package: str, tmp_path: Path) -> None:
    user = USER.format(package=package, name="ModelArguments")
    assert FOUND in in_package({"train.py": user}, tmp_path)


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": USER.format(package="kit", name="OtherArguments")},
        {
            "train.py": USER.format(package="other", name="ModelArguments"),
            "other.py": ARGUMENTS.format(name="ModelArguments"),
        },
        {
            "train.py": USER.format(package="arguments", name="ModelArguments"),
            "arguments.py": ARGUMENTS.format(name="ModelArguments"),
        },
        {"train.py": "import kit\n\nif __name__ == '__main__':\n    kit.main()\n"},
    ],
)
def test_another_class_or_another_package(files: dict[str, str], tmp_path: Path) -> None:
    assert FOUND not in in_package(files, tmp_path)


def test_what_a_condition_asks_for_beside_the_option_is_no_reason(tmp_path: Path) -> None:
    found = [row for row in rows(tmp_path) if "only if load_in" in row and "argument of" in row]
    assert len(found) == 1
    assert "only if load_in_4bit is not false)  train.py:10  bnb_4bit_quant_type" in found[0]


OTHER_FIRST = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--bf16", type=flag, default=True)
parser.add_argument("--fp16", type=flag, default=False)
args = parser.parse_args()
if args.bf16:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        step()
elif args.fp16:
    with torch.autocast("cuda", dtype=torch.float16):
        step()
"""


def test_another_option_that_is_asked_for_first_is_one(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": OTHER_FIRST})
    (row,) = [row for row in out.splitlines() if "train.py:6" in row]
    assert "(autocast, train.py:12, only if bf16 is not true)" in row
