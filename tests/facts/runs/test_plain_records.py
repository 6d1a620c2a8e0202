"""Fields of objects that code makes, which have the name of a setting, and are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import sys
from dataclasses import dataclass, field
import torch
from tool import load_settings, start

@dataclass
class Part:
    name: str
    dtype: str = "float32"

    def size(self):
        return getattr(torch, self.dtype).itemsize

cfg = load_settings(sys.argv[1])
print(cfg.epochs, cfg.lr, cfg.data, cfg.model, cfg.seed, "dtype")
yaml.safe_load(text)
start(cfg)

def main():
    {}
    for key, weight in weights:
        part = {}
        print(part.size(), {})

if __name__ == "__main__":
    main()
"""
FILE = "epochs: 3\nlr: 0.1\ndata: d\nmodel: m\nseed: 1\ndtype: bfloat16\n"
MADE = "Part(name=key, dtype=str(weight.dtype))"


def explained(folder: Path, made: str, before: str = "pass", used: str = "key") -> str:
    program = PROGRAM.format(before, made, used)
    return run("explain-config", cwd=project(folder, {"a.yaml": FILE, "train.py": program})).out


@pytest.mark.parametrize(
    ("made", "used"),
    [
        (MADE, "key"),
        ('Part(key, "float32")', "key"),
        (MADE, "torch.zeros(1, dtype=getattr(torch, part.dtype))"),
        ("next_part()", "key"),
    ],
)
def test_a_field_that_each_call_gives_is_no_setting(made: str, used: str, tmp_path: Path) -> None:
    out = explained(tmp_path, made, used=used)
    assert "not understood: dtype: bfloat16 (a.yaml:6)" in out
    assert "line 12" not in out


@pytest.mark.parametrize(
    ("made", "before"),
    [
        ("Part(key)", "pass"),
        ("Part(**cfg)", "pass"),
        ("Part(*found)", "pass"),
        ("make(Part)", "pass"),
        (MADE, "part = tyro.cli(Part)"),
        (MADE, "part = Part.from_dict(cfg)"),
        (MADE, "(part,) = HfArgumentParser((Part,)).parse_args_into_dataclasses()"),
    ],
)
def test_a_field_that_the_settings_may_fill(made: str, before: str, tmp_path: Path) -> None:
    out = explained(tmp_path, made, before)
    assert "train.py:12" in out or "train.py, line 12" in out


def test_a_field_that_a_call_gives_a_setting(tmp_path: Path) -> None:
    out = explained(tmp_path, "Part(name=key, dtype=cfg.dtype)")
    assert "bfloat16 (argument of Part(dtype=), train.py:22)" in out


SECTIONS = """\
import sys
from tool import load_settings

def read(table):
    print(table["shape"], table["kind_dtype"])

class Engine:
    def __init__(self, config):
        self.config = config

    def make(self):
        print(self.config.kind_dtype, self.config.path)

cfg = load_settings(sys.argv[1])
yaml.safe_load(text)
print(cfg.epochs, cfg.lr, cfg.data, cfg.model, cfg.seed)

if __name__ == "__main__":
    Engine(cfg.part(sys.argv[2])).make()
"""
MORE = "actor:\n  kind_dtype: bfloat16\n  path: a\nother:\n  kind_dtype: float32\n  port: 1\n"


@pytest.mark.parametrize(("file", "is_seen"), [(MORE, False), (MORE.partition("other")[0], True)])
def test_of_which_section_something_is_read(file: str, is_seen: bool, tmp_path: Path) -> None:
    settings = "epochs: 3\nlr: 0.1\ndata: d\nmodel: m\nseed: 1\n" + file
    files = {"a.yaml": settings, "train.py": SECTIONS}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    said = "what for is not seen" if is_seen else "of which section is not seen"
    assert (
        f"not understood: kind_dtype: bfloat16 (a.yaml:7); read in train.py, line 12; {said}" in out
    )
