"""Scalers that a switch turns on: the code asks whether there is one, or takes steps with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch

def train(model, batch, optimizer, scaler=None):
    {step}

def main(args):
    scaler = None
    if args.amp:
        scaler = {made}
    {call}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    main(parser.parse_args())
"""
ASKS = """\
with torch.cuda.amp.autocast(enabled=scaler is not None):
        loss = model(batch)
    if scaler is not None:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        optimizer.step()
"""
REGION = "off by default; float16 with --amp (autocast, train.py:5)"
SCALER = "off by default; on with --amp (scaler, train.py:19)"


def out(step: str, call: str, tmp_path: Path, made: str = "torch.cuda.amp.GradScaler()") -> str:
    files = {"train.py": PROGRAM.format(step=step, call=call, made=made)}
    return explained(tmp_path, files, "train.py")


@pytest.mark.parametrize(
    "call",
    [
        "train(model(), batch(), optimizer(), scaler)",
        "train(model(), batch(), optimizer(), scaler=scaler)",
        "scaler is not None and prepare()\n    train(model(), batch(), optimizer(), scaler)",
    ],
)
def test_a_region_that_is_on_if_there_is_a_scaler(call: str, tmp_path: Path) -> None:
    text = out(ASKS, call, tmp_path)
    assert REGION in text
    assert SCALER in text
    assert text.count("(scaler") == 1


@pytest.mark.parametrize(
    ("step", "call"),
    [
        (ASKS, "train(model(), batch(), optimizer())"),
        (ASKS, "train(model(), batch(), scaler, None)"),
        (ASKS, "train(*scaler, batch(), optimizer(), scaler)"),
        (ASKS, "other = scaler\n    train(model(), batch(), optimizer(), other)"),
        (ASKS.replace("is not None):", "is None):", 1), "train(model(), batch(), o(), scaler)"),
        (ASKS.replace("scaler is not None):", "batch is not None):"), "train(1, 2, 3, scaler)"),
    ],
)
def test_no_region_that_asks_for_something_else(step: str, call: str, tmp_path: Path) -> None:
    text = out(step, call, tmp_path)
    assert SCALER in text
    assert "(autocast" not in text


def test_no_region_that_asks_for_another_object(tmp_path: Path) -> None:
    text = out(ASKS, "train(model(), batch(), optimizer(), scaler)", tmp_path, "Scale()")
    assert "(autocast" not in text


STEPS = """\
import argparse
import torch

def train(args, epochs):
    if args.amp:
        scaler = torch.cuda.amp.GradScaler()
    for _ in range(epochs):
        if args.amp:
            with torch.cuda.amp.autocast():
                loss = step()
        else:
            loss = step()
        {}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", default=False, type=flag)
    args = parser.parse_args()
    args.amp = args.amp and enough()
    train(args, 3)
"""
TAKEN = """\
if args.amp:
            scaler.unscale_(optimizer)
            clip(model, 1.0)
        else:
            clip(model, 1.0)
        if args.amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
"""


def test_a_step_with_a_scaler_beside_one_without_is_known(tmp_path: Path) -> None:
    text = explained(tmp_path, {"train.py": STEPS.format(TAKEN)}, "train.py")
    assert "off by default (autocast, train.py:9, only if args.amp)" in text
    assert "off by default (scaler, train.py:6, only if args.amp)" in text


@pytest.mark.parametrize(
    "line",
    [
        "mode = prepare(args.amp)",
        "if args.amp:\n            optimizer.step()\n        else:\n            other.step()",
        "if args.amp:\n            counter.update()\n        else:\n            pass",
    ],
)
def test_something_else_that_the_switch_does_is_not(line: str, tmp_path: Path) -> None:
    text = explained(tmp_path, {"train.py": STEPS.format(line)}, "train.py")
    assert 'not understood: "--amp"' in text


OFF = """\
if args.amp and args.upcast:
            with torch.cuda.amp.autocast(enabled={}):
                query = {}
        else:
            query = step()
        use(query)
"""


def test_what_is_kept_out_of_autocast_is_no_place(tmp_path: Path) -> None:
    text = explained(tmp_path, {"train.py": STEPS.format(OFF.format("False", "query.float()"))})
    assert "off by default (autocast, train.py:9, only if args.amp)" in text
    assert "cast of query" not in text


def test_a_region_that_may_be_on_is_one(tmp_path: Path) -> None:
    text = explained(tmp_path, {"train.py": STEPS.format(OFF.format("args.upcast", "step()"))})
    assert "one of 2 places" in text


SEVERAL = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="float16")
args = parser.parse_args()
kind = pick(args.dtype)
scaler = torch.amp.GradScaler("cuda", enabled=args.dtype == "float16")

def train(model, batch):
    if is_ready():
        with torch.autocast(device.type, dtype=DTYPES[args.dtype]):
            return model(batch)

def evaluate(model, batch):
    with {}:
        if is_ready():
            with torch.autocast(device.type, dtype=DTYPES[args.dtype]):
                return model(batch)

for batch in batches:
    train(model, batch)
    evaluate(model, batch)
"""
TRAINED = "float16 by default (autocast, train.py:12, only if is_ready())"


def test_the_region_that_trains_beside_the_scaler(tmp_path: Path) -> None:
    text = explained(tmp_path, {"train.py": SEVERAL.format("torch.no_grad()")}, "train.py")
    assert TRAINED in text
    assert "(scaler, train.py:8)" in text


@pytest.mark.parametrize("context", ["timer()", "nullcontext()"])
def test_one_of_those_that_train(context: str, tmp_path: Path) -> None:
    text = explained(tmp_path, {"train.py": SEVERAL.format(context)}, "train.py")
    assert TRAINED not in text
    assert "one of 2 places" in text


def test_none_of_those_that_evaluate(tmp_path: Path) -> None:
    program = SEVERAL.replace("def train(", "@torch.no_grad()\ndef train(").format(
        "torch.no_grad()"
    )
    assert "(autocast" not in explained(tmp_path, {"train.py": program}, "train.py")
