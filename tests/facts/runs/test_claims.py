"""Which place a run is said to have a setting for: branches, models and sections of this run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PARSER = """\
import argparse
import torch
from models import get_model

parser = argparse.ArgumentParser()
parser.add_argument("--network")
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
"""
MODELS = """\
def get_model(name, **kwargs):
    if name == "vit":
        from .vit import Vit
        return Vit()
    elif name == "mobile":
        from .mobile import Mobile
        return Mobile(fp16=kwargs.get("fp16"))
"""
MOBILE = """\
import torch
from torch import nn

class Mobile(nn.Module):
    def __init__(self, fp16):
        self.fp16 = fp16

    def forward(self, x):
        with torch.cuda.amp.autocast(self.fp16):
            return self.layers(x)
"""
MADE = "model = get_model(args.network, fp16=args.fp16)\n"
SCALED = """\
scaler = torch.cuda.amp.GradScaler(growth_interval=100)
for batch in loader:
    if args.fp16:
        scaler.scale(model(batch)).backward()
"""


@pytest.mark.parametrize(
    ("network", "rest", "expected"),
    [
        ("mobile", "", "(autocast, models/mobile.py:9)"),
        ("vit", "", "not used: network is vit (autocast, models/mobile.py:9)"),
        ("vit", SCALED, "true (scaler, train.py:13)"),
        ("vit", "if args.fp16:\n    prepare(model)\n", "not understood: --fp16 (run.sh:1)"),
        ("$NET", "", "float16 (autocast, models/mobile.py:9, only if name == 'mobile')"),
    ],
)
def test_the_model_that_a_run_makes(network: str, rest: str, expected: str, tmp_path: Path) -> None:
    files = {
        "train.py": PARSER + MADE + rest,
        "models/__init__.py": MODELS,
        "models/mobile.py": MOBILE,
        "models/vit.py": "class Vit: pass\n",
        "run.sh": f"python train.py --network {network} --fp16\n",
    }
    assert expected in explained(tmp_path, files, "run.sh")


EVALUATION = """\
import argparse
from training import load

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    model = load(args.amp)

if __name__ == "__main__":
    main()
"""
TRAINING = """\
import argparse
import torch

def load(amp):
    return make(torch.float16 if amp else torch.float32)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    with torch.autocast("cuda", enabled=args.amp):
        pass

if __name__ == "__main__":
    main()
"""


def test_the_main_function_of_another_program(tmp_path: Path) -> None:
    files = {
        "evaluate.py": EVALUATION,
        "training.py": TRAINING,
        "run.sh": "python evaluate.py --amp\n",
    }
    out = explained(tmp_path, files, "run.sh")
    assert "autocast" not in out
    assert "--amp" in out


CONFIG = "model: m\nepochs: 3\nlr: 1\nkind_dtype: bfloat16\nquantization_config:\n  group: 8\n"
LOADING = """\
import yaml
import torch
from library import Engine, Quantization

config = yaml.safe_load(open("a.yaml"))
print(config["model"], config["epochs"], config["lr"])
"""


@pytest.mark.parametrize(
    ("code", "is_for"),
    [
        ('Engine(dtype=config["kind_dtype"])\n', True),
        ('Engine(dtype=config.get("kind_dtype"))\n', True),
        ('Engine(dtype=config["model_kwargs"]["kind_dtype"])\n', False),
        (
            'given = config.get("model_kwargs") or {}\nEngine(dtype=given.get("kind_dtype"))\n',
            False,
        ),
        ('Quantization(**config["quantization_config"])\n', False),
    ],
)
def test_a_key_of_another_section(code: str, is_for: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, {"a.yaml": CONFIG, "train.py": LOADING + code}, "a.yaml")
    assert ("argument of Engine(dtype=)" in out) is is_for
    assert ("nothing reads it (loaded, train.py:5)" in out) is not is_for


RESULT = """\
def prepare(model, kind):
    if kind == "bfloat16":
        announce()
    return wrap(model)

def cast(model, kind):
    return kind.lower()

print(Engine(dtype={}))
"""


@pytest.mark.parametrize(
    ("given", "is_for"),
    [
        ('prepare(model, config["kind_dtype"])', False),
        ('cast(model, config["kind_dtype"])', True),
    ],
)
def test_what_a_function_returns_of_what_it_gets(given: str, is_for: bool, tmp_path: Path) -> None:
    files = {"a.yaml": CONFIG, "train.py": LOADING + RESULT.format(given)}
    assert ("argument of Engine(dtype=)" in explained(tmp_path, files, "a.yaml")) is is_for


HYDRA = """\
import hydra
from hydra.utils import instantiate

