"""What a run does how often: counts that a busy machine does not change."""

from __future__ import annotations

import ast
import gc
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from precision_lint.engine import registry
from precision_lint.engine.job import Job
from precision_lint.engine.parallel import uncollected
from precision_lint.engine.run import lint
from precision_lint.engine.settings import Settings
from precision_lint.facts.amp.training_step import conditions
from precision_lint.facts.dtypes.analysis import InterproceduralAnalysis
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.whole_program import program
from precision_lint.facts.project import config_files, modules
from precision_lint.fixers import calls
from precision_lint.model import trace
from precision_lint.model.finding import Confidence
from precision_lint.model.searched import Searched
from precision_lint.project import disk, files, images
from precision_lint.project.files import Project
from precision_lint.source.config import parse, trees
from precision_lint.source.config.config_file import Format
from precision_lint.source.python import imports
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.shell import parse as shell
from precision_lint.source.text.text import SourceText
from tests.cli.running import project
from tests.cli.running import run as command

MODEL = """\
import torch
from helper import cast


class Model(torch.nn.Module):
    def __init__(self, dtype):
        self.head = torch.nn.Linear(2, 2).to(dtype)

    @property
    def kind(self):
        return self.head.weight.dtype

    def forward(self, x):
        def inner(y):
            return cast(y, self.kind)

        with torch.autocast("cuda"):
            return inner(x)


def build(args):
    return Model(args.dtype)
"""
FILES = {
    "helper.py": "import torch\n\n\ndef cast(x, dtype):\n    return x.to(dtype)\n",
    "model.py": MODEL,
    "train.py": """\
import torch
from model import build

scaler = torch.amp.GradScaler("cuda")
config = dict(train_batch_size=1, fp16=True)


def main(args, loader):
    model = build(args)
    for x in loader:
        print(model(x).cpu().numpy())
""",
    "evaluate.py": "import torch\nimport model\n\nprint(model.build(0)(torch.ones(2)).numpy())\n",
    "run.sh": "accelerate launch --mixed_precision bf16 train.py --config ds.json\n",
    "ds.json": '{"fp16": {"enabled": true}, "train_batch_size": 1}\n',
    "requirements.txt": "torch==2.5.0\n",
}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return Job(Project(tmp_path), Settings())


def check(job: Job) -> None:
    for path in job.project.files:
        assert lint(job, path).failure is None


