"""Casts of tensors to a type that is written out, where a setting decides whether they are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
import torch

def main(args):
    batch = tool.batch()
    if {}:
        batch = batch.{}
    return tool.train(batch)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", {})
    main(parser.parse_args())
"""


def explained(folder: Path, test: str, cast: str, declared: str, script: str = "") -> str:
    files = {"train.py": PROGRAM.format(test, cast, declared)}
    files |= {"run.sh": script} if script else {}
    return run("explain-config", ".", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    "cast",
    ["to(torch.bfloat16)", "to(device, torch.float16)", "to(dtype=torch.float16)", "half()",
     "type(torch.bfloat16)"],
)  # fmt: skip
def test_a_cast_that_is_written_out(cast: str, tmp_path: Path) -> None:
    out = explained(tmp_path, "args.half", cast, 'action="store_true"')
    assert "(cast of batch, train.py:7" in out


@pytest.mark.parametrize(
    "cast",
    ["to(torch.long)", "to(torch.int8)", "to(device)", "to(other.bfloat16)", "to(kind)",
     "type(batch.dtype)", "to(torch.device(0))", "move(torch.bfloat16)", "to()",
     "to(torch.cuda.bfloat16)"],
)  # fmt: skip
def test_what_is_no_such_cast(cast: str, tmp_path: Path) -> None:
    out = explained(tmp_path, "args.half", cast, 'action="store_true"')
    assert "(cast of" not in out


@pytest.mark.parametrize(("value", "is_meant"), [("fp16", True), ("bf16", False)])
def test_a_cast_to_another_type_is_not_meant(value: str, is_meant: bool, tmp_path: Path) -> None:
    test = 'args.half in ("bf16", "fp16") or args.half == tool.kind()'
    script = f"python train.py --half {value}\n"
    out = explained(tmp_path, test, "to(torch.float16)", 'default="no"', script)
    of_script = out.partition("run.sh:1")[2]
    assert ("(cast of batch" in of_script) is is_meant


PLUGIN = """\
import argparse
import lightning as L
from lightning.pytorch.plugins import MixedPrecision

parser = argparse.ArgumentParser()
parser.add_argument("--use_fp16", action="store_true")
parser.add_argument("--precision", default="16-mixed")
args = parser.parse_args()
plugins = []
if args.use_fp16:
    plugins.append(MixedPrecision(precision={}, device="cuda"))
L.Trainer(plugins=plugins).fit(model)
"""


@pytest.mark.parametrize(
    ("argument", "is_shown"), [('"16-mixed"', True), ("args.precision", False)]
)
def test_an_argument_of_a_call_that_a_switch_turns_on(
    argument: str, is_shown: bool, tmp_path: Path
) -> None:
    files = {"train.py": PLUGIN.format(argument), "run.sh": "python train.py --use_fp16\n"}
    out = run("explain-config", ".", cwd=project(tmp_path, files)).out.partition("run.sh:1")[2]
    assert ("16-mixed (argument of" in out.partition("--use_fp16")[0]) is is_shown


CHOSEN = """\
import argparse
import torch

class Loss:
    def __init__(self, options):
        self.fp32_loss = options.fp32_loss

    def of(self, score, labels):
        return self.inner({}, labels).sum()

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp32_loss", action="{}")
    Loss(parser.parse_args()).of(tool.scores(), tool.labels())
"""
PLAIN = "score.to(torch.float32) if self.fp32_loss else score"
NEGATED = "score if not self.fp32_loss else score.to(torch.float32)"


@pytest.mark.parametrize("expression", [PLAIN, NEGATED])
@pytest.mark.parametrize(
    ("action", "value"), [("store_true", "not used"), ("store_false", "float32")]
)
def test_a_cast_that_an_expression_chooses(
    expression: str, action: str, value: str, tmp_path: Path
) -> None:
    files = {"train.py": CHOSEN.format(expression, action)}
    out = run("explain-config", ".", cwd=project(tmp_path, files)).out
    assert f"{value} by default (cast of score, train.py:9)" in out