def loaders(data):
    return instantiate(data)

@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg):
    instantiate({})
    print(cfg.seed, cfg.epochs)
    loaders(cfg.data)

main()
"""
EXTRAS = """\
seed: 1
epochs: 2
data:
  name: a
extras:
  precision:
    _target_: torch.set_float32_matmul_precision
    precision: medium
"""


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("cfg.extras", "(argument of set_float32_matmul_precision(precision=), train.py:9)"),
        ("cfg.other", "(argument of set_float32_matmul_precision(precision=), conf/config.yaml:7)"),
    ],
)
def test_the_call_that_makes_a_section(argument: str, expected: str, tmp_path: Path) -> None:
    files = {
        "conf/config.yaml": EXTRAS,
        "train.py": HYDRA.replace("instantiate({})", f"instantiate({argument})"),
    }
    assert f"medium {expected}" in explained(tmp_path, files, "conf/config.yaml")


REFERRING = """\
seed: 1
epochs: 2
use_bf16: true
data: d
arguments:
  _target_: trl.SFTConfig
  bf16: ${use_bf16}
"""


def test_a_setting_that_another_one_refers_to(tmp_path: Path) -> None:
    files = {
        "conf/config.yaml": REFERRING,
        "train.py": HYDRA.replace("instantiate({})", "instantiate(cfg.arguments)"),
        "run.sh": "python train.py use_bf16=False\n",
    }
    out = explained(tmp_path, files, "run.sh")
    assert "argument of SFTConfig(bf16=), train.py:9" in out


IMPORTED = """\
import argparse
import torch
from transformers import AutoModel
from kinds import DTYPES

parser = argparse.ArgumentParser()
parser.add_argument("--dtype")
args = parser.parse_args()
model = AutoModel.from_pretrained("m", torch_dtype=DTYPES[args.dtype])
"""


def test_a_table_that_is_imported(tmp_path: Path) -> None:
    files = {
        "train.py": IMPORTED,
        "kinds/__init__.py": "from .table import DTYPES\n",
        "kinds/table.py": 'import torch\nDTYPES = {"half": torch.float16}\nx["half"] = 1\n',
        "run.sh": "python train.py --dtype half\n",
    }
    out = explained(tmp_path, files, "run.sh")
    assert "weights  float16" in out


HELPER = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--precision")
args = parser.parse_args()

def region(device, dtype):
    return torch.autocast(device, dtype=dtype)

if args.precision == "fp16":
    context = region("cuda", torch.float16)
elif args.precision == "bf16":
    context = region("cuda", torch.bfloat16)
"""


def test_the_calls_of_a_helper_that_a_run_comes_to(tmp_path: Path) -> None:
    files = {"train.py": HELPER, "run.sh": "python train.py --precision bf16\n"}
    assert "compute  bfloat16" in explained(tmp_path, files, "run.sh")


BRANCHES = """\
import yaml
import torch

config = yaml.safe_load(open("a.yaml"))
print(config["model"], config["epochs"], config["lr"])

def region(runtime, kind):
    if runtime.device.type != "cuda" or kind == "float32":
        return nullcontext()
    if kind == "bfloat16":
        if not torch.cuda.is_bf16_supported():
            raise ValueError
        return torch.autocast("cuda", dtype=torch.bfloat16)
    if kind == "float16":
        return torch.autocast("cuda", dtype=torch.float16)
    raise ValueError

region(start(), config["kind_dtype"])
"""


def test_the_branch_of_the_value_is_shown_though_the_device_is_not_known(tmp_path: Path) -> None:
    out = explained(tmp_path, {"a.yaml": CONFIG, "train.py": BRANCHES}, "a.yaml")
    assert "bfloat16 (autocast, train.py:13, only if not (runtime.device.type" in out


CHECKED = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--bf16", action="store_true")
parser.add_argument("--fp16", action="store_true")

def main():
    args = parser.parse_args()
    if args.bf16 and args.fp16:
        raise ValueError("only one of them")
    torch.backends.cuda.matmul.allow_tf32 = True

main()
"""


def test_a_check_that_raises_decides_nothing(tmp_path: Path) -> None:
    files = {"train.py": CHECKED, "run.sh": "python train.py --bf16\n"}
    out = explained(tmp_path, files, "run.sh")
    assert "tf32" not in out
    assert "not understood: --bf16" in out


COUNTED = """\
def main():
    if config["kind_dtype"] == "int8":
        count = quantize(model)
    else:
        count = 0
    if count == 0:
        model.eval().to(torch.float32)

