"""Files with the keys of a framework that no file of the project names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

BY_KEYS = "by its keys: no program is seen to give them to it"
UNNAMED = "by its keys: no file of the project names it, only a run that is started by hand gets it"
DESCRIBED = (
    "by its keys: only pages and comments name it, only a run that is started by hand gets it"
)
DEEPSPEED = """\
{"fp16": {"enabled": true, "loss_scale": 0}, "zero_optimization": {"stage": 2},
 "train_micro_batch_size_per_gpu": 1, "gradient_clipping": 1.0}
"""
ACCELERATE = (
    "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: bf16\n"
)
TRAINER = "output_dir: out\nlearning_rate: 1.0e-5\nper_device_train_batch_size: 2\nfp16: true\n"
PROGRAM = """\
import argparse
import deepspeed

parser = argparse.ArgumentParser()
deepspeed.add_config_arguments(parser)
args = parser.parse_args()
{}
"""


def explained(folder: Path, others: dict[str, str], name: str, content: str = DEEPSPEED) -> str:
    files = {"pyproject.toml": "", "train.py": PROGRAM.format(""), name: content, **others}
    return run("explain-config", name, cwd=project(folder, files)).out


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"README.md": "Run `train.py` with your own file.\n"},
        {"run.sh": "python other.py zero3.json\n"},
        {"run.sh": "python other.py other/$NAME.json\n"},
        {"data.py": 'name = f"data/{split}.json"\n'},
        {"data.py": 'names = glob(f"{folder}/*.json")\n'},
        {"data.py": 'path = f"configs{number}.json"\n'},
        {"data.py": "zero2 = configs.zero2\n"},
        {"README.md": "The files are in `configs/`.\n"},
        {"a.py": "from configs import defaults\n"},
        {"run.sh": "python other.py --ds ./a/zero2.json\n", "a/zero2.json": "{}\n"},
        {"a.py": 'def main():\n    """Make the model from its configs"""\n'},
        {"run.sh": "configs --all train.py\n"},
        {"run.sh": "export A=1; CUDA_VISIBLE_DEVICES=0 nohup configs --all train.py &\n"},
        {"run.sh": "python other.py --upload ${DEEPSPEED_CONFIG}/${MODEL}_${RUN}.json\n"},
        {"tools/setup.py": 'find_packages(include=["configs"])\n'},
        {"a.py": 'def main():\n    """Set up data and configs"""\n'},
        {"a.py": "print('reading data and configs')\n"},
        {"a.py": 'path = f"{name}_{part}.json"\n'},
        {"run.sh": "python other.py --deepspeed-free $NAME-$PART.json\n"},
        {"pyproject.toml": '[tool.setuptools.packages.find]\nexclude = ["configs*", "docs*"]\n'},
    ],
)
def test_no_file_names_it(others: dict[str, str], tmp_path: Path) -> None:
    assert UNNAMED in explained(tmp_path, others, "configs/zero2.json")


@pytest.mark.parametrize("others", [{}, {"run.sh": "accelerate launch train.py\n"}])
def test_no_file_names_a_file_of_accelerate(others: dict[str, str], tmp_path: Path) -> None:
    assert UNNAMED in explained(tmp_path, others, "multi.yaml", ACCELERATE)


@pytest.mark.parametrize(
    "others",
    [
        {"README.md": "Give `zero2.json` to it.\n"},
        {"notes.txt": "zero2.json is the small one\n"},
        {"docs/a.rst": "see configs/zero2.json\n"},
        {"README.md": "[`zero2.json`](https://a.com/some-one/configs/zero2.json) is new.\n"},
        {"README.md": "```\nzero2.json   for one GPU\nzero3.json   for eight\n```\n"},
        {"README.md": "```python\n# deepspeed='configs/zero2.json',\n```\n"},
        {"a.py": "run(seed=1)  # deepspeed='configs/zero2.json'\n"},
        {"run.sh": "python other.py --lr 1\n# --deepspeed configs/zero2.json\n"},
        {"a.yaml": "seed: 1\n# deepspeed: configs/zero2.json\n"},
    ],
)
def test_only_texts_name_it(others: dict[str, str], tmp_path: Path) -> None:
    assert DESCRIBED in explained(tmp_path, others, "configs/zero2.json")


@pytest.mark.parametrize(
    "others",
    [
        {"README.md": "```\npython other.py configs/zero2.json\n```\n"},
        {"README.md": "```\ndeepspeed train.py --deepspeed configs/zero2.json\n```\n"},
        {"README.md": "```\nbash run.sh configs/zero2.json\n```\n"},
        {"README.md": "```\nCONFIG=configs/zero2.json\nbash run.sh\n```\n"},
        {"README.md": "Add `--deepspeed configs/zero2.json` for less memory.\n"},
        {"README.md": "# python other.py --deepspeed configs/zero2.json\n"},
        {"README.md": "Give `configs/$NAME.json` to it.\n"},
        {"README.md": "zero2.json is small.\n", "a.py": 'NAMES = ["zero2.json"]\n'},
        {"README.md": "zero2.json is small.\n", "a.py": 'path = "configs/" + name\n'},
        {"a.py": "# see zero2.json\nname = 'zero2'\n"},
        {"a.py": '"""Usage: deepspeed other.py --deepspeed configs/zero2.json"""\n'},
        {"a.py": "# deepspeed other.py --deepspeed configs/zero2.json\n"},
        {"run.sh": "# torchrun other.py \\\n#   --deepspeed configs/zero2.json\n"},
        {"a.json": '{"note": "see zero2.json"}\n'},
        {"a.py": 'NAMES = ["zero2.json"]\n'},
        {"a.py": 'name = "zero2"\n'},
        {"a.py": 'path = f"{root}/zero2"\n'},
        {"a.py": 'path = f"configs/zero{stage}.json"\n'},
        {"a.py": 'path = f"{root}/zero{args["stage"]}.json"\n'},
        {"a.py": 'path = "configs/zero%d.json" % stage\n'},
        {"a.py": 'path = "configs/" + name\n'},
        {"a.py": 'path = os.path.join("configs", args.name)\n'},
        {"a.py": 'path = root + "/configs"\n'},
        {"a.py": 'path = f"{root}configs"\n'},
        {"a.py": 'run("python other.py --folder configs")\n'},
        {"a.py": 'run("python other.py --folder=configs")\n'},
        {"a.py": 'for path in os.listdir("configs"):\n    pass\n'},
        {"a.py": 'path = f"configs/{args.name}"\n'},
        {"a.py": 'paths = glob("configs/*.json")\n'},
        {"a.py": 'deepspeed_config = name + ".json"\n'},
        {"a.py": 'deepspeed = f"{args.name}.json"\n'},
        {"pyproject.toml": '[tool.setuptools.packages.find]\ninclude = ["configs*"]\n'},
        {"setup.py": 'setup(package_data={"": ["configs/*.json"]})\n'},
        {"run.sh": "for c in configs/*; do python other.py $c; done\n"},
        {"run.sh": "python other.py configs/$NAME\n"},
        {"run.sh": "python other.py zero$STAGE.json\n"},
        {"run.sh": "python other.py --preset zero2\n"},
        {"run.sh": "cp -r configs out\n"},
        {"run.sh": "python other.py --ds /data/me/runs/zero2.json\n"},
        {"run.sh": "python other.py --ds ${A}/a/zero2.json\n", "a/zero2.json": "{}\n"},
        {"run.sh": "python other.py --ds zero2.json\n", "zero2.json": "{}\n"},
        {"run.sh": "nohup python other.py --all configs &\n"},
        {"run.sh": "python other.py --deepspeed configs/${MODEL}_${RUN}.json\n"},
        {"setup.py": 'find_packages(include=["configs"])\n'},
        {"a.py": 'FOLDER = ("configs")\n'},
        {"a.yaml": "preset: zero2\n"},
        {"a.json": '{"preset": "zero2"}\n'},
        {"Makefile": "run:\n\tpython other.py configs/${NAME}.json\n"},
        {"run.bat": "python other.py configs/zero2.json\n"},
    ],
)
def test_a_file_may_name_it(others: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, others, "configs/zero2.json")
    assert UNNAMED not in out
    assert DESCRIBED not in out


PACKAGE = {"lib/__init__.py": ""}


@pytest.mark.parametrize(
    "others",
    [
        {"setup.py": 'setup(packages=["lib", "lib.data"])\n'},
        {"a.py": 'logger = logging.getLogger("lib")\n'},
    ],
)
def test_a_package_with_the_name_of_its_folder(others: dict[str, str], tmp_path: Path) -> None:
    assert UNNAMED in explained(tmp_path, others | PACKAGE, "scripts/lib/zero2.json")


@pytest.mark.parametrize(
    "others",
    [
        {"a.py": 'path = os.path.join("scripts", "lib", name)\n'},
        {"a.py": 'path = f"scripts/lib/{name}"\n'},
        {"run.sh": "cd scripts\npython other.py lib/$NAME\n"},
        {"run.sh": "for c in scripts/lib/*; do python other.py $c; done\n"},
    ],
)
def test_and_the_folder_itself(others: dict[str, str], tmp_path: Path) -> None:
    assert UNNAMED not in explained(tmp_path, others | PACKAGE, "scripts/lib/zero2.json")


ALONE = "; no file of the project names it, only a run that is started by hand gets it"
PARSES = """\
import torch
from transformers import AutoModelForCausalLM
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser

if __name__ == "__main__":
    arguments, config = TrlParser((SFTConfig, ModelConfig)).parse_args_and_config()
    name = config.model_name_or_path
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16)
    SFTTrainer(model, arguments).train()
"""
OF_TRL = f"{TRAINER}max_length: 512\npacking: true\n"


def test_what_a_program_reads_to_make_objects(tmp_path: Path) -> None:
    """The program may give what the file says to the class, or not."""
    makes = {"train.py": "from transformers import TrainingArguments\nTrainingArguments(**known)\n"}
    out = explained(tmp_path, makes, "sft.yaml", TRAINER)
    assert f"{BY_KEYS}, no file of the project names it\n" in out


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"run.sh": "python train.py --config other.yaml\n"},
        {"run.sh": "python train.py --config conf/sft_large.yaml\n"},
        {"README.md": "Start `train.py` with your own file.\n"},
    ],
)
def test_what_a_program_parses_if_it_gets_it(others: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PARSES} | others, "conf/sft.yaml", OF_TRL)
    assert f"conf/sft.yaml: TRL{ALONE}\n" in out


@pytest.mark.parametrize(
    "others",
    [
        {"run.sh": "python train.py --config conf/sft.yaml\n"},
        {"run.sh": "python train.py --config conf/$NAME.yaml\n"},
        {"run.sh": "python train.py --config $1/sft.yaml\n"},
        {"README.md": "```\npython train.py --config conf/sft.yaml\n```\n"},
        {"README.md": "Start `train.py --config conf/sft.yaml`.\n"},
        {"other.py": 'CONFIG = "conf/sft.yaml"\n'},
        {"other.py": 'for name in os.listdir("conf"):\n    pass\n'},
        {"Makefile": "train:\n\tpython train.py --config conf/sft.yaml\n"},
        {"train.py": f"{PARSES}\n# python train.py --config conf/sft.yaml\n"},
    ],
)
def test_and_what_it_gets(others: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PARSES} | others, "conf/sft.yaml", OF_TRL)
    assert "TRL" in out
    assert "names it" not in out


READS = """\
import argparse

