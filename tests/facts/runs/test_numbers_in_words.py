"""Words of a command line that are numbers, where the program declares them as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

LOADS = """\
model = transformers.AutoModelForCausalLM.from_pretrained(
    "m", quantization_config=transformers.BitsAndBytesConfig(load_in_8bit=args.bits == 8)
)
"""
FIELD = """\
from dataclasses import dataclass
import transformers

@dataclass
class Arguments:
    bits: {}

(args,) = transformers.HfArgumentParser((Arguments,)).parse_args_into_dataclasses()
"""
OPTION = """\
import argparse
import transformers

parser = argparse.ArgumentParser()
parser.add_argument("--bits"{})
args = parser.parse_args()
"""


@pytest.mark.parametrize(
    ("declared", "is_on"),
    [
        (FIELD.format("int"), True),
        (FIELD.format("int | None"), True),
        (FIELD.format("str"), False),
        (OPTION.format(", type=int"), True),
        (OPTION.format(", type=int, default=4"), True),
        (OPTION.format(""), False),
    ],
)
def test_a_word_of_digits_is_a_number_by_its_type(
    declared: str, is_on: bool, tmp_path: Path
) -> None:
    files = {"train.py": declared + LOADS, "run.sh": "python train.py --bits 8\n"}
    out = explained(tmp_path, files)
    assert f"load_in_8bit = {'true' if is_on else 'false'}" in out
