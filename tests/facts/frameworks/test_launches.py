"""Commands taken apart: launcher, program, words."""

from __future__ import annotations

import pytest

from precision_lint.facts.frameworks.launches import launch
from tests.source.config.reading import config


def taken_apart(command: str) -> tuple[str, str, str] | None:
    script = config(f"{command}\n", "shell").script
    assert script is not None
    (only,) = script.commands
    found = launch(only)
    if found is None:
        return None
    words = [" ".join(word.text for word in part) for part in (found.launcher, found.words)]
    return words[0], found.program, words[1]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python train.py --bf16", ("", "train.py", "--bf16")),
        ("python3.11 -u src/train.py --a 1", ("", "src/train.py", "--a 1")),
        ("python -m pkg.train --bf16", ("", "pkg.train", "--bf16")),
        ("deepspeed --module pkg.train --bf16", ("", "pkg.train", "--bf16")),
        ("torchrun --nproc_per_node 8 a/train.py --bf16", ("", "a/train.py", "--bf16")),
        ("python -m torch.distributed.run --nproc 2 train.py -x", ("", "train.py", "-x")),
        (
            "accelerate launch --config_file a.yaml --mixed_precision bf16 train.py --lr 1",
            ("--config_file a.yaml --mixed_precision bf16", "train.py", "--lr 1"),
        ),
        ("accelerate launch -m axolotl.cli.train a.yml", ("", "axolotl.cli.train", "a.yml")),
        ("accelerate launch train.py", ("", "train.py", "")),
        ('accelerate launch --cpu "$(which trl)" sft --bf16', ("--cpu", "trl sft", "--bf16")),
        ("accelerate launch `which trl` sft --bf16", ("", "trl sft", "--bf16")),
        ("torchrun --nnodes 1 $(command -v fairseq-train) data/a", ("", "fairseq-train", "data/a")),
        ("$(which accelerate) launch --cpu train.py", ("--cpu", "train.py", "")),
        ("torchrun --nproc_per_node 2 $(which python) train.py --lr 1", ("", "train.py", "--lr 1")),
        ("python train.py --tool $(which trl) sft", ("", "train.py", "--tool \0/bin/trl sft")),
        ("srun accelerate launch --cpu train.py --lr 1", ("--cpu", "train.py", "--lr 1")),
        ("llamafactory-cli train a.yaml", ("", "llamafactory-cli train", "a.yaml")),
        ("trl sft --config a.yaml", ("", "trl sft", "--config a.yaml")),
        ("vllm serve org/model --dtype half", ("", "vllm serve", "org/model --dtype half")),
        ("exec vllm serve m --dtype half", ("", "vllm serve", "m --dtype half")),
        (
            "swift rlhf --external_plugins a/x.py --bf16 true",
            ("", "swift rlhf", "--external_plugins a/x.py --bf16 true"),
        ),
        (
            "swift rlhf --external_plugins x.py y.py --bf16 true",
            ("", "swift rlhf", "--external_plugins x.py y.py --bf16 true"),
        ),
        ("torchrun --standalone train.py --config a.py", ("", "train.py", "--config a.py")),
        ("accelerate launch --multi_gpu train.py -x", ("--multi_gpu", "train.py", "-x")),
        ("nohup swift sft --model m", ("", "swift sft", "--model m")),
        ("env A=b timeout 5h trl sft --config a.yaml", ("", "trl sft", "--config a.yaml")),
        ("docker exec -it -e A=b name swift sft --model m", ("", "swift sft", "--model m")),
        ("apptainer exec --nv a.sif swift sft --model m", ("", "swift sft", "--model m")),
        ("singularity exec --bind a:b c.sif trl sft --x 1", ("", "trl sft", "--x 1")),
        ("uv run train.py --x 1", ("", "train.py", "--x 1")),
        ("uv run --extra cuda --frozen trl sft --x 1", ("", "trl sft", "--x 1")),
        ("/bin/uv run -m pkg.train --x 1", ("", "pkg.train", "--x 1")),
        ("conda run -n env --no-capture-output trl sft --x 1", ("", "trl sft", "--x 1")),
        ("poetry run -- swift sft --x 1", ("", "swift sft", "--x 1")),
        ("uv pip install -x 1", ("", "uv pip", "install -x 1")),
        ("uv run", ("", "uv run", "")),
        ("uv sync run train", ("", "uv sync", "run train")),
        ("run uv trl sft", ("", "run uv", "trl sft")),
        ("multi.py --nproc_per_node 8 ./train.py --x 1", ("", "./train.py", "--x 1")),
        ("python -m a.launch --nproc=8 --rank 0 b/run.py --x 1", ("", "b/run.py", "--x 1")),
        ("python multi.py --nnodes 2 --use_env train.py --x", ("", "train.py", "--x")),
        ("python -m torch.backends.xeon.run_cpu --log a run.py -x", ("", "run.py", "-x")),
        ("python train.py --nproc 8 --script b.py", ("", "train.py", "--nproc 8 --script b.py")),
        ("python train.py conf/a.py --x", ("", "train.py", "conf/a.py --x")),
        ("python -m a.launch conf/b.py --nproc 8", ("", "a.launch", "conf/b.py --nproc 8")),
        ("python -m a.run --config b.py", ("", "a.run", "--config b.py")),
    ],
)
def test_parts(command: str, expected: tuple[str, str, str]) -> None:
    assert taken_apart(command) == expected


@pytest.mark.parametrize("command", ["torchrun --nproc 2", "python", "$CMD --bf16", "./$RUN"])
def test_no_program(command: str) -> None:
    assert taken_apart(command) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "docker run --rm -it --gpus all -p 80:80 a.io/vllm/vllm-openai:v1 --dtype half",
            ("", "a.io/vllm/vllm-openai", "--dtype half"),
        ),
        (
            "docker run -e A=b image python3 -m sglang.launch_server --dtype half",
            ("", "sglang.launch_server", "--dtype half"),
        ),
        ("docker run --shm-size=8g image train.py --fp16", ("", "train.py", "--fp16")),
        ("docker build -t image .", ("", "docker build", "-t image .")),
        (
            "python mason.py --cluster a -- accelerate launch --cpu train.py --bf16",
            ("--cpu", "train.py", "--bf16"),
        ),
        ("python train.py --names a -- b", ("", "train.py", "--names a -- b")),
    ],
)
def test_what_starts_another_program(command: str, expected: tuple[str, str, str]) -> None:
    assert taken_apart(command) == expected
