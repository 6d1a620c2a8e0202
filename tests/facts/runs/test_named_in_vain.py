"""Files that something names, and nothing reads: no rule reports anything in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import project, run

DEEPSPEED = """\
{"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": 1, "steps_per_print": 5,
 "bf16": {"enabled": true, "auto_cast": true}}
"""
ACCELERATE = """\
compute_environment: LOCAL_MACHINE
distributed_type: {}
deepspeed_config:
  deepspeed_config_file: conf/ds.json
num_processes: 2
"""
MAKES = "from accelerate import Accelerator\naccelerator = Accelerator()\n"
LAUNCH = "accelerate launch --config_file acc.yaml train.py\n"
UNUSED = "conf/ds.json is not used: distributed_type = MULTI_GPU, acc.yaml:2"


def said(folder: Path, files: dict[str, str]) -> tuple[str, list[str]]:
    """What is explained, and the codes that are reported for the files of settings."""
    root = project(folder, files)
    found = run("--select", "MP7", "--output-format", "json", cwd=root).out
    return run("explain-config", cwd=root).out, [one["code"] for one in json.loads(found)]


def of_accelerate(kind: str, **more: str) -> dict[str, str]:
    files = {"acc.yaml": ACCELERATE.format(kind), "conf/ds.json": DEEPSPEED, "train.py": MAKES}
    return (
        files | {"run.sh": LAUNCH} | {name.replace("__", "."): text for name, text in more.items()}
    )


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"run__sh": ""},
        {"run__sh": LAUNCH + "# deepspeed train.py --deepspeed conf/ds.json\n"},
        {"run__sh": LAUNCH.replace("train.py", "--num_processes 4 train.py")},
        {"train__py": MAKES + "# DeepSpeedPlugin(hf_ds_config='conf/ds.json')\n"},
        {"train__py": MAKES + "# accelerator = Accelerator(deepspeed_plugin=plugin)\n"},
        {"README__md": "The settings of ZeRO are in `conf/ds.json`.\n"},
        {"README__md": f"```bash\n{LAUNCH}```\n"},
        {"run__sh": f"export ACCELERATE_USE_DEEPSPEED=false\n{LAUNCH}"},
    ],
)
def test_accelerate_does_not_use_a_section_without_deepspeed(
    more: dict[str, str], tmp_path: Path
) -> None:
    out, codes = said(tmp_path, of_accelerate("MULTI_GPU", **more))
    why = "accelerate does not use it: `distributed_type` is MULTI_GPU (acc.yaml:2)"
    assert f"conf/ds.json: DeepSpeed, without effect: {why}" in out
    assert UNUSED in out
    assert not codes


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("DEEPSPEED", {}),
        ("MULTI_GPU", {"run__sh": LAUNCH.replace("--config", "--use_deepspeed --config")}),
        ("MULTI_GPU", {"run__sh": LAUNCH + LAUNCH.replace("--config", "--use_deepspeed --config")}),
        ("MULTI_GPU", {"run__sh": LAUNCH.replace("--config", "$MORE --config")}),
        ("MULTI_GPU", {"other__sh": "export ACCELERATE_DEEPSPEED_CONFIG_FILE=conf/ds.json\n"}),
    ],
)
def test_and_uses_it_with_deepspeed(kind: str, more: dict[str, str], tmp_path: Path) -> None:
    out, codes = said(tmp_path, of_accelerate(kind, **more))
    assert "without effect" not in out
    assert codes == ["MP704"]


@pytest.mark.parametrize(
    "program",
    [
        "from accelerate import Accelerator, DeepSpeedPlugin\n"
        "plugin = DeepSpeedPlugin(hf_ds_config='conf/ds.json')\n"
        "accelerator = Accelerator(deepspeed_plugin=plugin)\n",
        MAKES + "import deepspeed\ndeepspeed.initialize(model=m, config='conf/ds.json')\n",
        MAKES + "settings = f'conf/{name}.json'\n",
    ],
)
def test_another_place_that_names_the_file(program: str, tmp_path: Path) -> None:
    out, codes = said(tmp_path, of_accelerate("MULTI_GPU", train__py=program))
    assert "without effect" not in out
    assert codes == ["MP704"]


def test_where_it_is_said_in_json(tmp_path: Path) -> None:
    root = project(tmp_path, of_accelerate("MULTI_GPU"))
    found = json.loads(run("explain-config", "--output-format", "json", cwd=root).out)
    rows = {Path(str(one["filename"])).name: one for one in found}
    assert rows["ds.json"]["without_effect"]["location"]["row"] == 2
    (unused,) = next(one["unused"] for one in found if one["unused"])
    assert (unused["link"], unused["reference"]) == ("deepspeed", "conf/ds.json")
    assert (unused["because"]["key"], unused["because"]["value"]) == (
        "distributed_type", "MULTI_GPU"
    )  # fmt: skip


# Options that nothing reads

PROGRAM = """\
\"\"\"Training.

    deepspeed train.py --lr 1 --{name} conf/ds.json
