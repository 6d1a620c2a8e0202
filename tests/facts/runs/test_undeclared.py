"""Options of a launch that the program's own parser does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

OWN = """\
import argparse
{imports}
import torch


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use-bf16", action="store_true")
    return parser.parse_args()


def main():
    args = {parsing}
    dtype = torch.bfloat16 if args.use_bf16 else torch.float32
    torch.nn.Linear(2, 2).to(dtype)


main()
"""


def found(tmp_path: Path, program: str) -> str:
    files = {"run.sh": "python train.py --fp16\n", "train.py": program}
    return run("--select", "MP704", ".", cwd=project(tmp_path, files)).out


def test_an_option_that_the_parser_does_not_have(tmp_path: Path) -> None:
    assert "MP704" in found(tmp_path, OWN.format(imports="", parsing="get_args()"))


@pytest.mark.parametrize(
    ("imports", "parsing"),
    [
        ("from transformers import HfArgumentParser", "get_args() or HfArgumentParser(Args)"),
        ("from tool import words", "words()"),
    ],
    ids=["another kind of parser", "a parser that nothing calls"],
)
def test_a_program_that_takes_its_words_in_another_way(
    imports: str, parsing: str, tmp_path: Path
) -> None:
    assert "MP704" not in found(tmp_path, OWN.format(imports=imports, parsing=parsing))