main()
"""


def test_what_a_branch_counts_is_not_the_setting(tmp_path: Path) -> None:
    files = {"a.yaml": CONFIG.replace("bfloat16", "int8"), "train.py": LOADING + COUNTED}
    out = explained(tmp_path, files, "a.yaml")
    assert "not understood: kind_dtype" in out
    assert "weights" not in out


SHARED = """\
import torch
from library import Engine

def train(config):
    print(config["model"], config["epochs"], config["lr"])
    Engine(dtype=config["kind_dtype"])

def score(config):
    print(config["model"], config["epochs"], config["lr"])
"""
STARTING = """\
import sys
import yaml
from shared import {0}

def main():
    {0}(yaml.safe_load(open(sys.argv[1])))

if __name__ == "__main__":
    main()
"""


def test_of_programs_that_share_code_the_one_that_comes_to_the_place(tmp_path: Path) -> None:
    files = {
        "shared.py": SHARED,
        "evaluate.py": STARTING.format("score"),
        "fit.py": STARTING.format("train"),
        "conf/a.yaml": CONFIG,
        "run.sh": "python evaluate.py conf/a.yaml\npython fit.py conf/a.yaml\n",
    }
    out = explained(tmp_path, files, "conf/a.yaml")
    assert "read by fit.py" in out
    assert "argument of Engine(dtype=), shared.py:6" in out


COMPOSING = """\
import hydra
from library import Engine

@hydra.main(config_path="conf", config_name="{}", version_base=None)
def main(cfg):
    print(cfg.model, cfg.epochs, cfg.lr)
    Engine(dtype=cfg.kind_dtype)

main()
"""


def test_the_program_that_a_comment_starts_with_the_name_of_a_file(tmp_path: Path) -> None:
    files = {
        "train.py": COMPOSING.format("train"),
        "search.py": COMPOSING.format("search"),
        "conf/wide.yaml": f"# python search.py --config-name wide\n{CONFIG}",
    }
    assert "read by search.py" in explained(tmp_path, files, "conf/wide.yaml")


@pytest.mark.parametrize(
    ("line", "is_listed"),
    [
        ("bnb_4bit_quant_type: nf4", True),
        ("fp8_models: a/b:model*.safetensors,a/b:encoder.pth", True),
        ("model_type: nf4", False),
    ],
)
def test_types_of_quantized_weights_are_settings_of_precision(
    line: str, is_listed: bool, tmp_path: Path
) -> None:
    files = {"a.yaml": f"{CONFIG}{line}\n", "train.py": "import torch\n"}
    assert (f"not understood: {line}" in explained(tmp_path, files, "a.yaml")) is is_listed


CERTAIN = """\
import sys
import torch
import yaml
from pytorch_lightning import Trainer

def main():
    config = yaml.safe_load(open("a.yaml"))
    table = {"precision": config["precision"]}
    trainer = Trainer.from_argparse_args(config, **table)
    if "strategy" in sys.argv:
        if table["precision"] == 16:
            with torch.autocast("cuda"):
                trainer.fit()

if __name__ == "__main__":
    main()
"""
MANY = """\
import sys
import yaml
from torch import autocast

def main():
    config = yaml.safe_load(open("a.yaml"))
    name = sys.argv[1]
    {}

if __name__ == "__main__":
    main()
