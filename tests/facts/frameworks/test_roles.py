"""The roles of settings in programs of one's own, as explain-config shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine.explained import explained
from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.project.facts import ProjectFacts, Recording
from precision_lint.facts.runs.written.unread import unread
from precision_lint.project.files import Project
from precision_lint.source.config.config_file import ParsedConfig
from tests.facts.frameworks.test_runs import project

Row = tuple[str, object, str, int]

HEAD = """\
import argparse
import json
import yaml
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="")
parser.add_argument("--dtype", default="fp32")
parser.add_argument("--half", action="store_true")
parser.add_argument("--amp", type=bool, default=False)
"""
ARGS = HEAD + "args = parser.parse_args()\n"
CONFIG = '{"dtype": "bf16", "amp": false, "epochs": 3, "data": "images", "model": "resnet"}\n'
READS = 'print(cfg["epochs"], cfg["data"], cfg["model"], cfg["amp"])\n'


def rows(root: Path, name: str) -> list[Row]:
    """The settings of the runs of a file: role, value, and where each is written."""
    facts = ProjectFacts(Project(root)).recording()
    return [
        (one.key.role, one.value, one.written.file.text.path.name, place.start.row)
        for run in runs(_file(name, facts), facts)
        for one in explained(run, facts).settings
        if one.written is not None
        and (place := one.written.file.text.place(one.written.origin.span))
    ]


def left(root: Path, name: str) -> list[str]:
    """The settings of a file that no run understands."""
    facts = ProjectFacts(Project(root)).recording()
    file = _file(name, facts)
    return [one.name for each in unread(file, runs(file, facts)) for one in each.settings]


def _file(name: str, facts: Recording) -> ParsedConfig:
    file = facts.config_files.at(facts.root / name)
    assert file is not None
    return file


@pytest.mark.parametrize(
    ("body", "words", "expected"),
    [
        (
            'with torch.autocast("cuda", dtype=getattr(torch, args.dtype)):\n    pass\n',
            "--dtype bfloat16",
            [("compute", "bfloat16", "run.sh", 1)],
        ),
        (
            'with torch.autocast("cuda", enabled=args.half):\n    pass\n',
            "--half",
            [("compute", "float16", "run.sh", 1)],
        ),
        (
            "model.train()\nif args.half:\n    model = model.half()\n",
            "--half",
            [("weights", "float16", "run.sh", 1)],
        ),
        (
            "scaler = torch.amp.GradScaler(enabled=args.half) if args.dtype == 'fp16' else None\n"
            "if scaler is not None:\n    scaler.scale(loss).backward()\n",
            "--dtype fp16 --half",
            [("scaling", "on", "run.sh", 1)],
        ),
        ("def unused():\n    model.half()\n    model.eval()\n", "--half", []),
        ("x.half()\n", "--half", []),
        (
            "torch.backends.cuda.matmul.allow_tf32 = args.half\n",
            "--half",
            [("matmul", "tf32", "run.sh", 1)],
        ),
    ],
)  # fmt: skip
def test_what_options_are_for(tmp_path: Path, body: str, words: str, expected: list[Row]) -> None:
    project(tmp_path, {"train.py": ARGS + body, "run.sh": f"python train.py {words}\n"})
    assert rows(tmp_path, "run.sh") == expected
    assert bool(left(tmp_path, "run.sh")) is not bool(expected)


def test_a_function_whose_conditions_are_decided(tmp_path: Path) -> None:
    program = (
        "def dtype_of(name):\n    if name == 'bf16':\n        return torch.bfloat16\n"
        "    elif name == 'fp16':\n        return torch.float16\n    return torch.float32\n"
        "with torch.autocast('cuda', dtype=dtype_of(args.dtype)):\n    pass\n"
    )
    project(tmp_path, {"train.py": ARGS + program, "run.sh": "python train.py --dtype bf16\n"})
    assert rows(tmp_path, "run.sh") == [("compute", "bfloat16", "run.sh", 1)]


def test_a_place_that_is_left_before(tmp_path: Path) -> None:
    program = (
        "def train():\n    if args.dtype == 'bf16':\n        return\n"
        "    with torch.autocast('cuda', enabled=args.half):\n        pass\ntrain()\n"
    )
    project(tmp_path, {"train.py": ARGS + program})
    project(tmp_path, {"run.sh": "python train.py --half --dtype bf16\n"})
    assert rows(tmp_path, "run.sh") == [("compute", "off", "run.sh", 1)]
    project(tmp_path, {"run.sh": "python train.py --half --dtype fp16\n"})
    assert rows(tmp_path, "run.sh") == [("compute", "float16", "run.sh", 1)]


def test_bool_is_true_for_any_word(tmp_path: Path) -> None:
    body = "with torch.autocast('cuda', enabled=args.amp):\n    pass\n"
    project(tmp_path, {"train.py": ARGS + body, "run.sh": "python train.py --amp False\n"})
    assert rows(tmp_path, "run.sh") == [("compute", "float16", "run.sh", 1)]


OPENED = "with open(args.config) as file:\n    cfg = json.load(file)\n" + READS
TABLE = "dtype = {'bf16': torch.bfloat16, 'fp32': torch.float32}"


@pytest.mark.parametrize(
    "program",
    [
        ARGS + OPENED + TABLE + "[cfg['dtype']]\n",
        HEAD + "with open(parser.parse_args().config) as file:\n    cfg = json.load(file)\n" + READS
        + "parser.set_defaults(**cfg)\nargs = parser.parse_args()\n" + TABLE + "[args.dtype]\n",
        ARGS + OPENED + "args.__dict__.update(cfg)\n" + TABLE + "[args.dtype]\n",
        ARGS + OPENED + "for key, value in cfg.items():\n    setattr(args, key, value)\n" + TABLE
        + "[args.dtype]\n",
        ARGS + OPENED + "def train(dtype, amp):\n    global chosen\n    chosen = dtype\n" + TABLE
        + "[cfg.get('dtype', 'fp32')]\n",
    ],
)  # fmt: skip
def test_a_file_that_no_launch_names(tmp_path: Path, program: str) -> None:
    body = "with torch.autocast('cuda', dtype=dtype):\n    pass\n"
    project(tmp_path, {"train.py": program + body, "configs/a.json": CONFIG})
    assert rows(tmp_path, "configs/a.json") == [("compute", "bfloat16", "a.json", 1)]


def test_a_section_that_is_spread_over_parameters(tmp_path: Path) -> None:
    program = (
        "def train(rank, dtype, amp, **rest):\n"
        "    with torch.autocast('cuda', dtype=getattr(torch, dtype), enabled=amp):\n        pass\n"
        "train(0, **cfg)\n"
    )
    config = CONFIG.replace("bf16", "bfloat16").replace("false", "true")
    project(tmp_path, {"train.py": ARGS + OPENED + program, "configs/a.json": config})
    assert rows(tmp_path, "configs/a.json") == [("compute", "bfloat16", "a.json", 1)]


def test_a_file_of_another_program(tmp_path: Path) -> None:
    """A program that mentions too few of its keys does not read it."""
    body = OPENED.replace(READS, "") + TABLE + "[cfg['dtype']]\n"
    region = "with torch.autocast('cuda', dtype=dtype):\n    pass\n"
    project(tmp_path, {"train.py": ARGS + body + region, "configs/a.json": CONFIG})
    assert rows(tmp_path, "configs/a.json") == []
    assert left(tmp_path, "configs/a.json") == ["dtype", "amp"]


def test_words_beat_a_file_that_gives_defaults(tmp_path: Path) -> None:
    program = (
        HEAD + "args = parser.parse_args()\nwith open(args.config) as file:\n"
        "    parser.set_defaults(**yaml.safe_load(file))\nargs = parser.parse_args()\n"
        "with torch.autocast('cuda', dtype=getattr(torch, args.dtype)):\n    pass\n"
    )
    project(tmp_path, {"train.py": program, "a.yaml": "dtype: float16\n"})
    project(tmp_path, {"run.sh": "python train.py --config a.yaml --dtype bfloat16\n"})
    assert rows(tmp_path, "run.sh") == [("compute", "bfloat16", "run.sh", 1)]
    project(tmp_path, {"run.sh": "python train.py --config a.yaml\n"})
    assert rows(tmp_path, "run.sh") == [("compute", "float16", "a.yaml", 1)]


def test_two_readers_of_one_launch_are_both_shown(tmp_path: Path) -> None:
    program = (
        ARGS + "from transformers import TrainingArguments\n"
        "model.train()\nif args.half:\n    model = model.half()\n"
    )
    words = "--do_train --output_dir out --learning_rate 1e-5 --bf16 True --half"
    project(tmp_path, {"train.py": program, "run.sh": f"python train.py {words}\n"})
    found = {row[:2] for row in rows(tmp_path, "run.sh")}
    assert found >= {("compute", True), ("weights", "float16")}


@pytest.mark.parametrize(
    "loading",
    [
        "if args.config[-5:] == '.json':\n    cfg = json.load(open(args.config))\n"
        "elif args.config.endswith('.py'):\n    cfg = imported(args.config)\n",
        "if args.half:\n    raise ValueError\nelse:\n    cfg = json.load(open(args.config))\n",
        "if unknown:\n    cfg = json.load(open(args.config))\nelse:\n    raise ValueError\n",
    ],
)
def test_a_file_that_is_opened_by_its_suffix(tmp_path: Path, loading: str) -> None:
    region = "torch.autocast('cuda', dtype=getattr(torch, cfg['dtype']))\n"
    config = CONFIG.replace('"bf16"', '"bfloat16"')
    main = "if __name__ == '__main__':\n    pass\n"
    files = {"train.py": ARGS + loading + READS + region + main, "conf/a.json": config}
    project(tmp_path, files)
    assert rows(tmp_path, "conf/a.json") == [("compute", "bfloat16", "a.json", 1)]


REGIONS = """\
def get_autocast(precision):
    if precision == "fp16":
        return torch.cuda.amp.autocast
    elif precision == "bf16":
        return lambda: torch.autocast("cuda", dtype=torch.bfloat16)
    return suppress