def test_a_file_is_parsed_once(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    parses: Counter[str] = Counter()
    parsed = modules._parsed

    def counted(text: SourceText) -> modules._Read:
        parses[text.path.name] += 1
        return parsed(text)

    monkeypatch.setattr(modules, "_parsed", counted)
    check(job)
    assert parses == dict.fromkeys((name for name in FILES if name.endswith(".py")), 1)


def test_the_imports_of_a_file_are_read_once(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: Counter[ParsedPython] = Counter()
    read = imports._imports

    def counted(file: ParsedPython) -> Iterator[ast.stmt]:
        reads[file] += 1
        return read(file)

    monkeypatch.setattr(imports, "_imports", counted)
    check(job)
    assert {file.text.path.name for file in reads} == {n for n in FILES if n.endswith(".py")}
    assert set(reads.values()) <= {1, 2}  # for the names, and for `import *`


def test_trees_are_freed_without_a_search_for_garbage(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "_KEPT", 0)
    gc.collect()
    before = _trees()
    with uncollected():
        check(job)
        assert _trees() == before


def _trees() -> int:
    return sum(isinstance(each, ast.Module) for each in gc.get_objects())


class Counting(bytes):
    """Bytes that count what is searched for in them."""

    searches: Counter[object]

    def __contains__(self, literal: object) -> bool:
        self.searches[literal] += 1
        return super().__contains__(literal)  # type: ignore[operator]


def test_a_trigger_is_searched_once_for_all_rules() -> None:
    content = Counting(b"import torch\n\nwith torch.autocast('cuda'):\n    pass\n")
    content.searches = Counter()
    searched = Searched(content)
    wanted = [rule for rule in registry.rules() if rule.wants(searched)]
    assert wanted
    assert set(content.searches.values()) == {1}


def test_pins_are_read_once_for_each_library(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: Counter[str] = Counter()
    pinned, lowest = files.pinned_version, files.lowest_version

    def pinned_version(root: Path, library: str) -> str | None:
        reads[f"pinned {library}"] += 1
        return pinned(root, library)

    def lowest_version(root: Path, library: str) -> str | None:
        reads[f"lowest {library}"] += 1
        return lowest(root, library)

    monkeypatch.setattr(files, "pinned_version", pinned_version)
    monkeypatch.setattr(files, "lowest_version", lowest_version)
    for _ in range(2):
        assert job.project.version_of("torch") == (2, 5)
        assert job.project.release_of("torch") == (2, 5, 0)
        assert job.project.version_of("triton") is None
        assert job.project.lowest_version_of("torch", job.project.root / "train.py") == (2, 5)
    assert reads == {"pinned torch": 1, "pinned triton": 1, "lowest torch": 1}


def test_a_file_that_builds_an_image_is_read_once_for_all_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = tmp_path / "app.py"
    app.write_text('image = Image().pip_install("torch==2.1.2", "triton==2.1.0")\n')
    reads: Counter[Path] = Counter()
    read = disk.read

    def counted(path: Path, largest: int) -> bytes:
        reads[path] += 1
        return read(path, largest)

    monkeypatch.setattr(images.disk, "read", counted)
    for library, version in (("torch", "2.1.2"), ("triton", "2.1.0")):
        with trace.collected() as asked:
            assert [*images.requirements(tmp_path, library)] == [f"=={version}"]
        assert ("read", app) in asked
    assert reads[app] == 1
    app.write_text('image = Image().pip_install("torch==2.10.0")\n')
    assert [*images.requirements(tmp_path, "torch")] == ["==2.10.0"]


def test_whether_a_condition_mentions_a_name_is_looked_up_once_for_all_states(
    tmp_path: Path,
) -> None:
    steps = "".join(f"        if use_{n}:\n            loss = loss + {n}\n" for n in range(6))
    root = project(tmp_path, {"train.py": STEP.format(steps=steps)})
    conditions.mentions.cache_clear()
    check(Job(Project(root), Settings()))
    found = conditions.mentions.cache_info()
    assert found.hits > found.misses > 0


STEP = """\
import torch


def train(model, loader, optimizer, {switches}):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
{steps}        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
""".replace("{switches}", ", ".join(f"use_{n}" for n in range(6)))


@pytest.mark.parametrize(
    ("words", "base", "parsed"),
    [
        ("", "precision: bf16\n", 1),
        ("defaults: [base]\n", "a: 1\n", 0),
        ("defaults:\n  - base\n", "a: 1\n", 0),
        ("defaults: [base]\n", "precision: bf16\n", 6),
        ("defaults: base.yaml\n", "precision: bf16\n", 6),
        ("defaults:\n  - base\n", "precision: bf16\n", 6),
        ("precision: 16\n", "a: 1\n", 5),
    ],
)
def test_a_configuration_that_names_no_precision_is_not_parsed(
    words: str, base: str, parsed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base.yaml").write_text(base)
    for number in range(5):
        (tmp_path / f"run{number}.yaml").write_text(f"{words}lr: {number}\n")
    read: set[Path] = set()

    def counted(text: SourceText, format: Format) -> object:
        read.add(text.path)
        return trees.parse_tree(text, format)

    monkeypatch.setattr(parse, "parse_tree", counted)
    job = Job(Project(tmp_path), Settings(select=("MP7",)))
    for path in sorted(tmp_path.glob("*.yaml")):
        assert lint(job, path).failure is None
    assert len(read) == parsed


def test_a_script_is_read_for_the_words_of_others_only_if_it_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "common.sh": "export PRECISION=bf16\n",
        "plain.sh": ". ./common.sh\npython train.py --precision $PRECISION\n",
        "lost.sh": ". $OPTIONS\n. ./common.sh\npython train.py --precision $PRECISION --data $1\n",
        "taking.sh": ". ./common.sh\npython train.py --precision ${2:-bf16} --data $1\n",
        "run.sh": "".join(f"bash {name}.sh data fp16\n" for name in ("plain", "lost", "taking")),
        "train.py": "import torch\n",
    }
    root = project(tmp_path, files)
    read: Counter[tuple[str, bool]] = Counter()
    sourced: Counter[str] = Counter()
    parse, script_at = shell.parse, config_files._script_at

    def counted(source: SourceText, **options: Any) -> object:
        read[source.path.name, options.get("arguments") is not None] += 1
        return parse(source, **options)

    def counted_at(path: Path, follow: shell.Follow) -> object:
        sourced[path.name] += 1
        return script_at(path, follow)

    monkeypatch.setattr(shell, "parse", counted)
    monkeypatch.setattr(config_files, "_script_at", counted_at)
    job = Job(Project(root), Settings())
    for path in job.project.files:
        assert lint(job, path).failure is None
    assert {name for name, has_words in read if has_words} == {"taking.sh"}
    assert sourced == {"common.sh": 1}


def test_a_run_walks_over_the_project_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path, {"a.py": "import torch\n", "b/c.py": "import torch\n"})
    walked: Counter[str] = Counter()
    scandir = os.scandir

    def counted(folder: str) -> object:
        walked[os.fspath(folder)] += 1
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", counted)
    for options in (["--no-cache"], ["--cache-dir", str(tmp_path.parent / "cache")]):
        walked.clear()
        command(*options, "--isolated", cwd=root)
        assert walked[str(root)] == walked[str(root / "b")] == 1


def test_a_star_is_followed_to_the_modules_that_give_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"models/m{n}.py": f"import torch\n\nCAST_{n} = torch.bfloat16\n" for n in range(20)}
    files |= {"models/__init__.py": "".join(f"from .m{n} import *\n" for n in range(20))}
    source = "from models import CAST_7, missing\n\nx = missing(torch.ones(2))\n"
    files |= {"train.py": f"import torch\n{source}print(torch.ones(2, dtype=CAST_7).numpy())\n"}
    root = project(tmp_path, files)
    read: set[str] = set()
    parsed = modules._parsed

    def counted(text: SourceText) -> modules._Read:
        read.add(text.path.name)
        return parsed(text)

    monkeypatch.setattr(modules, "_parsed", counted)
    result = lint(Job(Project(root), Settings(select=("MP101",))), root / "train.py")
    assert [finding.code for finding in result.findings] == ["MP101"]
    assert read == {"train.py", "__init__.py", "m7.py"}


def test_no_more_modules_are_read_than_a_file_is_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = "import torch\n\n\ndef f(x):\n    return x.to(torch.bfloat16)\n"
    files = {f"m{number:02}.py": function for number in range(30)}
    # In functions, since all statements before a place are looked at: they may raise.
    calls = (
        f"def {name[:3]}_in_numpy():\n    return {name[:3]}.f(torch.ones(2)).numpy()\n"
        for name in files
    )
    imports = "".join(f"import {name[:3]}\n" for name in files)
    files |= {"train.py": f"import torch\n{imports}{''.join(calls)}"}
    root = project(tmp_path, files)
    read: set[str] = set()
    parsed = modules._parsed

    def counted(text: SourceText) -> modules._Read:
        read.add(text.path.name)
        return parsed(text)

    monkeypatch.setattr(modules, "_parsed", counted)
    monkeypatch.setattr(program, "_MOST_MODULES", 10)
    result = lint(Job(Project(root), Settings(select=("MP101",))), root / "train.py")
    assert len(result.findings) == 10
    assert len(read) == 1 + 10


@pytest.mark.parametrize(("least", "built"), [(Confidence.LOW, 1), (Confidence.MEDIUM, 0)])
def test_a_finding_that_is_not_shown_has_no_fix(
    least: Confidence, built: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.numpy()\n"
    root = project(tmp_path, {"a.py": source})
    fixes: list[object] = []
    receiver = calls._receiver

    def counted(file: ParsedPython, call: Call) -> object:
        fixes.append(call)
        return receiver(file, call)

    monkeypatch.setattr(calls, "_receiver", counted)
    command("--no-cache", "--isolated", "--min-confidence", str(least), cwd=root)
    assert len(fixes) == built


@pytest.mark.parametrize(
    ("code", "source", "is_followed"),
    [
        ("MP101", "def f(x):\n    return np.array(x)\n", True),
        ("MP101", "def f(x, m: torch.Tensor):\n    return np.ma.array([1, 2], mask=m)\n", True),
        ("MP101", "def f(x: torch.Tensor):\n    return np.random.set_state(x)\n", False),
        ("MP101", "def f(x: torch.Tensor):\n    return np.full((2, 2), 0, x.dtype)\n", False),
        ("MP101", "def f(x: torch.Tensor):\n    return x.dtype.numpy()\n", False),
        ("MP202", "def f(model):\n    return sum(p.numel() for p in model.parameters())\n", False),
        (
            "MP202",
            "def f(model):\n    s = torch.amp.GradScaler()\n    return [*model.parameters()]\n",
            True,
        ),
        ("MP409", "def f(out, x: torch.Tensor):\n    dist.all_gather(out, x)\n", True),
        ("MP409", "def f(x: torch.Tensor):\n    return dnn.all_gather(x, None)\n", False),
    ],
)
def test_callers_are_asked_only_where_a_finding_may_come_of_it(
    code: str, source: str, is_followed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports = "import numpy as np, torch\nimport torch.distributed as dist\n"
    imports += "from torch.distributed.nn import functional as dnn\n\n# Trainer gather half(\n\n"
    root = project(tmp_path, {"a.py": imports + source})
    followed: list[object] = []
    follow = InterproceduralAnalysis._followed

    def counted(self: InterproceduralAnalysis, *given: Any) -> Any:
        followed.append(self)
        return follow(self, *given)

    monkeypatch.setattr(InterproceduralAnalysis, "_followed", counted)
    assert lint(Job(Project(root), Settings(select=(code,))), root / "a.py").failure is None
    assert bool(followed) is is_followed