import torch
import yaml

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("{}")
    settings = yaml.safe_load(open(parser.parse_args().{}))
    model = torch.nn.Linear(settings["width"], settings["width"])
    with torch.autocast("cuda", torch.float16, enabled=settings["use_amp"]):
        model(torch.ones(settings["batch"], settings["width"]))
""".replace("{}", "settings")
SETTINGS = "width: 8\nbatch: 2\nuse_amp: true\n"


def test_what_a_program_of_ones_own_reads_if_it_gets_it(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": READS}, "conf/small.yaml", SETTINGS)
    assert "read by train.py if its argument `settings` names it\n" in out


@pytest.mark.parametrize(
    "others",
    [
        {"run.sh": "python train.py conf/small.yaml\n"},
        {"train.py": READS.replace('"settings")\n', '"settings", default="conf/small.yaml")\n', 1)},
        {"README.md": "```\npython train.py conf/small.yaml\n```\n"},
    ],
)
def test_and_what_that_gets(others: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": READS} | others, "conf/small.yaml", SETTINGS)
    assert "train.py" in out
    assert "names it" not in out


def test_a_file_without_a_program(tmp_path: Path) -> None:
    out = run("explain-config", "a.json", cwd=project(tmp_path, {"a.json": DEEPSPEED})).out
    assert BY_KEYS in out
    assert UNNAMED not in out


def test_a_file_that_a_script_writes(tmp_path: Path) -> None:
    script = f"cat > $OUT <<EOF\n{DEEPSPEED}EOF\npython other.py $OUT\n"
    assert UNNAMED not in explained(tmp_path, {}, "run.sh", script)


OUTPUT = "by its keys: only what writes it names it, only a run that is started by hand gets it"


@pytest.mark.parametrize(
    "others",
    [
        {"make.sh": "python make.py > configs/zero2.json\n"},
        {"make.sh": 'make | tee -a "$ROOT/configs/zero2.json"\n'},
        {"make.py": 'with open("configs/zero2.json", "w") as file:\n    file.write(text)\n'},
        {"make.py": 'config.save("configs/zero2.json")\n'},
        {"make.sh": "make > configs/zero2.json\n", "README.md": "It makes `zero2.json`.\n"},
    ],
)
def test_what_only_writes_a_file(others: dict[str, str], tmp_path: Path) -> None:
    assert OUTPUT in explained(tmp_path, others, "configs/zero2.json")


@pytest.mark.parametrize(
    "others",
    [
        {"make.sh": "make > configs/zero2.json\npython other.py --ds configs/zero2.json\n"},
        {"make.sh": "make > configs/zero2.json\n", "a.py": 'path = "configs/zero2.json"\n'},
        {"make.py": 'with open("configs/zero2.json", "r") as file:\n    file.read()\n'},
        {"make.py": 'with open("configs/zero2.json") as file:\n    file.read()\n'},
        {"make.sh": "make < configs/zero2.json\n"},
        {"make.sh": "make | tee log configs/zero2.json\n"},
    ],
)
def test_what_may_read_what_it_writes(others: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, others, "configs/zero2.json")
    assert "DeepSpeed" in out
    assert "only what writes it" not in out


HEAD = "# This file is generated by `tools/make.py`.\n# Do not edit it.\n\n"
MAKER = {"tools/make.py": "write(configs, names)\n"}
ALL = {"run.sh": "python other.py --folder configs\n"}


@pytest.mark.parametrize("others", [MAKER, MAKER | ALL])
def test_a_file_that_says_what_writes_it(others: dict[str, str], tmp_path: Path) -> None:
    assert OUTPUT in explained(tmp_path, others, "configs/acc.yaml", HEAD + ACCELERATE)


@pytest.mark.parametrize(
    ("others", "head"),
    [
        (ALL, HEAD),
        (MAKER | ALL, ""),
        (MAKER | ALL, "# Read by tools/make.py\n"),
        (MAKER | ALL, "seed: 1\n" + HEAD),
        (MAKER | {"run.sh": "python other.py --config configs/acc.yaml\n"}, HEAD),
        (MAKER | {"run.sh": "python other.py --config-name acc\n"}, HEAD),
    ],
)
def test_a_file_that_something_else_takes(
    others: dict[str, str], head: str, tmp_path: Path
) -> None:
    out = explained(tmp_path, others, "configs/acc.yaml", head + ACCELERATE)
    assert "mixed_precision = bf16" in out
    assert "only what writes it" not in out