with get_autocast(args.dtype)():
    pass
"""


@pytest.mark.parametrize(
    ("word", "expected"),
    [("fp16", "float16"), ("bf16", "bfloat16"), ("fp32", "off")],
)
def test_regions_that_a_function_returns(tmp_path: Path, word: str, expected: str) -> None:
    project(tmp_path, {"train.py": ARGS + REGIONS, "run.sh": f"python train.py --dtype {word}\n"})
    found = {row[1] for row in rows(tmp_path, "run.sh")}
    assert found == {expected, "off"}


def test_an_assignment_that_does_not_run_changes_nothing(tmp_path: Path) -> None:
    program = (
        "import other\nwith torch.autocast('cuda', dtype=getattr(torch, args.dtype)):\n    pass\n"
    )
    other = "import torch\nif __name__ == '__main__':\n    args.dtype = None\n"
    files = {"train.py": ARGS + program, "other.py": f"import argparse\n{other}# add_argument\n"}
    project(tmp_path, {**files, "run.sh": "python train.py --dtype bfloat16\n"})
    assert rows(tmp_path, "run.sh") == [("compute", "bfloat16", "run.sh", 1)]


YACS = """\
import argparse
import torch
from yacs.config import CfgNode as CN

_C = CN()
_C.SOLVER = CN()
_C.SOLVER.AMP = CN({"ENABLED": False})
_C.SOLVER.DTYPE = "float16"


