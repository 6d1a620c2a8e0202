"""A call is given a dtype under any name: what callers give decides what casts to it make."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import ModelOutput, Tensor
from tests.facts.dtypes.following import described, last_call

NET = """
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

def build(dim, kind):
    return Net(dim).to(dtype=kind)

"""
RUNS = {
    "made by a function": "def run(kind):\n    build(2, kind).proj.weight.numpy()\n",
    "made by a function that is given a dtype by its name": (
        "def run(dtype: torch.dtype):\n    build(2, dtype).proj.weight.numpy()\n"
    ),
    "cast here": "def run(kind):\n    nn.Linear(2, 2).to(dtype=kind).weight.numpy()\n",
    "an attribute that names a dtype": (
        "class Run:\n    def __init__(self, kind):\n        self.weight_dtype = kind\n"
        "    def go(self):\n        torch.randn(2).to(self.weight_dtype).numpy()\n"
        "def run(kind):\n    Run(kind).go()\n"
    ),
}


@pytest.mark.parametrize("given", ["bfloat16", "float32"])
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_what_is_given_decides(run: str, given: str, tmp_path: Path) -> None:
    source = f"{NET}{run}\nrun(torch.{given})\n"
    assert described(last_call(tmp_path, main=source).receiver) == given


@pytest.mark.parametrize("given", ["bf16", "fp32"])
def test_a_table_gives_what_callers_name(given: str, tmp_path: Path) -> None:
    source = (
        "DTYPES = {'bf16': torch.bfloat16, 'fp32': torch.float32}\n"
        "def run(precision, x):\n    return x.to(DTYPES[precision]).numpy()\n"
        f"run('{given}', torch.zeros(2))\n"
    )
    expected = {"bf16": "bfloat16", "fp32": "float32"}[given]
    assert described(last_call(tmp_path, main=source).receiver).split()[0] == expected


def test_what_no_caller_names_is_any_entry_of_a_table(tmp_path: Path) -> None:
    source = (
        "DTYPES = {'bf16': torch.bfloat16, 'fp32': torch.float32}\n"
        "def run(precision, x):\n    return x.to(DTYPES[precision]).numpy()\n"
    )
    assert described(last_call(tmp_path, main=source).receiver) == "bfloat16 float32"


@pytest.mark.parametrize(
    ("given", "cast", "expected"),
    [
        ("config", "", "float32 partial"),
        ("config, dtype=torch.bfloat16", "", "bfloat16"),
        ("config", ".to(device='cpu', dtype=torch.bfloat16)", "bfloat16"),
    ],
)
def test_models_that_a_configuration_makes(
    given: str, cast: str, expected: str, tmp_path: Path
) -> None:
    source = (
        "from transformers import AutoModelForCausalLM, LlamaConfig\nconfig = LlamaConfig()\n"
        f"model = AutoModelForCausalLM.from_config({given}){cast}\n"
        "model.lm_head.weight.numpy()\n"
    )
    assert described(last_call(tmp_path, main=source).receiver) == expected


@pytest.mark.parametrize(("given", "more"), [("torch.bfloat16", "bfloat16 "), ("'cuda'", "")])
def test_what_a_module_is_moved_to_may_be_a_dtype(given: str, more: str, tmp_path: Path) -> None:
    source = (
        "def run(place):\n    net = nn.Linear(2, 2)\n    net.to(place)\n    net.weight.numpy()\n"
        f"run({given})\n"
    )
    assert described(last_call(tmp_path, main=source).receiver) == f"{more}float32"


@pytest.mark.parametrize("maker", ["other import Decoder", "transformers import AutoModel"])
def test_a_region_leaves_no_other_half_dtype_of_the_weights(maker: str, tmp_path: Path) -> None:
    name = maker.rpartition(" ")[2]
    source = (
        f"from {maker}\nmodel = {name}.from_pretrained('a', dtype=torch.bfloat16)\n"
        "def run(x):\n    with torch.autocast('cuda', dtype=torch.float16):\n"
        "        out = model(x)\n    out.numpy()\n"
    )
    receiver = last_call(tmp_path, main=source).receiver
    tensor = receiver.tensor if isinstance(receiver, ModelOutput) else receiver
    assert isinstance(tensor, Tensor)
    assert described(tensor) == "float16 chosen"
