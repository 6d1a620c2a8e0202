"""Functions that one branch calls, and another one hands to processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import sys

import torch
import torch.multiprocessing as mp
import yaml

class Settings(dict):
    __getattr__ = dict.__getitem__

def worker(rank, config):
    with torch.autocast("cuda", enabled=config.use_fp16):
        step()

def start(config):
    config.workers = torch.cuda.device_count()
    if config.workers == 1:
        worker(0, config)
    {}

if __name__ == "__main__":
    start(Settings(yaml.safe_load(open(sys.argv[1]))))
"""
ONLY_IF = "only if config.workers == 1"


def rows(other: str, tmp_path: Path) -> str:
    files = {
        "run.sh": "python train.py conf/a.yaml\n",
        "conf/a.yaml": "use_fp16: true\nlr: 1\n",
        "train.py": PROGRAM.format(other),
    }
    out = explained(tmp_path, files)
    assert "(autocast" in out
    return out


@pytest.mark.parametrize(
    "other",
    [
        "else: mp.spawn(worker, nprocs=config.workers, args=(config,))",
        "else: launch(worker, config)",
        "else: pool.starmap(worker, enumerate([config] * config.workers))",
        "elif config.workers: mp.Process(target=worker, args=(0, config)).start()",
        "if config.workers > 1: mp.spawn(worker, args=(config,))",
    ],
)
def test_no_condition_where_another_branch_hands_it_on(other: str, tmp_path: Path) -> None:
    assert "only if" not in rows(other, tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        "",
        "else: mp.spawn(other, nprocs=config.workers, args=(config,))",
        "else: raise SystemExit",
        "else: launch('worker of another', config)",
        "if False: mp.spawn(worker, args=(config,))",
        "else: worker_name = 'none'",
    ],
)
def test_a_condition_where_nothing_else_leads_there(other: str, tmp_path: Path) -> None:
    assert ONLY_IF in rows(other, tmp_path)
