"""Folders with many configurations of one kind: what they share is worked out once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.runs.in_vain import never_asked
from precision_lint.facts.runs.readers import giving_commands, readers
from precision_lint.facts.runs.written import nearby_files
from tests.cli.running import project, run

COUNT = 30
FILE = "name: run{}\nepochs: 3\nlr: 0.1\nbatch: 4\nseed: 1\nkind_dtype: float16\n"
PROGRAM = """\
import argparse
import torch

def main():
    args = argparse.ArgumentParser().parse_args()
    region = torch.autocast("cuda", dtype=args.kind_dtype)

if __name__ == "__main__":
    main()
"""


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, seen: Counter[str]) -> None:
    function = getattr(module, name)

    def counting(*args: Any) -> Any:
        seen[name] += 1
        return function(*args)

    monkeypatch.setattr(module, name, counting)


def test_what_many_files_share_is_worked_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"configs/run{number}.yaml": FILE.format(number) for number in range(COUNT)}
    root = project(tmp_path, files | {"train.py": PROGRAM})
    seen: Counter[str] = Counter()
    counted(monkeypatch, never_asked, "may_load", seen)
    for module in (giving_commands, nearby_files):
        counted(monkeypatch, module, "names_in", seen)
    counted(monkeypatch, readers, "_readers", seen)
    out = run("explain-config", ".", cwd=root).out
    assert out.count("no code of the project loads YAML files") == COUNT
    assert seen["may_load"] == 1
    assert seen["names_in"] <= 6
    assert seen["_readers"] <= COUNT + 1