class Plain:
    def step(self):
        return self.loss()


class Mixed:
    def step(self):
        with torch.autocast("cuda", dtype=getattr(torch, self.cfg.SOLVER.DTYPE)):
            return self.loss()


parser = argparse.ArgumentParser()
parser.add_argument("--config-file", default="")
parser.add_argument("opts", nargs=argparse.REMAINDER)
args = parser.parse_args()
cfg = _C.clone()
cfg.merge_from_file(args.config_file)
cfg.merge_from_list(args.opts)
trainer = (Mixed if cfg.SOLVER.AMP.ENABLED else Plain)(cfg)
trainer.step()
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--config-file base.yaml", [("compute", "bfloat16", "base.yaml", 4)]),
        ("--config-file a.yaml", [("compute", "float32", "a.yaml", 3)]),
        (
            "--config-file base.yaml SOLVER.DTYPE float16",
            [("compute", "float16", "run.sh", 1)],
        ),
        ("--config-file base.yaml SOLVER.AMP.ENABLED False", [("compute", "off", "run.sh", 1)]),
        ("--config-file $CONFIG", []),
        ("--config-file base.yaml SOLVER.DTYPE $DTYPE", []),
    ],
)
def test_a_tree_of_yacs(tmp_path: Path, words: str, expected: list[Row]) -> None:
    files = {
        "train.py": YACS,
        "base.yaml": "SOLVER:\n  AMP:\n    ENABLED: True\n  DTYPE: bfloat16\n",
        "a.yaml": "_BASE_: base.yaml\nSOLVER:\n  DTYPE: float32\n",
        "run.sh": f"python train.py {words}\n",
    }
    project(tmp_path, files)
    assert [row for row in rows(tmp_path, "run.sh") if row[0] == "compute"] == expected


