"""Scalers that are saved and loaded beside the one that scales the loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse

import torch


def save(path, model, scaler=None):
    state = {{"model": model.state_dict()}}
    if scaler is not None:
        state["scaler"] = scaler.state_dict()
    torch.save(state, path)


def load(path, model, scaler):
    state = torch.load(path)
    scaler.load_state_dict(state["scaler"])


def resume(path, model, scaler):
    load(path, model, scaler=scaler)


def step(args, model, optimizer, batch):
    scaler = torch.amp.GradScaler(enabled=args.amp)
    scaler.scale(model(batch).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    model = torch.nn.Linear(2, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = torch.amp.GradScaler(enabled=args.amp)
    {use}
    for batch in torch.ones(4, 2).cuda():
        step(args, model, optimizer, batch)


if __name__ == "__main__":
    main()
"""
STEPS, KEPT = "(scaler, train.py:23", "(scaler, train.py:35"


def explained(folder: Path, use: str) -> str:
    files = {"train.py": PROGRAM.format(use=use)}
    return run("explain-config", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    "use",
    [
        "save('a.pt', model, kept)",
        "save('a.pt', model, scaler=kept)",
        "resume('a.pt', model, kept)",
        "torch.save(kept.state_dict() if kept is not None else None, 'a.pt')",
        "kept.load_state_dict(torch.load('a.pt'))",
    ],
)
def test_one_that_is_only_saved(use: str, tmp_path: Path) -> None:
    out = explained(tmp_path, use)
    assert STEPS in out
    assert KEPT not in out


@pytest.mark.parametrize(
    "use",
    [
        "kept.scale(model(torch.ones(2).cuda()).sum()).backward()",
        "save('a.pt', model, kept), kept.update()",
        "model.scaler = kept",
        "Helper(kept)",
        "other(kept)",
        "save(*['a.pt', model], kept)",
    ],
)
def test_one_that_may_scale(use: str, tmp_path: Path) -> None:
    assert KEPT in explained(tmp_path, use)


def test_the_only_one(tmp_path: Path) -> None:
    text = PROGRAM.format(use="save('a.pt', model, kept)")
    text = text.replace("scaler = torch.amp.GradScaler(enabled=args.amp)", "scaler = Scaler(args)")
    out = run("explain-config", cwd=project(tmp_path, {"train.py": text})).out
    assert KEPT in out
