"""What a call gives to a static method, which has no `self`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import sys
import torch
import yaml
from transformers import AutoModel

class Kinds:
    {decorator}
    def to_dtype({parameters}):
        if kind == "bf16":
            return torch.bfloat16
        return torch.float32

def main():
    config = yaml.safe_load(open(sys.argv[1]))
    dtype = {call}(config["model"].get("model_dtype", "fp32"))
    model = AutoModel.from_pretrained(config["model"]["path"], torch_dtype=dtype)
    print(config["seed"], config["epochs"], config["data"])

if __name__ == "__main__":
    main()
"""
FILE = "seed: 1\nepochs: 2\ndata: d\nmodel:\n  path: m\n  model_dtype: bf16\n"


@pytest.mark.parametrize(
    ("decorator", "parameters", "call"),
    [
        ("@staticmethod", "kind", "Kinds.to_dtype"),
        ("@classmethod", "cls, kind", "Kinds.to_dtype"),
        ("", "self, kind", "Kinds().to_dtype"),
    ],
)
def test_a_method_that_makes_a_dtype(
    decorator: str, parameters: str, call: str, tmp_path: Path
) -> None:
    program = PROGRAM.format(decorator=decorator, parameters=parameters, call=call)
    if not decorator:
        program = program.replace("    \n", "")
    files = {"a.yaml": FILE, "train.py": program}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert "bfloat16 (weights of model, train.py:" in out
    assert "a.yaml:6  model_dtype: bf16" in out


def test_another_parameter_of_a_static_method(tmp_path: Path) -> None:
    program = PROGRAM.format(
        decorator="@staticmethod", parameters="size, kind=None", call="Kinds.to_dtype"
    )
    out = run("explain-config", cwd=project(tmp_path, {"a.yaml": FILE, "train.py": program})).out
    assert "weights of model" not in out
