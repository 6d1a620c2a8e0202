"""Programs that read a framework's keys by themselves in what they compose: copies of verl."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import project, run

BY_KEYS = "by its keys"
FILE = """\
data: {train_files: a.parquet}
actor_rollout_ref:
  model: {path: m}
  actor: {strategy: fsdp}
  rollout: {name: vllm, dtype: bfloat16}
trainer: {nnodes: 1}
"""
GENERATION = """\
data: {output_path: a.parquet}
model: {path: m}
rollout: {name: vllm, prompt_length: 8, response_length: 8, dtype: float16}
trainer: {n_gpus_per_node: 1}
"""
PROGRAM = """\
import hydra
from work.workers import Worker
from pool import started

@hydra.main(config_path="config", config_name="{}", version_base=None)
def main(config):
    started(Worker, config{}).start()

if __name__ == "__main__":
    main()
"""
WORKER = """\
from vllm import LLM

class Worker:
    def __init__(self, config):
        self.config = config

    def start(self):
        rollout = self.config.rollout
        return LLM(model=self.config.model.path, dtype=rollout.dtype)
"""
TRAINING = PROGRAM.format("base", ".actor_rollout_ref")
FILES = {
    "work/__init__.py": "",
    "work/workers.py": WORKER,
    "work/main_train.py": TRAINING,
    "work/config/base.yaml": FILE,
}


def of(folder: Path, more: dict[str, str]) -> str:
    return run("explain-config", cwd=project(folder, FILES | more)).out


def test_a_file_that_no_command_starts_from(tmp_path: Path) -> None:
    out = of(tmp_path, {})
    assert "work/config/base.yaml: verl, read by work/main_train.py\n" in out
    assert "actor_rollout_ref.rollout.dtype = bfloat16" in out
    assert BY_KEYS not in out


def test_a_file_beside_the_first_one(tmp_path: Path) -> None:
    out = of(tmp_path, {"work/config/large.yaml": FILE.replace("bfloat16", "float16")})
    assert (
        "work/config/large.yaml: verl, read by work/main_train.py with `--config-name=large`\n"
        in out
    )


def test_the_run_of_a_command(tmp_path: Path) -> None:
    command = "python -m work.main_train actor_rollout_ref.rollout.dtype=half\n"
    out = of(tmp_path, {"run.sh": command})
    assert "run.sh:1: verl, started as work.main_train\n" in out
    assert "actor_rollout_ref.rollout.dtype = float16" in out
    assert BY_KEYS not in out


def test_a_program_that_does_not_read_the_key(tmp_path: Path) -> None:
    out = of(tmp_path, {"work/workers.py": WORKER.replace(", dtype=rollout.dtype", "")})
    assert "read by work/main_train.py" not in out


def test_a_program_that_names_no_section(tmp_path: Path) -> None:
    out = of(tmp_path, {"work/main_train.py": PROGRAM.format("base", "")})
    assert "read by work/main_train.py" not in out


def test_two_programs_that_start_from_other_files(tmp_path: Path) -> None:
    files = {
        "work/config/first.yaml": "data: {}\n",
        "work/main_train.py": PROGRAM.format("first", ".actor_rollout_ref"),
        "work/main_other.py": PROGRAM.format("second", ".actor_rollout_ref"),
        "work/config/second.yaml": "data: {}\n",
    }
    out = of(tmp_path, files)
    assert "with `--config-name=base`" not in out


def test_the_file_of_a_program_that_only_generates(tmp_path: Path) -> None:
    files = {
        "work/config/generation.yaml": GENERATION,
        "work/main_generation.py": PROGRAM.format("generation", "").replace(
            "    started(", "    print(config.rollout.prompt_length)\n    started("
        ),
    }
    out = of(tmp_path, files)
    head = "work/config/generation.yaml: verl's generation, read by work/main_generation.py\n"
    assert f"{head}  eval  rollout.dtype = float16" in out
