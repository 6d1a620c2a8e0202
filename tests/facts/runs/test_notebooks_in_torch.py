"""What notebooks write out of precision in torch's terms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import explained
from tests.notebooks import code, document

LOADED = "AutoModelForCausalLM.from_pretrained('m', {})\n"
IMPORTS = "import torch\nfrom transformers import AutoModelForCausalLM, AutoConfig\n"


def said(folder: Path, *cells: str) -> str:
    text = json.dumps(document(map(code, (IMPORTS, *cells))))
    return explained(folder, {"notes/a.ipynb": text})


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (
            "net = " + LOADED.format("torch_dtype=torch.float16"),
            "float16 (weights of net, notes/a.ipynb:cell 2:1)",
        ),
        (
            "with torch.autocast('cuda', dtype=torch.bfloat16):\n    net(x)\n",
            "bfloat16 (autocast, notes/a.ipynb:cell 2:1)",
        ),
    ],
)
def test_a_constant_of_a_cell(cell: str, shown: str, tmp_path: Path) -> None:
    out = said(tmp_path, cell)
    assert "notes/a.ipynb:cell 1:1: PyTorch\n" in out
    assert f"{shown}  the program itself" in out


@pytest.mark.parametrize(
    "cell",
    [
        "net = " + LOADED.format("device_map='auto'"),
        "net = " + LOADED.format("torch_dtype=chosen()"),
        "config = AutoConfig.from_pretrained('m', torch_dtype=torch.float16)\n",
        "mask = torch.ones(3).half()\n",
        "def load():\n    return 'torch.float16'\n",
        "with torch.autocast('cuda', enabled=False):\n    net(x)\n",
    ],
)
def test_what_says_nothing(cell: str, tmp_path: Path) -> None:
    assert "PyTorch" not in said(tmp_path, cell)


def test_a_program_is_no_notebook(tmp_path: Path) -> None:
    text = f"{IMPORTS}net = {LOADED.format('torch_dtype=torch.float16')}"
    assert "the program itself" not in explained(tmp_path, {"notes/a.py": text})
