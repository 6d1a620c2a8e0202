"""Variables that hold the file that a program opens, where loading it is out of sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine.explain_config import explained_runs
from precision_lint.project.files import Project
from tests.facts.frameworks.test_roles import left, rows
from tests.facts.frameworks.test_runs import project

CONFIG = """\
experiment: {name: a, seed: 1}
training:
  precision: bfloat16
  steps: 100
  rate: 0.1
model: resnet
data: images
"""
PROGRAM = """\
import argparse
import torch
import yaml
from helpers import settings_of

cfg = settings_of(argparse.ArgumentParser().parse_args())


def train():
    print(cfg.experiment.name, cfg.experiment.seed, cfg.model, cfg.data)
    print(cfg.training.steps, cfg.training.rate)
    with torch.autocast("cuda", dtype=getattr(torch, cfg.training.precision)):
        pass


if __name__ == "__main__":
    train()
"""
HELPERS = """\
import yaml
from somewhere import find, merged


def settings_of(args):
    return merged(yaml.safe_load(open(find(args))))
"""
SECTION = """\
import argparse
import torch
import yaml
from helpers import settings_of


def train(part):
    print(part.steps, part.rate)
    with torch.autocast("cuda", dtype=getattr(torch, part.precision)):
        pass


if __name__ == "__main__":
    cfg = settings_of(argparse.ArgumentParser().parse_args())
    print(cfg.experiment.name, cfg.experiment.seed, cfg.model, cfg.data)
    train(cfg.training)
