"""Conditions that look for a part of a text: `"mpt" in args.model`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
from transformers import AutoModel, LlamaModel

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="own/mpt-7b")
parser.add_argument("--dtype", default="float32")
parser.add_argument("--size", type=int, default=7)
args = parser.parse_args()
if {test}:
    model = AutoModel.from_pretrained(args.model, torch_dtype=args.dtype)
else:
    model = LlamaModel.from_pretrained(args.model, torch_dtype=args.dtype)
"""
ONE, OTHER = "train.py:10", "train.py:12"


def rows(test: str, words: str, tmp_path: Path) -> str:
    files = {"run.sh": f"python train.py {words} --dtype bfloat16\n"}
    out = explained(tmp_path, {**files, "train.py": PROGRAM.format(test=test)}, "run.sh")
    assert "bfloat16" in out
    return out


@pytest.mark.parametrize(
    ("test", "words", "place"),
    [
        ("'mpt' in args.model", "--model a/llama", OTHER),
        ("'mpt' in args.model", "--model a/mpt-2", ONE),
        ("'mpt' in args.model", "", ONE),
        ("'mpt' not in args.model", "--model a/llama", ONE),
        ("'mpt' in args.model.lower()", "--model a/MPT-2", ONE),
        ("'mpt' in args.model", "--model a/MPT-2", OTHER),
        ("Path(args.model) is not None", "--model a/llama", ONE),
    ],
)
def test_the_branch_that_a_known_text_takes(
    test: str, words: str, place: str, tmp_path: Path
) -> None:
    out = rows(test, words, tmp_path)
    assert place in out
    assert (OTHER if place == ONE else ONE) not in out
    assert "one of" not in out


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("'mpt' in args.model", "--model $MODEL"),
        ("'mpt' in args.model", "--model a/$MODEL"),
        ("'mpt' in args.model", "$WORDS"),
        ("'mpt' in read(args.model)", "--model a/llama"),
        ("'mpt' in open(args.model).read().lower()", "--model a/llama"),
        ("'a/llama' == open(args.model).read()", "--model a/llama"),
        ("open(args.model).read() in ('a', 'b')", "--model a/llama"),
        ("'mpt' in names", "--model a/llama"),
        ("kind in args.model", "--model a/llama"),
        ("args.size in args.model", "--model a/llama"),
        ("'mpt' in [*names, args.model]", "--model a/llama"),
        ("'mpt' in AutoConfig.from_pretrained(args.model).model_type", "--model a/llama"),
    ],
)
def test_a_text_that_is_not_known_decides_nothing(test: str, words: str, tmp_path: Path) -> None:
    assert "one of 2 places" in rows(test, words, tmp_path)
