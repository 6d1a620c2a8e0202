"""Files that a program composes by calls of Hydra, in a module that it imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

FILE = "epochs: 3\nlr: 0.1\nkind_dtype: float16\ndata: d\nmodel: m\nseed: 1\n"
MODULE = """\
import os
from pathlib import Path
from hydra import compose, initialize, initialize_config_dir

ROOT = Path(__file__).resolve().parents[1]
HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGS = ROOT / "settings" / "all"

def load_cfg(name):
    with {}:
        return compose(config_name="base", overrides=[f"+kind={{name}}"])

def other():
    pass
"""
PROGRAM = """\
from torch import nn
from lib.config import load_cfg
from tool import Engine

cfg = load_cfg("a")
print(cfg.epochs, cfg.lr, cfg.data, cfg.model, cfg.seed)
Engine(dtype=cfg.kind_dtype)
if __name__ == "__main__":
    main()
"""


def explained(tmp_path: Path, call: str, program: str = PROGRAM) -> str:
    files = {
        "settings/all/kind/a.yaml": FILE,
        "settings/tools/run.py": "if __name__ == '__main__':\n    main()\n",
        "lib/config.py": MODULE.format(call),
        "scripts/train.py": program,
    }
    return run("explain-config", cwd=project(tmp_path, files)).out


@pytest.mark.parametrize(
    "call",
    [
        "initialize_config_dir(config_dir=str(CONFIGS), version_base=None)",
        "initialize_config_dir(str(ROOT.joinpath('settings', 'all')))",
        "initialize_config_dir(os.path.join(HERE, '..', 'settings/all'))",
        "initialize(config_path='../settings/all')",
        "initialize('../settings/all', version_base=None)",
    ],
)
def test_the_program_that_calls_it_reads_the_files_of_the_folder(call: str, tmp_path: Path) -> None:
    assert "read by scripts/train.py" in explained(tmp_path, call)


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        ("initialize(config_path='../settings/none')", "", ""),
        ("initialize(config_path=folder())", "", ""),
        ("initialize_config_dir(ROOTS[0])", "", ""),
        ("initialize_config_dir(str(ROOT.parents[40]))", "", ""),
        # It is imported, and another function of it is called.
        ("initialize(config_path='../settings/all')", 'load_cfg("a")', 'other("a")'),
    ],
)
def test_other_programs_and_other_folders(call: str, old: str, new: str, tmp_path: Path) -> None:
    assert "read by scripts/train.py" not in explained(tmp_path, call, PROGRAM.replace(old, new))
