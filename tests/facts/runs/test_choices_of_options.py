"""Options that say nothing of precision but in their choices: `--quantization 4bit`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch
from transformers import AutoModel, BitsAndBytesConfig

def quantized(kind):
    kind = kind.lower()
    if kind in {{"none", "no"}}:
        return None
    if kind == "4bit":
        return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
    return BitsAndBytesConfig(load_in_8bit=True)

class Client:
    def __init__(self, name, kind):
        self.model = AutoModel.from_pretrained(name, quantization_config=quantized(kind))

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--storage", choices={}, default="none")
    args = parser.parse_args()
    client = Client("a", kind=args.storage)

if __name__ == "__main__":
    main()
"""


def test_the_choice_decides_what_weights_are_loaded_in(tmp_path: Path) -> None:
    out = explained(tmp_path, {"serve.py": PROGRAM.format('["none", "4bit", "8bit"]')})
    assert 'bfloat16 with 4bit (4-bit products, serve.py:10)  serve.py:19  "--storage"' in out


def test_an_option_that_leads_nowhere_is_listed(tmp_path: Path) -> None:
    program = PROGRAM.format('["none", "4bit", "8bit"]').replace("kind=args.storage", "*given")
    out = explained(tmp_path, {"serve.py": program.replace("parser.parse_args()", "parsed()")})
    assert 'not understood: "--storage" (serve.py:19)' in out


@pytest.mark.parametrize(
    "choices", ['["none", "ram", "disk"]', '["none", "4bits_per_second"]', '["a8", "b16"]', "KINDS"]
)
def test_choices_of_other_things(choices: str, tmp_path: Path) -> None:
    assert '"--storage"' not in explained(tmp_path, {"serve.py": PROGRAM.format(choices)})