def test_a_key_of_yacs_that_the_program_decides_by_itself(tmp_path: Path) -> None:
    program = YACS.replace(
        "trainer = ", "if args.config_file:\n    cfg.SOLVER.DTYPE = 'float32'\ntrainer = "
    )
    files = {
        "train.py": program,
        "base.yaml": "SOLVER:\n  AMP:\n    ENABLED: True\n  DTYPE: bfloat16\n",
        "run.sh": "python train.py --config-file base.yaml\n",
    }
    project(tmp_path, files)
    assert rows(tmp_path, "run.sh") == []


HPARAMS = {
    "setattr": "for k, v in kwargs.items():\n            setattr(self, k, v)",
    "item": "for k, v in kwargs.items():\n            self[k] = Config(**v) if x(v) else v",
    "update": "self.__dict__.update(kwargs)",
    "other": "for k, v in kwargs.items():\n            setattr(self, k.upper(), v)",
    "nothing": "self.kwargs = kwargs",
}
SPAWNED = """\
import json
import torch
import torch.multiprocessing as mp

class Config:
    def __init__(self, **kwargs):
        {body}

def load(path="conf/a.json"):
    with open(path) as file:
        data = file.read()
    return Config(**json.loads(data))

def run(rank, count, hps):
    print(hps.epochs, hps.data, hps.model, hps.amp)
    scaler = torch.amp.GradScaler("cuda", enabled=hps.train.half)

if __name__ == "__main__":
    hps = load()
    {start}
"""
NESTED = (
    '{"train": {"half": true}, "amp": false, "epochs": 3, "data": "images", "model": "resnet"}\n'
)


@pytest.mark.parametrize(
    ("body", "start", "is_known"),
    [
        ("setattr", "run(0, 1, hps)", True),
        ("item", "mp.spawn(run, nprocs=2, args=(2, hps))", True),
        ("update", "mp.Process(target=run, args=(0, 2, hps)).start()", True),
        ("update", "mp.spawn(run, nprocs=2, args=(hps, 2))", False),
        ("other", "run(0, 1, hps)", False),
        ("nothing", "run(0, 1, hps)", False),
    ],
)
def test_an_object_that_keeps_all_settings(
    tmp_path: Path, body: str, start: str, is_known: bool
) -> None:
    program = SPAWNED.format(body=HPARAMS[body], start=start)
    files = {"train.py": program, "conf/a.json": NESTED, "run.sh": "python train.py --config a\n"}
    project(tmp_path, files)
    expected = [("scaling", "on", "a.json", 1)]
    assert rows(tmp_path, "run.sh") == (expected if is_known else [])


@pytest.mark.parametrize("word", ["--fp16_opt_level O1", "--float32_matmul_precision high"])
def test_a_level_that_nothing_reads_is_listed(tmp_path: Path, word: str) -> None:
    project(tmp_path, {"run.sh": f"python train.py {word}\n"})
    assert left(tmp_path, "run.sh") == [word.split()[0].lstrip("-")]


