"""A run that several machines share, and their reports made one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import BAD, CLEAN, CONFIG, SCALER, project, run

FILES = {
    "a.py": BAD,
    "b/train.py": SCALER,
    "b/plain.py": CLEAN,
    "b-c.py": BAD + BAD,
    "conf/args.yaml": CONFIG,
    "run.sh": "accelerate launch --config_file acc.yaml a.py\n",
    "env.sh": "export ACCELERATE_MIXED_PRECISION=fp16\n",
    "acc.yaml": "compute_environment: LOCAL_MACHINE\nmixed_precision: bf16\n",
}


@pytest.mark.parametrize("output_format", ["json", "sarif"])
@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_shards_find_what_one_run_finds(tmp_path: Path, output_format: str, count: int) -> None:
    root = project(tmp_path, FILES)
    options = ("--output-format", output_format, "--no-cache", "--min-confidence", "low")
    whole = run(*options, cwd=root)
    assert whole.code == 1
    names = [tmp_path / f"{number}.report" for number in range(1, count + 1)]
    for number, name in enumerate(names, 1):
        run("--shard", f"{number}/{count}", *options, "-o", name, cwd=root)
    merged = run("merge", *reversed(names), cwd=tmp_path)
    assert merged.stdout == whole.stdout
    assert merged.code == 1


def test_every_file_is_in_one_shard(tmp_path: Path) -> None:
    root = project(tmp_path, FILES)
    options = ("--output-format", "json", "--no-cache")
    found = [json.loads(run(*options, "--shard", f"{n}/3", cwd=root).out) for n in (1, 2, 3)]
    files = [{record["filename"] for record in each} for each in found]
    assert sum(map(len, files)) == len(set().union(*files)) >= 3
    assert sum(map(bool, files)) > 1


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2"])
def test_what_is_no_shard(tmp_path: Path, shard: str) -> None:
    ran = run(f"--shard={shard}", cwd=project(tmp_path, FILES))
    assert ran.code == 2
    assert "not I/N" in ran.err


def test_merged_reports_of_clean_shards(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]\n")
    ran = run("merge", "a.json", "a.json", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "[]\n")


def test_a_finding_in_two_reports_counts_once(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.py": BAD})
    run("--output-format", "json", "-o", "one.json", "a.py", "--no-cache", cwd=root)
    ran = run("merge", "one.json", "one.json", "-o", "all.json", "--exit-zero", cwd=root)
    assert ran.code == 0
    assert (root / "all.json").read_bytes() == (root / "one.json").read_bytes()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "other.json: not JSON"),
        ("{}", "other.json: not a report of precision-lint"),
        ('[{"ruleId": "E501"}]', "other.json: not a report of precision-lint"),
        ('{"runs": [{"tool": {"driver": {"name": "ruff"}}, "results": []}]}', "not a report of"),
        (
            '{"runs": [{"tool": {"driver": {"name": "precision-lint"}}, "results": []}]}',
            "other.json: not of the same format as own.json",
        ),
    ],
)
def test_reports_that_cannot_be_merged(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "own.json").write_text("[]")
    (tmp_path / "other.json").write_text(content)
    ran = run("merge", "own.json", "other.json", cwd=tmp_path)
    assert ran.code == 2
    assert said in ran.err


def test_a_report_that_is_not_there(tmp_path: Path) -> None:
    ran = run("merge", "nothing.json", cwd=tmp_path)
    assert ran.code == 2
    assert "nothing.json" in ran.err
