"""Options of switches that the program also sets without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

OPTION = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--allow_tf32", action="store_true")
parser.add_argument("--bf16", action="store_true")
args = parser.parse_args()
"""
SET = "torch.backends.cuda.matmul.allow_tf32 = True\n"
UNDER = f"if args.allow_tf32:\n    {SET}"
REGION = 'with torch.autocast("cuda", torch.bfloat16, enabled=args.bf16):\n    pass\n'
DECIDES = "off by default; tf32 with --allow_tf32"
ANYWAY = "tf32 in any case (matmul, train.py:8)"


def explained(tmp_path: Path, code: str, **files: str) -> str:
    named = {name.replace("_sh", ".sh").replace("_py", ".py"): text for name, text in files.items()}
    made = project(tmp_path, {"train.py": OPTION + code} | named)
    return run("explain-config", cwd=made).out


@pytest.mark.parametrize(
    "code",
    [
        SET + UNDER,
        'torch.set_float32_matmul_precision("high")\n' + UNDER,
        SET + f"def main():\n    if args.allow_tf32:\n        {SET}main()\n",
    ],
)
def test_a_switch_that_is_set_in_any_case(code: str, tmp_path: Path) -> None:
    out = explained(tmp_path, code)
    assert ANYWAY in out
    assert DECIDES not in out


@pytest.mark.parametrize(
    "code",
    [
        UNDER + "if len(sys.argv) > 3:\n    " + SET,
        f"def main():\n    {SET}main()\n{UNDER}",
        UNDER + SET.replace("True", "False"),
        SET + "if args.allow_tf32:\n    " + SET.replace("True", "False"),
    ],
)
def test_a_switch_that_something_else_may_set(code: str, tmp_path: Path) -> None:
    out = explained(tmp_path, code)
    assert "by default" not in out.replace("--bf16", "")
    assert 'not understood: "--allow_tf32"' in out
    assert "sets it, too" in out or "in any case" in out


@pytest.mark.parametrize(
    "code",
    [
        UNDER,
        SET.replace("True", "False") + UNDER,
        SET.replace("cuda.matmul", "cudnn") + UNDER,
        UNDER + f"def unused():\n    {SET}",
        UNDER + f"if args.bf16:\n    {SET}",
        UNDER + "torch.backends.cudnn.allow_tf32 = False\n",
        UNDER + "if False:\n    " + SET,
        UNDER + "torch.backends.cudnn.benchmark = True\n",
    ],
)
def test_a_switch_that_the_option_alone_sets(code: str, tmp_path: Path) -> None:
    assert DECIDES in explained(tmp_path, code)


def test_a_switch_that_always_takes_the_option(tmp_path: Path) -> None:
    out = explained(tmp_path, SET + SET.replace("True", "args.allow_tf32"))
    assert f"{DECIDES} (matmul, train.py:9)" in out


def test_a_switch_of_a_module_that_may_not_be_imported(tmp_path: Path) -> None:
    out = explained(tmp_path, "import other\n" + UNDER, other_py="import torch\n" + SET)
    assert DECIDES not in out
    assert "other.py, line 2, sets it, too" in out


@pytest.mark.parametrize(
    ("code", "is_off"),
    [(SET + UNDER, False), (UNDER, True), (SET.replace("cuda.matmul", "cudnn") + UNDER, True)],
)
def test_a_run_without_the_option(code: str, is_off: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, code + REGION, run_sh="python train.py --bf16\n")
    started = out.partition("\n\n")[0]
    assert "bfloat16 (autocast" in started
    assert ("off (matmul" in started) is is_off
