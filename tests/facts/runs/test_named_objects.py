"""Objects of a class of settings, of which the first word of a run names one: tyro takes its
members as defaults.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import dataclasses
import torch
import tyro

@dataclasses.dataclass
class Config:
    name: str
    dtype: str = "fp16"
    kind: str = "small"

CONFIGS = [
    Config(name="base"),
    Config(name="large", kind="large"),
    Config(name="worked_out", kind=kind_of("large")),
    Config(name="twice", kind="large"),
    Config(name="twice"),
    Config(name="spread", **more),
]
config = tyro.extras.overridable_config_cli({each.name: (each.name, each) for each in CONFIGS})
dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}[config.dtype]
if config.kind == "small":
    with torch.autocast("cuda", dtype=dtype):
        fit()
else:
    with torch.autocast("cuda", dtype=dtype, cache_enabled=False):
        fit()
"""
SMALL, LARGE = "bfloat16 (autocast, train.py:22)", "bfloat16 (autocast, train.py:25)"


def _shown(tmp_path: Path, words: str, program: str = PROGRAM) -> tuple[bool, bool]:
    files = {"train.py": program, "run.sh": f"python train.py {words}\n"}
    found = explained(tmp_path, files, "run.sh")
    return SMALL in found, LARGE in found


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("base --dtype bf16", (True, False)),
        ("large --dtype bf16", (False, True)),
        ("large --dtype bf16 --kind small", (True, False)),
    ],
)
def test_the_object_that_a_word_names_has_the_defaults(
    words: str, shown: tuple[bool, bool], tmp_path: Path
) -> None:
    assert _shown(tmp_path, words) == shown


@pytest.mark.parametrize(
    "words",
    [
        "$CONFIG --dtype bf16",
        "other --dtype bf16",
        "worked_out --dtype bf16",
        "twice --dtype bf16",
        "spread --dtype bf16",
        "--dtype bf16 large",
    ],
)
def test_without_one_object_the_default_is_unknown(words: str, tmp_path: Path) -> None:
    assert _shown(tmp_path, words) == (False, False)


def test_runs_do_not_share_the_defaults_of_objects(tmp_path: Path) -> None:
    words = ("base --dtype bf16", "large --dtype bf16", "base --dtype bf16")
    files = {f"{at}.sh": f"python train.py {each}\n" for at, each in enumerate(words)}
    found = [explained(tmp_path, {"train.py": PROGRAM, **files}, name) for name in files]
    assert [SMALL in each for each in found] == [True, False, True]


def test_another_parser_takes_the_defaults_of_the_class(tmp_path: Path) -> None:
    program = PROGRAM.replace("tyro.extras.overridable_config_cli({", "tyro.cli(Config)\nprint({")
    program = program.replace("config = tyro.cli(Config)\n", "config = tyro.cli(Config); ")
    assert _shown(tmp_path, "--name large --dtype bf16", program) == (True, False)