@pytest.mark.parametrize(
    ("words", "names"),
    [("FP16 True", ["FP16"]), ("FP16 False SEED 1", ["FP16"]), ("SEED 1", []), ("FP16", ["FP16"])],
)
def test_words_in_capitals_with_their_values(tmp_path: Path, words: str, names: list[str]) -> None:
    project(tmp_path, {"run.sh": f"python main.py --config a.txt {words}\n"})
    assert left(tmp_path, "run.sh") == names


OVERRIDING = """\
import sys
from ast import literal_eval

for arg in sys.argv[1:]:
    if "=" not in arg:
        exec(open(arg).read())
    else:
        key, val = arg.split("=")
        try:
            val = literal_eval(val)
        except ValueError:
            pass
        globals()[key[2:]] = val
"""
GLOBALS = """\
import torch

batch = 8
dtype = "float32"
exec(open("configurator.py").read())
scaler = torch.amp.GradScaler("cuda", enabled=dtype == "float16")
with torch.autocast("cuda", dtype={"float32": torch.float32, "float16": torch.float16}[dtype]):
    scaler.scale(loss).backward()
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--dtype=float16", "float16 on"),
        ("--dtype='float16' --batch=4", "float16 on"),
        ("config/half.py --dtype=float32", "float32 off"),
        ("--dtype=float32 config/half.py --dtype=float16", "float16 on"),
        ("--dtype=float16 $MORE", ""),
        ("--dtype=16", ""),
    ],
)
def test_global_variables_that_words_override(words: str, expected: str, tmp_path: Path) -> None:
    files = {
        "run.sh": f"python train.py {words}\n",
        "train.py": GLOBALS,
        "configurator.py": OVERRIDING,
        "config/half.py": 'dtype = "float16"\n',
    }
    found = rows(project(tmp_path, files), "run.sh")
    assert " ".join(str(value) for _, value, *_ in found) == expected
    assert all(name == "run.sh" for _, _, name, _ in found)


def test_a_file_in_a_folder_that_overrides_global_variables(tmp_path: Path) -> None:
    joined = GLOBALS.replace('"configurator.py"', 'os.path.join("tools", "configurator.py"), "r"')
    files = {
        "run.sh": "python -m scripts.train --dtype=float16\n",
        "scripts/train.py": joined,
        "tools/configurator.py": OVERRIDING,
    }
    found = rows(project(tmp_path, files), "run.sh")
    assert [value for _, value, *_ in found] == ["float16", "on"]


def test_a_file_that_is_executed_and_overrides_nothing(tmp_path: Path) -> None:
    files = {
        "run.sh": "python train.py --dtype=float16\n",
        "train.py": GLOBALS,
        "configurator.py": "print(dtype)\n",
    }
    assert rows(project(tmp_path, files), "run.sh") == []


OF_OBJECT = """\
import argparse
from dataclasses import dataclass
import torch

@dataclass
class Config:
    device: str = "cpu"
    use_bf16: bool = True

def train(cfg):
    if cfg.{name}:
        torch.set_float32_matmul_precision("high")
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=cfg.use_bf16):
        model(x)

parser = argparse.ArgumentParser()
parser.add_argument("--use-bf16", action="store_true")
args = parser.parse_args()
train({made}(device="cuda", use_bf16=args.use_bf16))
"""


@pytest.mark.parametrize("made", ["Config", "argparse.Namespace"])
def test_a_condition_on_one_member_of_an_object_is_none_on_another(
    tmp_path: Path, made: str
) -> None:
    program = OF_OBJECT.format(name="device", made=made)
    root = project(tmp_path, {"run.sh": "python train.py --use-bf16\n", "train.py": program})
    shown = rows(root, "run.sh")
    assert ("compute", "bfloat16", "run.sh", 1) in shown
    assert ("matmul", "high", "run.sh", 1) not in shown
    program = OF_OBJECT.format(name="use_bf16", made=made)
    root = project(tmp_path, {"train.py": program})
    assert ("matmul", "high", "run.sh", 1) in rows(root, "run.sh")