\"\"\"

import argparse
import torch
from accelerate import Accelerator

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-3, help="with conf/ds.json less")
    parser.add_argument("--deepspeed_config", default={default})
    return parser.parse_args()

class Training:
    def __init__(self, args):
        self.args = args
        self.rate = self.args.lr

def main():
    args = options()
    print("as in conf/ds.json", args.lr)
    Training(args)
    {body}

main()
"""


def of_option(
    body: str = "pass", default: str = "None", name: str = "deepspeed_config", **more: str
) -> dict[str, str]:
    text = PROGRAM.format(body=body, default=default, name=name)
    files = {"conf/ds.json": DEEPSPEED, "train.py": text}
    return files | {name.replace("__", "."): text for name, text in more.items()}


@pytest.mark.parametrize(
    "files",
    [
        of_option(),
        of_option(name="deepspeed"),
        of_option(default='"conf/ds.json"'),
        of_option(run__sh="deepspeed train.py --deepspeed_config conf/ds.json\n"),
        of_option(run__sh="deepspeed --num_gpus 2 train.py --lr 1 --deepspeed conf/ds.json\n"),
        of_option(run__sh="accelerate launch train.py --deepspeed_config=conf/ds.json\n"),
        of_option(README__md="```bash\ndeepspeed train.py \\\n  --deepspeed conf/ds.json\n```\n"),
        of_option(README__md="├── conf/ds.json   # ZeRO\n", default='"conf/ds.json"'),
        of_option(Makefile="train:\n\tdeepspeed train.py --deepspeed conf/ds.json\n"),
        of_option("torch.manual_seed(args.lr)", default='"conf/ds.json"'),
    ],
)
def test_an_option_that_nothing_reads(files: dict[str, str], tmp_path: Path) -> None:
    out, codes = said(tmp_path, files)
    why = "only `--deepspeed_config` gets it, and nothing reads that option (train.py:13)"
    assert f"conf/ds.json: DeepSpeed, without effect: {why}" in out
    assert not codes


@pytest.mark.parametrize(
    "files",
    [
        of_option("start(args.deepspeed_config)"),
        of_option("import deepspeed\n    deepspeed.initialize(args=args, model=m)"),
        of_option("import tool\n    tool.start(args)"),
        of_option("import tool\n    tool.start(**vars(args))"),
        of_option(other__py="import deepspeed\nsettings = 'conf/ds.json'\n"),
    ],
)
def test_an_option_that_something_may_read(files: dict[str, str], tmp_path: Path) -> None:
    reads = {"run.sh": "deepspeed train.py --deepspeed_config conf/ds.json\n"}
    out, _ = said(tmp_path, files | reads)
    assert "without effect" not in out


# Words after the script of `accelerate launch`

PLAIN = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: no\n"
TAKES = """\
import argparse
from accelerate import Accelerator

parser = argparse.ArgumentParser()
parser.add_argument("--config-file")
args = parser.parse_args()
{}
accelerator = Accelerator()
"""
AFTER = "accelerate launch train.py --config-file acc.yaml\n"


@pytest.mark.parametrize(
    "more",
    [
        {"run.sh": AFTER},
        {"README.md": f"```bash\n{AFTER}```\n"},
        {"Makefile": f"train:\n\tsource a && {AFTER}"},
        {"run.sh": f"{AFTER}{AFTER.replace('acc.yaml', 'acc.yaml --resume')}"},
    ],
)
def test_words_for_the_program_are_none_of_the_launcher(
    more: dict[str, str], tmp_path: Path
) -> None:
    out, codes = said(tmp_path, {"acc.yaml": PLAIN, "train.py": TAKES.format(""), **more})
    why = "only `--config-file` gets it, and nothing reads that option (train.py:5)"
    assert f"acc.yaml: accelerate, without effect: {why}" in out
    assert not codes
    read = {"train.py": TAKES.format("start(args.config_file)")}
    out, codes = said(tmp_path, read)
    assert "acc.yaml: accelerate, by its keys: no program is seen to give them to it" in out
    assert codes == ["MP705"]


@pytest.mark.parametrize(
    "script",
    [
        "accelerate launch --config_file acc.yaml train.py\n",
        "accelerate launch --config_file acc.yaml train.py --config-file acc.yaml\n",
        f"{AFTER}FILE=acc.yaml\nsbatch start.sh $FILE\n",
        f"{AFTER}bash start.sh acc.yaml\n",
        "python start.py --config-file acc.yaml\n",
    ],
)
def test_another_command_may_give_it_to_the_launcher(script: str, tmp_path: Path) -> None:
    files = {"acc.yaml": PLAIN, "train.py": TAKES.format(""), "run.sh": script}
    out, codes = said(tmp_path, files)
    assert "acc.yaml: accelerate, " not in out
    assert codes == ["MP705"]