"""
SET = "cfg.training.precision = chosen(cfg)\n"
OPTIONS = "settings_of(argparse.ArgumentParser().parse_args())\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (PROGRAM, [("compute", "bfloat16", "a.yaml", 3)]),
        (SECTION, [("compute", "bfloat16", "a.yaml", 3)]),
        (PROGRAM.replace(OPTIONS, OPTIONS + SET), []),
        # Too little of the file is read from it to say that it holds the file.
        (PROGRAM.replace("cfg.", "other.", 3), []),
    ],
)
def test_a_variable_from_which_the_keys_are_read(
    tmp_path: Path, code: str, expected: list[tuple[str, object, str, int]]
) -> None:
    project(tmp_path, {"train.py": code, "helpers.py": HELPERS, "configs/a.yaml": CONFIG})
    assert rows(tmp_path, "configs/a.yaml") == expected
    assert left(tmp_path, "configs/a.yaml") == ([] if expected else ["precision"])


def test_a_run_that_opens_no_file_before_says_nothing_of_one_that_does(tmp_path: Path) -> None:
    files = {"train.py": PROGRAM, "helpers.py": HELPERS, "configs/a.yaml": CONFIG}
    project(tmp_path, {"a.sh": "python train.py configs/none.yaml\n", **files})
    paths = [tmp_path / "a.sh", tmp_path / "configs/a.yaml"]
    found = explained_runs(paths, Project(tmp_path), [], lambda note: None)
    shown = [one.written for run in found.runs for one in run.explained.settings if one.written]
    assert [one.file.text.path.name for one in shown] == ["a.yaml"]


@pytest.mark.parametrize(
    ("condition", "is_understood"),
    [
        ("part.precision", True),
        ("part.precision and unknown()", False),
        ("part.steps", False),
    ],
)
def test_a_setting_that_decides_whether_a_call_is_made(
    tmp_path: Path, condition: str, is_understood: bool
) -> None:
    code = SECTION.replace(
        '    with torch.autocast("cuda", dtype=getattr(torch, part.precision)):\n        pass\n',
        f"    if {condition}:\n"
        "        MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)\n",
    ).replace("import torch\n", "import torch\nfrom torch.distributed.fsdp import MixedPrecision\n")
    if "precision" not in condition:
        code = code.replace("print(part.steps", "print(part.precision, part.steps")
    config = CONFIG.replace("bfloat16", "true")
    project(tmp_path, {"train.py": code, "helpers.py": HELPERS, "configs/a.yaml": config})
    assert left(tmp_path, "configs/a.yaml") == ([] if is_understood else ["precision"])
    shown = [row for row in rows(tmp_path, "configs/a.yaml") if row[2] == "a.yaml"]
    expected = [
        ("compute", "torch.bfloat16", "a.yaml", 3),
        ("reduce", "torch.float32", "a.yaml", 3),
    ]
    assert shown == (expected if is_understood else [])


@pytest.mark.parametrize(("condition", "is_known"), [("precision", True), ("precision.any", False)])
def test_a_condition_that_is_not_known_says_nothing(
    tmp_path: Path, condition: str, is_known: bool
) -> None:
    code = SECTION.replace(
        '    with torch.autocast("cuda", dtype=getattr(torch, part.precision)):\n        pass\n',
        f'    if part.{condition}:\n        scaler = torch.amp.GradScaler("cuda")\n',
    )
    config = CONFIG.replace("bfloat16", "float16")
    project(tmp_path, {"train.py": code, "helpers.py": HELPERS, "configs/a.yaml": config})
    expected = [("scaling", "on", "a.yaml", 3)]
    assert rows(tmp_path, "configs/a.yaml") == (expected if is_known else [])


def readers_of(root: Path, name: str) -> set[str]:
    found = explained_runs([root / name], Project(root), [], lambda note: None)
    return {run.explained.reader.name for run in found.runs if run.explained.reader is not None}


@pytest.mark.parametrize(
    ("programs", "name", "expected"),
    [
        (["train_a.py", "train_b.py"], "configs/b/x.yaml", {"train_b.py"}),
        (["main_stage1.py"], "configs/stage1/x.yaml", {"main_stage1.py"}),
        (["main_stage1.py"], "configs/stage2/x.yaml", set()),
    ],
)
def test_the_program_that_is_named_like_the_file(
    tmp_path: Path, programs: list[str], name: str, expected: set[str]
) -> None:
    project(tmp_path, {**dict.fromkeys(programs, PROGRAM), "helpers.py": HELPERS, name: CONFIG})
    assert readers_of(tmp_path, name) == expected


def test_a_program_that_imports_what_trains_under_another_name(tmp_path: Path) -> None:
    start = (
        "import argparse\nimport yaml\nfrom trainer import Trainer as ImageTrainer\n\n\n"
        'if __name__ == "__main__":\n    parser = argparse.ArgumentParser()\n'
        '    parser.add_argument("--config")\n'
        "    cfg = yaml.safe_load(open(parser.parse_args().config))\n"
        "    ImageTrainer(cfg).train()\n"
    )
    trainer = (
        "import torch\nfrom accelerate import Accelerator\n\n\nclass Trainer:\n"
        "    def __init__(self, cfg):\n        self.cfg = cfg\n\n    def train(self):\n"
        '        print(self.cfg["data"], self.cfg["model"], self.cfg["steps"], self.cfg["rate"])\n'
        '        Accelerator(mixed_precision=self.cfg["precision"])\n'
    )
    config = "data: images\nmodel: resnet\nsteps: 100\nrate: 0.1\nprecision: bf16\n"
    project(tmp_path, {"start.py": start, "trainer.py": trainer, "configs/a.yaml": config})
    assert rows(tmp_path, "configs/a.yaml") == [("compute", "bf16", "a.yaml", 5)]


LIBRARY = """\
import argparse
import torch
from {library} import read


def train(cfg):
    print(cfg.a, cfg.b, cfg.c, cfg.d, cfg.e, cfg.f, cfg.g, cfg.h, cfg.i, cfg.j, cfg.k)
    with torch.autocast("cuda", dtype=getattr(torch, cfg.precision)):
        pass


if __name__ == "__main__":
    train(read(argparse.ArgumentParser().parse_args()))
"""


@pytest.mark.parametrize(
    ("library", "count", "is_read"),
    [("pyrallis", 11, True), ("pyrallis", 5, False), ("a_library_of_something", 11, False)],
)
def test_a_file_that_a_library_loads(
    tmp_path: Path, library: str, count: int, is_read: bool
) -> None:
    keys = "".join(f"{name}: 1\n" for name in "abcdefghijk"[:count])
    program = LIBRARY.format(library=library)
    files = {"train.py": program, "configs/a.yaml": f"precision: bfloat16\n{keys}"}
    project(tmp_path, files)
    expected = [("compute", "bfloat16", "a.yaml", 1)]
    assert rows(tmp_path, "configs/a.yaml") == (expected if is_read else [])