"""
BRANCH = (
    'if name == "{0}":\n        with autocast("cuda", enabled=config["use_amp"]):\n'
    "            train()\n    "
)
SETTINGS = "lr: 0.1\nepochs: 2\nname: a\nseed: 1\n"


def test_what_a_run_certainly_comes_to_is_named_before_a_place_that_is_better(
    tmp_path: Path,
) -> None:
    files = {"a.yaml": SETTINGS + "precision: 16\n", "train.py": CERTAIN}
    out = explained(tmp_path, files, "a.yaml")
    assert "argument of from_argparse_args(precision=), train.py:9" in out
    assert "autocast" not in out


FUNCTION = (
    'def run_{0}(config):\n    with autocast("cuda", enabled=config["use_amp"]):\n'
    "        train()\n\n"
)
STARTED = 'if name == "{0}":\n        run_{0}(config)\n    '


@pytest.mark.parametrize(("count", "is_said"), [(1, True), (3, True), (4, False), (7, False)])
def test_of_many_places_none_is_named(count: int, is_said: bool, tmp_path: Path) -> None:
    head, main = MANY.split("def main", 1)
    head += "".join(FUNCTION.format(number) for number in range(count))
    main = main.format("".join(STARTED.format(number) for number in range(count)))
    files = {"a.yaml": SETTINGS + "use_amp: true\n", "train.py": f"{head}def main{main}"}
    out = explained(tmp_path, files, "a.yaml")
    assert ("autocast" in out) is is_said
    assert ("not understood: use_amp: true" in out) is not is_said


@pytest.mark.parametrize("count", [2, 4, 7])
def test_branches_of_one_function_are_named_together(count: int, tmp_path: Path) -> None:
    code = MANY.format("".join(BRANCH.format(number) for number in range(count)))
    files = {"a.yaml": SETTINGS + "use_amp: true\n", "train.py": code}
    out = explained(tmp_path, files, "a.yaml")
    assert f"(autocast, train.py:9, one of {count} places)" in out


@pytest.mark.parametrize(
    ("more", "is_said"), [("pass", True), ("made = setup(config['kind'])", False)]
)
def test_no_place_is_guessed_if_the_setting_may_go_elsewhere(
    more: str, is_said: bool, tmp_path: Path
) -> None:
    branch = 'if name == "a":\n        model = load("m", dtype=config["kind"])\n    '
    code = MANY.format(branch + more)
    files = {"a.yaml": SETTINGS + "kind: half\n", "train.py": code}
    out = explained(tmp_path, files, "a.yaml")
    assert ("argument of load(dtype=)" in out) is is_said
    assert ("not understood: kind: half" in out) is not is_said


REGION_AND_SCALER = """\
import torch
import sys
from library import load_settings

def main():
    config = load_settings(sys.argv[1])
    with torch.autocast("cuda", enabled=config.use_amp or works()):
        pass
    scaler = torch.amp.GradScaler(enabled=config.use_amp or works())
    train(config.epochs, config.layers)

if __name__ == "__main__":
    main()
"""


def test_a_setting_of_a_region_that_leads_to_a_scaler_has_a_row_for_each(tmp_path: Path) -> None:
    files = {
        "a.yaml": "use_amp: true\nepochs: 3\nlayers: 2\n",
        "run.sh": "python train.py a.yaml\n",
        "train.py": REGION_AND_SCALER,
    }
    out = explained(tmp_path, files)
    assert "float16 (autocast, train.py:7)" in out
    assert "true (scaler, train.py:9)" in out


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("eval", "(autocast, train.py:6)"),  # the built-in function, in the other file
        ("measure", "(autocast, train.py:6, only if 'q' in text)"),
    ],
)
def test_a_function_with_the_name_of_a_builtin(name: str, expected: str, tmp_path: Path) -> None:
    files = {
        "train.py": f"""\
import fire
import torch
import numbers_of

def {name}(fp16=False):
    with torch.autocast("cuda", torch.float16, enabled=fp16):
        numbers_of.read(model(x))

if __name__ == "__main__":
    fire.Fire({name})
""",
        "numbers_of.py": f"""\
from sympy import *

def read(text):
    if "q" in text:
        return {name}(text)
""",
        "run.sh": "python train.py --fp16 True\n",
    }
    assert expected in explained(tmp_path, files, "run.sh")


LOADED = """\
import fire
import torch
from transformers import AutoModel

device = "cuda" if torch.cuda.is_available() else "cpu"

def main(name="", load_8bit=False):
    if device == "cuda":
        model = AutoModel.from_pretrained(name, torch_dtype=torch.float16)
    else:
        model = AutoModel.from_pretrained(name)
    if not load_8bit:
        {cast}

fire.Fire(main)
"""


@pytest.mark.parametrize(
    ("cast", "word", "expected"),
    [
        ("model.half()", "False", "float16 (weights of model, serve.py:13)"),
        ("model.to(torch.bfloat16)", "False", "bfloat16 (weights of model, serve.py:13)"),
        ("model.to(dtype=torch.half)", "False", "float16 (weights of model, serve.py:13)"),
        ("model.half()", "True", "not used (weights of model, serve.py:13)"),
        ("model.to(dtype=KIND)", "False", "true (weights of model, serve.py:13)"),
    ],
)
def test_the_type_of_weights_that_a_switch_turns_on(
    cast: str, word: str, expected: str, tmp_path: Path
) -> None:
    files = {
        "serve.py": LOADED.format(cast=cast),
        "run.sh": f"python serve.py --load_8bit {word} --name m\n",
    }
    assert expected in explained(tmp_path, files, "run.sh")
