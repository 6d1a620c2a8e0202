"""Runs across files: what refers to what, whichever file is asked for, and where it is reported."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.model.finding import Finding
from precision_lint.project.files import Project

LAUNCH = "deepspeed train.py --deepspeed conf/ds.json --do_train --output_dir o --seed 1"
DEEPSPEED = '{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}\n'


def project(root: Path, files: dict[str, str]) -> Path:
    (root / ".git").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def linted(root: Path, names: Iterable[str]) -> list[Result]:
    paths = [root / name for name in names]
    job = Job(Project(root), Settings(select=("MP7",)), named=frozenset(paths))
    results = run(job, paths)
    assert not [result.failure for result in results if result.failure]
    return results


def found(root: Path, *names: str) -> list[Finding]:
    return [finding for result in linted(root, names) for finding in result.findings]


@pytest.fixture
def mismatch(tmp_path: Path) -> Path:
    return project(tmp_path, {"run.sh": f"{LAUNCH}\n", "conf/ds.json": DEEPSPEED})


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        (("run.sh", "conf/ds.json"), "ds.json"),
        (("conf/ds.json", "run.sh"), "ds.json"),
        (("conf/ds.json",), "ds.json"),
        (("run.sh",), "run.sh"),
    ],
)
def test_it_is_reported_once_on_the_side_that_was_asked_for(
    mismatch: Path, asked: tuple[str, ...], where: str
) -> None:
    (finding,) = found(mismatch, *asked)
    assert finding.name == "run-precision-mismatch"
    assert finding.place.path.name == where
    assert (finding.fix is not None) == (where == "ds.json")
    assert {one.place.path.name for one in finding.related} | {where} >= {"ds.json"}


def test_a_file_that_others_read_too_is_not_changed_safely(mismatch: Path) -> None:
    project(mismatch, {"native.sh": "deepspeed loop.py --deepspeed_config conf/ds.json\n"})
    (finding,) = found(mismatch, "conf/ds.json")
    assert finding.fix is not None
    assert str(finding.fix.applicability) == "unsafe"


def test_a_loop_in_python_reads_it_in_its_own_way(mismatch: Path) -> None:
    project(mismatch, {"loop.py": 'engine = deepspeed.initialize(config="conf/ds.json")\n'})
    (finding,) = found(mismatch, "conf/ds.json")
    assert finding.fix is not None
    assert str(finding.fix.applicability) == "unsafe"


@pytest.mark.parametrize(
    "launch",
    [
        f"{LAUNCH} --bf16",
        f"{LAUNCH} $EXTRA",
        f'{LAUNCH} "$@"',
        LAUNCH.replace("conf/ds.json", "$DS"),
        LAUNCH.replace("conf/ds.json", "conf/other.json"),
        "deepspeed loop.py --deepspeed --deepspeed_config conf/ds.json --seed 1",
    ],
)
def test_what_agrees_or_is_unknown_is_silent(tmp_path: Path, launch: str) -> None:
    root = project(tmp_path, {"run.sh": f"{launch}\n", "conf/ds.json": DEEPSPEED})
    assert not found(root, "run.sh", "conf/ds.json")


def test_the_program_may_set_what_nobody_gives(mismatch: Path) -> None:
    project(mismatch, {"train.py": "args.bf16 = True\n"})
    assert not found(mismatch, "run.sh", "conf/ds.json")


def test_each_script_with_its_own_file(tmp_path: Path) -> None:
    for one in ("a", "b"):
        launch = LAUNCH.replace("conf/ds.json", "ds.json") + " --bf16" * (one == "a")
        text = DEEPSPEED if one == "a" else DEEPSPEED.replace("true", "false")
        project(tmp_path, {f"{one}/run.sh": f"{launch}\n", f"{one}/ds.json": text})
    assert not found(tmp_path, "a/run.sh", "b/run.sh", "a/ds.json", "b/ds.json")


def test_a_file_written_by_the_script_itself(tmp_path: Path) -> None:
    text = f"cat > conf/ds.json <<'EOF'\n{DEEPSPEED}EOF\n{LAUNCH}\n"
    (finding,) = found(project(tmp_path, {"run.sh": text}), "run.sh")
    assert finding.name == "run-precision-mismatch"
    assert finding.place.start.row == 2


def test_files_that_refer_to_each_other_end(tmp_path: Path) -> None:
    text = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nconfig_file: {}\n"
    files = {"a.yaml": text.format("b.yaml"), "b.yaml": text.format("a.yaml")}
    assert not found(project(tmp_path, files), "a.yaml", "b.yaml")


def test_a_reference_stays_inside_the_project(tmp_path: Path) -> None:
    project(tmp_path, {"ds.json": DEEPSPEED})
    inner = tmp_path / "inner"
    inner.mkdir()
    for path in ("../ds.json", str(tmp_path / "ds.json")):
        root = project(inner, {"run.sh": LAUNCH.replace("conf/ds.json", path) + "\n"})
        assert not found(root, "run.sh")


SOURCING = "source config.env\npython train.py --mixed_precision bf16 $TRAINER_EXTRA_ARGS\n"


def test_what_a_script_sources_is_reported_where_it_stands(tmp_path: Path) -> None:
    env = 'MIXED_PRECISION=bf16\nTRAINER_EXTRA_ARGS="--gradient_precision=fp32"\n'
    root = project(tmp_path, {"config.env": env, "run.sh": SOURCING})
    (finding,) = found(root, "config.env", "run.sh")
    assert finding.place.path.name == "config.env"


def test_what_only_the_script_makes_a_conflict_is_reported_there(tmp_path: Path) -> None:
    run = "source config.env\npython train.py --do_train --output_dir o --seed 1 --fp16 $FLAGS\n"
    root = project(tmp_path, {"config.env": 'FLAGS="--bf16 True"\n', "run.sh": run})
    (finding,) = found(root, "config.env", "run.sh")
    assert finding.place.path.name == "run.sh"


@pytest.mark.parametrize("name", ["train", "tools.train"])
def test_a_module_below_src_is_the_program_that_is_started(name: str, tmp_path: Path) -> None:
    code = "from transformers import TrainingArguments\nTrainingArguments(fp16=True, bf16=True)\n"
    words = "--output_dir o --learning_rate 1 --per_device_train_batch_size 1"
    script = f"export PYTHONPATH=src\npython -m {name} {words}\n"
    path = f"src/{name.replace('.', '/')}.py"
    root = project(tmp_path, {path: code, "run.sh": script})
    launches = ProjectFacts(Project(root)).recording().config_files
    assert launches.program(name, root / "run.sh") == root / path
    assert launches.program("prepare", root / "run.sh") is None
