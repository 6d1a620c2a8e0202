"""What settings are for that no run is seen to understand: the ways from their reads to places."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import explained, project, run

FILE = "epochs: 3\nlr: 0.1\ndata: d\nmodel: m\nseed: 1\n{}\n"
"""What the program reads, so that it is known to be the reader."""
READS = """\
import sys
import torch
from transformers import AutoModel
from tool import load_settings, Engine

settings = load_settings(sys.argv[1])
print(settings.epochs, settings.lr, settings.data, settings.model, settings.seed)
yaml.safe_load(text)
{}
if __name__ == "__main__":
    main()
"""

LOADED = """\
def main():
    network = AutoModel.from_pretrained(settings.model, torch_dtype=TABLE[settings.kind_dtype])
"""
KEPT = """\
class Builder:
    def __init__(self, config):
        self.kind = self.name_of(config.kind_dtype)
        self.network = AutoModel.from_pretrained("m", torch_dtype=getattr(torch, self.kind))

    def name_of(self, kind):
        return kind.lower()

def main():
    Builder(settings)
"""
PROPERTY = """\
class Kinds:
    def __init__(self, config):
        self.config = config

    @property
    def dtype(self):
        return TABLE[self.config["kind_dtype"]]

def main():
    network = AutoModel.from_pretrained("m", torch_dtype=Kinds(settings).dtype)
"""
RETURNED = """\
def arguments(config):
    if config.kind_dtype == "float16":
        return {"torch_dtype": torch.float16}
    return {"torch_dtype": torch.float32}

def main():
    network = AutoModel.from_pretrained("m", **arguments(settings))
"""
UNPACKED = """\
def main():
    given = {}
    given["torch_dtype"] = settings.kind_dtype
    network = Engine("m", **given)
"""
BRANCHED = """\
def main():
    network = AutoModel.from_pretrained("m")
    if settings.kind_dtype == "float16":
        network.half()
    network.eval()
"""
ENGINE = """\
def main():
    engine = Engine(settings.model, dtype=settings.kind_dtype)
"""
POLICY = """\
import tensorflow as tf

def main():
    tf.keras.mixed_precision.set_global_policy(settings.kind_dtype)
"""
JAX = """\
import jax

def main():
    jax.config.update("jax_default_matmul_precision", settings.kind_dtype)
"""
REPLACED = """\
def main():
    settings.kind_dtype = chosen_by(settings.model)
    engine = Engine(settings.model, dtype=settings.kind_dtype)
"""
REPLACED_IN_MAIN = """\
if __name__ == "__main__":
    settings.kind_dtype = chosen_by(settings.model)
    engine = Engine(settings.model, dtype=settings.kind_dtype)
"""
CORRECTED = """\
def main():
    settings.kind_dtype = tool.dtype_of(settings.kind_dtype)
    if settings.seed:
        settings.kind_dtype = "float32"
    engine = Engine(settings.model, dtype=settings.kind_dtype)
"""
CHOSEN = """\
def main():
    engine = Engine(settings.model, dtype=settings[settings.data]["kind_dtype"])
"""
GLOBAL = """\
_HALF = False

def switch(on):
    global _HALF
    _HALF = bool(on)

def region():
    return torch.autocast("cuda") if _HALF else None

def main():
    switch(settings.get("kind_dtype", True))
    region()
"""
CAST = """\
def main():
    logits = model(x)
    if settings.kind_dtype == "float16":
        logits = logits.half()
"""
EXPORTED = """\
def main():
    builder = trt.Builder(logger)
    if settings.kind_dtype == "float16":
        builder.config.set_flag(trt.BuilderFlag.FP16)
"""
LEAVING = """\
def region(kind):
    if not kind:
        with nullcontext():
            yield
        return
    with torch.autocast("cuda"):
        yield

def main():
    with region(settings.kind_dtype):
        pass
"""
GIVEN_OUT = """\
def main():
    words = ["python", "export.py"]
    if settings.kind_dtype == "float16":
        words.append("--half")
    subprocess.run(words)
"""
IN_A_LIST = """\
def main():
    kind = settings.kind_dtype.lower()
    subprocess.run(["accelerate", "launch", "--mixed_precision", kind, "train.py"])
"""
SHARDED = """\
from torch.distributed.fsdp import MixedPrecision

def main():
    MixedPrecision(param_dtype=TABLE[settings.kind_dtype])
"""
PARTIAL = """\
from functools import partial

def main():
    partial(Engine, dtype=tool.made(settings), precision=TABLE[settings.kind_dtype])
"""
WHOLE = """\
from transformers import TrainingArguments

def main():
    TrainingArguments(**settings)
    show(**settings)
"""
PARAMETERS = """\
@param("training.kind_dtype")
def load(path, kind_dtype):
    return Engine(path, dtype=kind_dtype)

def main():
    load("m")
"""
WRITTEN_OUT = """\
def main():
    if settings.kind_dtype == "float16":
        engine = Engine("m", half=True)
"""
OF_FRAMEWORK = """\
from trl import SFTConfig

def main():
    SFTConfig(model_init_kwargs=None, bf16=tool.is_dtype(settings.kind_dtype))
    MyConfig(dtype=settings.kind_dtype)
"""
NEVER_CALLED = """\
def unused():
    Engine("m", dtype=settings.kind_dtype)

def main():
    settings.steps
"""
SHARED = """\
def named(kind):
    return getattr(torch, kind)

def main():
    network = AutoModel.from_pretrained("m", torch_dtype=named(settings.model))
    engine = Engine("m", dtype=named(settings.kind_dtype))
"""
PRINTED = """\
def main():
    print(settings.kind_dtype)
    log(dtype=settings.kind_dtype)
"""
TENSOR = """\
def main():
    x = x.to(x.kind_dtype)
    network = AutoModel.from_pretrained("m", torch_dtype=x.kind_dtype)
    settings.other.kind_dtype
"""

OF_MONAI = """\
parser = ConfigParser()
kind = parser.get_parsed_content("training#kind_dtype")

def main():
    Engine("m", dtype=kind)
"""
NESTED = """\
def main():
    if settings.kind_dtype:
        if has_native:
            settings.native = True
    if settings.native:
        way = "native"
    elif settings.apex:
        way = "apex"
    if way == "apex":
        apex.initialize(network, opt_level="O1")
        scaler = Scaler()
    elif way == "native":
        region = torch.autocast("cuda")
    save(network, amp_scaler=scaler)
"""
LEVEL = NESTED.replace("settings.native = True", "settings.apex = True")
OBJECT = """\
def main():
    scaler = None
    if settings.kind_dtype:
        scaler = Scaler()
    save(network, amp_scaler=scaler)
"""

FIELD = """\
@dataclass
class RunSettings:
    kind_dtype: torch.dtype = torch.float32

class Trainer:
    def step(self):
        short = self.run_settings
        with torch.autocast("cuda", dtype=short.kind_dtype):
            pass

def main():
    table = settings.copy()
    table["kind_dtype"] = TABLE[settings["kind_dtype"]]
    Trainer(RunSettings(**table)).step()
"""
OTHER_NAME = FIELD.replace("self.run_settings", "self.network")
MEMBER = """\
class Base:
    @property
    def region(self):
        return self._region

class Settings(Base):
    @property
    def region(self):
        if self.loaded.get("kind_dtype"):
            self._region = create("region")
        return super().region

def step(model, **options):
    region = options.get("region", None)
    if region is not None:
        with torch.autocast("cuda"):
            pass

def main():
    step(model, region=Settings().region)
"""


MEMBER_OF_KINDS = """\
def main():
    Engine("m", dtype=Kinds[settings.kind_dtype].value())
"""
OF_APEX = """\
from apex import amp

def main():
    if settings.kind_dtype:
        amp.initialize(network)
"""
APEX_LEVEL = """\
from apex import amp

def main():
    amp.initialize(network, opt_level=settings.kind_dtype)
"""
OTHER_AMP = OF_APEX.replace("from apex import amp", "import amp")
PATH = """\
def read(config, path, default=None):
    return config

def main():
    Engine("m", dtype=get_value(settings, "parts.kind_dtype", None))
"""
OTHER_PATH = PATH.replace("get_value(", "read(")
TYPED = """\
@dataclass
class Entry:
    kind_dtype: str

def build(entry: Entry | None):
    Engine("m", dtype=entry.kind_dtype)

def main():
    build(Entry(**settings["entry"]))
"""
OTHER_TYPE = TYPED.replace("entry: Entry | None", "entry: Tensor").replace(
    "build(Entry", "build(of"
)
LIBRARY = """\
import emulation

def main():
    emulation.start(network, algorithm=settings.kind_dtype)
"""
NOTING = LIBRARY.replace("emulation", "wandb")
OWN_OBJECT = LIBRARY.replace("import emulation", "emulation = Engine()")


@pytest.mark.parametrize(
    ("code", "purpose"),
    [
        (FIELD, "autocast"),
        (OTHER_NAME, ""),
        (MEMBER, "autocast"),
        (OF_MONAI, "argument of Engine(dtype=)"),
        (NESTED, "autocast"),
        (LEVEL, "argument of initialize(opt_level=)"),
        (OBJECT, ""),
        (LOADED, "weights of network"),
        (KEPT, "weights of network"),
        (PROPERTY, "weights of network"),
        (RETURNED, "argument of from_pretrained(**)"),
        (UNPACKED, "argument of Engine(torch_dtype=)"),
        (BRANCHED, "weights"),
        (ENGINE, "argument of Engine(dtype=)"),
        (POLICY, "argument of tensorflow.keras.mixed_precision.set_global_policy()"),
        (JAX, "argument of jax.config.update()"),
        (CORRECTED, "argument of Engine(dtype=)"),
        (CHOSEN, "argument of Engine(dtype=)"),
        (GLOBAL, "autocast"),
        (CAST, "cast of logits"),
        (EXPORTED, "argument of set_flag(trt.BuilderFlag.FP16)"),
        (WRITTEN_OUT, "argument of Engine(half=)"),
        (LEAVING, "autocast"),
        (GIVEN_OUT, "argument of a command (--half)"),
        (IN_A_LIST, "argument of a command (--mixed_precision)"),
        (SHARDED, "argument of MixedPrecision(param_dtype=)"),
        (PARTIAL, "argument of Engine(precision=)"),
        (WHOLE, "argument of TrainingArguments(kind_dtype=)"),
        (PARAMETERS, "argument of Engine(dtype=)"),
        (OF_FRAMEWORK, "argument of SFTConfig(bf16=)"),
        (SHARED, "argument of Engine(dtype=)"),
        (MEMBER_OF_KINDS, "argument of Engine(dtype=)"),
        (OF_APEX, "argument of apex.amp.initialize()"),
        (APEX_LEVEL, "argument of initialize(opt_level=)"),
        (OTHER_AMP, ""),
        (PATH, "argument of Engine(dtype=)"),
        (OTHER_PATH, ""),
        (TYPED, "argument of Engine(dtype=)"),
        (OTHER_TYPE, ""),
        (LIBRARY, "argument of start(algorithm=)"),
        (NOTING, ""),
        (OWN_OBJECT, ""),
        (NEVER_CALLED, ""),
        (REPLACED, ""),
        (REPLACED_IN_MAIN, ""),
        (PRINTED, ""),
        (TENSOR, ""),
    ],
)
def test_the_way_from_a_read(code: str, purpose: str, tmp_path: Path) -> None:
    files = {"a.yaml": FILE.format("kind_dtype: float16"), "train.py": READS.format(code)}
    out = explained(tmp_path, files)
    if purpose:
        assert f"  float16 ({purpose}, train.py:" in out
        assert "not understood" not in out
    else:
        assert "not understood: kind_dtype: float16 (a.yaml:6)" in out


LOADING = 'AutoModel.from_pretrained("m{}", torch_dtype=TABLE[settings.kind_dtype])'


def in_branches(count: int) -> str:
    """A function that chooses at run time what it loads."""
    rows = (f"    if found({at}):\n        {LOADING.format(at)}\n" for at in range(count))
    return "def main():\n" + "".join(rows)


def in_functions(count: int) -> str:
    """The same with a function for each."""
    made = (f"def load{at}():\n    {LOADING.format(at)}\n" for at in range(count))
    chosen = (f"    if found({at}):\n        load{at}()\n" for at in range(count))
    return "".join((*made, "def main():\n", *chosen))


OTHER_USE = in_branches(5) + "    kept = tool.handle(settings.kind_dtype)\n"


@pytest.mark.parametrize(
    ("code", "count"),
    [
        (in_branches(2), 2),
        (in_branches(4), 4),
        (in_branches(7), 7),
        (in_functions(3), 3),
        (in_functions(4), 0),
        (in_functions(7), 0),
        (in_branches(5).replace("def main", "def unused") + "def main():\n    pass\n", 0),
        (OTHER_USE, 0),
        (in_branches(5) + "    settings.kind_dtype = 'float32'\n", 0),
    ],
)
def test_branches_of_a_function_count_together(code: str, count: int, tmp_path: Path) -> None:
    files = {"a.yaml": FILE.format("kind_dtype: float16"), "train.py": READS.format(code)}
    out = explained(tmp_path, files)
    assert (f", one of {count} places" in out) is (count > 0)
    assert ("not understood: kind_dtype: float16 (a.yaml:6)" in out) is (count == 0)


SECTIONS = """\
def main():
    network = AutoModel.from_pretrained("m", torch_dtype=settings.student.kind_dtype)
    Engine("m", dtype=settings.teacher.kind_dtype)
"""


def test_sections_tell_settings_of_one_name_apart(tmp_path: Path) -> None:
    text = "student: {kind_dtype: float16}\nteacher: {kind_dtype: bfloat16}\nkind_dtype: float32"
    files = {"a.yaml": FILE.format(text), "train.py": READS.format(SECTIONS)}
    out = explained(tmp_path, files)
    assert "  float16 (weights, train.py:10) " in out
    assert "bfloat16 (argument of Engine(dtype=), train.py:11)" in out
    assert "  not understood: kind_dtype: float32 (a.yaml:8)" in out


OF_SECTIONS = """\
@dataclass
class Testing:
    kind_dtype: str = "float32"

@dataclass
class All:
    testing: Testing = field(default_factory=Testing)

class Tester:
    def __init__(self, config: Testing):
        self.config = config

    def run(self):
        Engine("m", dtype=self.config.kind_dtype)

class Trainer:
    def __init__(self, given):
        self.given = given

    def run(self):
        AutoModel.from_pretrained("m", torch_dtype=self.given.kind_dtype)

def main():
    Tester(load(All)).run()
    part = settings["training"]
    Trainer(part).run()
"""


def test_what_stands_for_a_section(tmp_path: Path) -> None:
    text = "training: {kind_dtype: float16}\ntesting: {kind_dtype: bfloat16}\n"
    files = {"a.yaml": FILE.format(text), "train.py": READS.format(OF_SECTIONS)}
    out = explained(tmp_path, files)
    assert "  float16 (weights, train.py:29) " in out
    assert "bfloat16 (argument of Engine(dtype=), train.py:22)" in out
    assert "not understood" not in out


HANDED_ON = """\
class Trainer:
    def __init__(self, kind_dtype):
        Engine("m", dtype=kind_dtype)

def main():
    Trainer(**settings["trainer"])
    AutoModel.from_pretrained("m", **settings.network)
    print(settings.loss, settings.rank, settings.size, settings.kind, settings.fold)
    print(**settings["logs"])
"""


def test_sections_that_are_handed_on_as_a_whole(tmp_path: Path) -> None:
    text = (
        "trainer: {kind_dtype: float16}\nnetwork: {torch_dtype: bfloat16}\n"
        "logs: {log_dtype: float32}\nloss: a\nrank: 1\nsize: 1\nkind: a\nfold: 1"
    )
    files = {"a.yaml": FILE.format(text), "train.py": READS.format(HANDED_ON)}
    out = explained(tmp_path, files)
    assert "float16 (argument of Engine(dtype=), train.py:11) " in out
    assert "bfloat16 (argument of from_pretrained(torch_dtype=), train.py:15)" in out
    assert "not understood: log_dtype: float32 (a.yaml:8)" in out


MODULE = """\
from tool import Engine

def run(settings):
    Engine("m", dtype=settings.kind_dtype)
"""
STARTING = """\
import importlib

def main():
    importlib.import_module(f"apps.{settings.app}.run").run(settings)
"""


def test_the_module_that_a_setting_names(tmp_path: Path) -> None:
    files = {
        "train.py": READS.format(STARTING),
        "apps/big_one/run.py": MODULE,
        "apps/small_one/run.py": MODULE,
        "a.yaml": FILE.format("app: small_one\nkind_dtype: float16"),
        "b.yaml": FILE.format("app: big_one\nkind_dtype: float16"),
    }
    out = explained(tmp_path, files)
    assert "(argument of Engine(dtype=), apps/small_one/run.py:4)  a.yaml:7" in out
    assert "(argument of Engine(dtype=), apps/big_one/run.py:4)  b.yaml:7" in out


LAUNCHED = """\
import argparse
from tool import Engine

def start(given, text):
    Engine(text, load_in_4bit=given["quantized"], compute=given["precision"])

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--load-in-4bit", dest="quantized", action="store_true")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--half", action="store_true")
    args = parser.parse_args()
    if args.half:
        print("half")
    start(make(vars(args)), "m")

main()
"""


def test_the_options_of_a_launch(tmp_path: Path) -> None:
    text = "python train.py --load-in-4bit --precision fp16 --half\n"
    rows = explained(tmp_path, {"run.sh": text, "train.py": LAUNCHED})
    assert "  other  true (argument of Engine(load_in_4bit=), train.py:5)" in rows
    assert "fp16 (argument of Engine(compute=), train.py:5)" in rows
    assert "not understood: --half" in rows


AKIN = """\
import argparse
import parts

parser = argparse.ArgumentParser()
parser.add_argument("--kind-dtype")
parts.train(tool.made(parser.parse_args()))
"""
TRAINS = "def train(args):\n    Engine(args.data, dtype=args.kind_dtype)\n"


INSTANTIATES = """\
import hydra

@hydra.main(config_path="/home/me/code/project/conf", config_name="base")
def main(cfg):
    data = hydra.utils.instantiate(cfg.data)
    given = hydra.utils.instantiate(cfg.trainer)

if __name__ == "__main__":
    main()
"""


def test_the_call_that_makes_what_a_target_names(tmp_path: Path) -> None:
    files = {
        "conf/base.yaml": "defaults:\n  - trainer: ${kind}\n",
        "conf/trainer/half.yaml": "_target_: engine.Trainer\nkind_dtype: float16\n",
        "src/train.py": INSTANTIATES,
    }
    out = explained(tmp_path, files)
    assert "  float16 (argument of Trainer(kind_dtype=), src/train.py:6)" in out


def test_a_global_variable_that_words_override(tmp_path: Path) -> None:
    files = {
        "configurator.py": "for arg in sys.argv[1:]:\n    globals()[arg] = arg\n",
        "train.py": "dtype = 'half'\nexec(open('configurator.py').read())\nEngine(dtype=dtype)\n",
        "run.sh": "python train.py --dtype=bfloat16\n",
    }
    out = explained(tmp_path, files)
    assert "  bfloat16 (argument of Engine(dtype=), train.py:3)  run.sh:1  --dtype=bfloat16" in out


def test_the_place_in_a_file_that_is_named_like_the_program_is_nearest(tmp_path: Path) -> None:
    files = {
        "train_sft.py": AKIN,
        "parts/__init__.py": "from .grpo_trainer import train\nfrom .sft_trainer import train\n",
        "parts/grpo_trainer.py": TRAINS,
        "parts/sft_trainer.py": TRAINS,
        "run.sh": "python train_sft.py --kind-dtype fp16\n",
    }
    out = explained(tmp_path, files)
    assert "fp16 (argument of Engine(dtype=), parts/sft_trainer.py:2)" in out


RUNNERS = """\
class {0}:
    def start(self, args):
        Engine(args.data, dtype=args.kind_dtype)
"""


def test_the_place_in_a_class_that_the_program_names_is_nearest(tmp_path: Path) -> None:
    files = {
        "main_half.py": AKIN + "parts.Segments().start(given)\n",
        "parts/__init__.py": "from .a import Lanes\nfrom .b import Segments\n",
        "parts/a.py": RUNNERS.format("Lanes"),
        "parts/b.py": RUNNERS.format("Segments"),
        "run.sh": "python main_half.py --kind-dtype fp16\n",
    }
    out = explained(tmp_path, files)
    assert "fp16 (argument of Engine(dtype=), parts/b.py:3)" in out


OWN_CONFIG = """\
import argparse
from own import GRPOConfig

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--precision", default="fp32")
    args = parser.parse_args()
    GRPOConfig(precision=args.precision)

main()
"""


def test_an_argument_that_a_framework_does_not_have_says_nothing_to_it(tmp_path: Path) -> None:
    files = {"run.sh": "python train.py --precision bf16\n", "train.py": OWN_CONFIG}
    out = explained(tmp_path, files)
    assert "--precision bf16" in out


NOT_REACHED = """\
import argparse
import torch
from tool import Engine

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="fp32")
    parser.add_argument("--serve", default="yes")
    args = parser.parse_args()
    if args.serve == "no":
        Engine("m", dtype=tool.dtype_of(args.dtype))

main()
"""


def test_what_another_setting_keeps_a_run_from_is_not_used(tmp_path: Path) -> None:
    text = "python train.py --serve maybe --dtype fp16\npython train.py --dtype fp16\n"
    files = {"run.sh": text, "train.py": NOT_REACHED}
    out = explained(tmp_path, files)
    assert "  other  not used: serve is maybe (argument of Engine(dtype=), train.py:11)" in out
    assert (
        "  other  fp16 (argument of Engine(dtype=), train.py:11, only if serve is not yes)" in out
    )


OTHER_VALUE = """\
def start(given):
    if given["kind_dtype"] in ("fp16_autocast", "bf16_autocast"):
        Engine("m", dtype=TABLE[given["kind_dtype"]])

def main():
    start(make(vars(settings)))
"""


@pytest.mark.parametrize("value", ["bf16_autocast", "bf16"])
def test_a_branch_for_other_values_of_the_setting_is_no_place(value: str, tmp_path: Path) -> None:
    files = {"a.yaml": FILE.format(f"kind_dtype: {value}"), "train.py": READS.format(OTHER_VALUE)}
    out = explained(tmp_path, files)
    if value == "bf16_autocast":
        assert "bf16_autocast (argument of Engine(dtype=), train.py:11)" in out
    else:
        assert "not understood: kind_dtype: bf16 (a.yaml:6)" in out


SCALED = """\
def main():
    region = torch.autocast("cuda", dtype=tool.dtype_of(settings.kind_dtype))
    scaler = torch.amp.GradScaler(enabled=bool(make(settings.amp) or settings.amp))
"""


def test_no_rule_takes_purposes_for_facts(tmp_path: Path) -> None:
    text = FILE.format("kind_dtype: bfloat16\namp: true")
    files = {"a.yaml": text, "train.py": READS.format(SCALED)}
    folder = project(tmp_path, files)
    assert "(autocast, train.py" in run("explain-config", cwd=folder).out
    assert run("--select", "MP7", cwd=folder).out == "All checks passed!\n"


FIRE = """\
import fire
from tool import Engine

def first(seed, kind_dtype="half"):
    Engine("m", dtype=kind_dtype)

def second(seed, kind_dtype="half"):
    return Engine("n", dtype=kind_dtype)

class Runs:
    def __init__(self, kind_dtype="half"):
        self.kind = kind_dtype

    def third(self):
        Engine("o", dtype=self.kind)

if __name__ == "__main__":
    {}
"""


@pytest.mark.parametrize(
    ("call", "words", "row"),
    [
        ("fire.Fire()", "second --seed=1 --kind_dtype=bfloat16", 8),
        ("fire.Fire()", "Runs --kind_dtype=bfloat16 third", 15),
        ('fire.Fire({"a": second})', "a --seed=1 --kind_dtype=bfloat16", 8),
        ("fire.Fire(Runs)", "third --kind_dtype=bfloat16", 15),
        ("fire.Fire(Runs())", "third --kind_dtype=bfloat16", 15),
        ("fire.Fire(first)", "--seed=1 --kind_dtype=bfloat16", 5),
    ],
)
def test_what_fire_calls(call: str, words: str, row: int, tmp_path: Path) -> None:
    files = {"train.py": FIRE.format(call), "run.sh": f"python train.py {words}\n"}
    out = explained(tmp_path, files)
    assert f"bfloat16 (argument of Engine(dtype=), train.py:{row})" in out


ALIKE = """\
import sys
import yaml
from shared import run

if __name__ == "__main__":
    settings = yaml.safe_load(open(sys.argv[1]))
    run(settings)
    print(settings["lr"], settings["data"], settings["epochs"], settings["{}"])
"""
COMMON = """\
from tool import Engine

def run(settings):
    Engine("m", dtype=settings["kind_dtype"])
"""
ELSEWHERE = """\
from tool import Engine

def run(settings):
    Engine("m", dtype=settings["kind_dtype"])
    Engine("m", dtype=settings["kind_dtype"])
"""


def test_programs_that_share_the_place_of_a_setting(tmp_path: Path) -> None:
    files = {
        "a.yaml": FILE.format("kind_dtype: float16"),
        "one/first.py": ALIKE.format("model"),
        "two/second.py": ALIKE.format("seed"),
        "shared.py": COMMON,
    }
    out = explained(tmp_path, files)
    assert "float16 (argument of Engine(dtype=), shared.py:4)" in out
    other = files["two/second.py"].replace("from shared", "from parts")
    unseen = files | {"two/second.py": other, "parts.py": "print(settings['kind_dtype'])\n"}
    out = explained(tmp_path, unseen)
    assert "not understood: kind_dtype: float16 (a.yaml:6)" in out
    files["two/second.py"] = files["two/second.py"].replace("shared", "other")
    files["other.py"] = ELSEWHERE
    out = explained(tmp_path, files)
    assert "not understood: kind_dtype: float16 (a.yaml:6)" in out


CLASSES = """\
import torch

class Stage:
    def __init__(self, kind_dtype, size=1):
        self.kind = getattr(torch, kind_dtype)

    def step(self):
        with torch.autocast("cuda", dtype=self.kind):
            pass
"""


@pytest.mark.parametrize(
    "text",
    [
        "model:\n  _target_: parts.stages.Stage\n  kind_dtype: float16\n",
        "model:\n  class_path: parts.stages.Stage\n  init_args:\n    kind_dtype: float16\n",
        "model:\n  target: parts.Stage\n  params:\n    kind_dtype: float16\n",
        "model:\n  type: Stage\n  kind_dtype: float16\n",
    ],
)
def test_the_class_that_a_section_names(text: str, tmp_path: Path) -> None:
    files = {"a.yaml": text, "parts/stages.py": CLASSES, "train.py": "import torch\n"}
    out = explained(tmp_path, files)
    assert "a.yaml: PyTorch, read by parts/stages.py; no file of the project names it" in out
    assert "float16 (autocast, parts/stages.py:8)" in out
    (tmp_path / "more.py").write_text("class Stage:\n    pass\n")
    out = run("explain-config", cwd=tmp_path).out
    is_written_out = "parts." in text
    assert ("not understood" in out) is not is_written_out


def test_what_is_in_a_section_of_its_own_is_no_argument(tmp_path: Path) -> None:
    text = "model:\n  _target_: parts.stages.Stage\n  options:\n    kind_dtype: float16\n"
    files = {"a.yaml": text, "parts/stages.py": CLASSES, "train.py": "import torch\n"}
    out = explained(tmp_path, files)
    assert "not understood: kind_dtype: float16 (a.yaml:4)" in out


READER = """\
import contextlib
import sys
import torch
import yaml
from tool import Engine, load

config = yaml.safe_load(open(sys.argv[1]))
print(config.epochs, config.lr, config.data, config.model, config.seed)

{}

if __name__ == "__main__":
    main()
"""
ALIAS = """\
try:
    autocast = torch.cuda.amp.autocast
except AttributeError:
    class autocast:
        def __init__(self, enabled):
            pass

class Network:
    def __init__(self, args):
        self.args = args

    def forward(self, x):
        with autocast({}):
            return x

def main():
    Network(config)
"""
CHOSEN = """\
class Trainer:
    def __init__(self, args):
        self.use_amp = args.use_amp
        self.region = {}

def main():
    Trainer(config)
"""
CAST = """\
def main():
    network = load(config.model)
    network.apply(lambda weights: weights.{})
"""
FAMILIES = """\
class First:
    def create(self, size, {0}):
        return size

class Second:
    def create(self, size, {0}):
        return size

class Third:
    def create(self, size, {0}):
        return size

class Fourth:
    def create(self, size, {1}):
        return size

def main():
    family = load(config.model)
    family.create(3, config.use_amp)
"""
AUTOCAST = "use_amp  true  (autocast"


def of_reader(tmp_path: Path, body: str) -> str:
    files = {"train.py": READER.format(body), "a.yaml": FILE.format("use_amp: true")}
    return explained(tmp_path, files)


@pytest.mark.parametrize(
    "body",
    [
        ALIAS.format("enabled=self.args.use_amp"),
        ALIAS.format("self.args.use_amp"),
        CHOSEN.format("torch.cuda.amp.autocast if self.use_amp else contextlib.nullcontext"),
        CHOSEN.format("torch.cuda.amp.autocast if args.use_amp else load"),
        CHOSEN.format("contextlib.nullcontext if not args.use_amp else torch.cuda.amp.autocast"),
    ],
)
def test_classes_of_regions_by_other_names(tmp_path: Path, body: str) -> None:
    out = of_reader(tmp_path, body)
    assert "(autocast, train.py:" in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    "body",
    [
        ALIAS.format("enabled=True"),
        ALIAS.format("enabled=self.args.seed"),
        ALIAS.replace("torch.cuda.amp.autocast", "load.autocast").format("self.args.use_amp"),
        CHOSEN.format("load if self.use_amp else contextlib.nullcontext"),
    ],
)
def test_classes_that_are_no_regions(tmp_path: Path, body: str) -> None:
    out = of_reader(tmp_path, body)
    assert "use_amp: true" in out
    said = "not understood: use_amp" if "args.use_amp" in body else "nothing reads it (loaded"
    assert said in out


@pytest.mark.parametrize(
    "region",
    [
        "torch.cuda.amp.autocast if args.seed else contextlib.nullcontext",
        "torch.cuda.amp.autocast",
    ],
)
def test_regions_beside_a_member_that_nothing_reads(tmp_path: Path, region: str) -> None:
    out = of_reader(tmp_path, CHOSEN.format(region))
    assert "use_amp: true (a.yaml:6); kept in train.py, line 12; nothing reads it" in out
    assert AUTOCAST not in out


@pytest.mark.parametrize("method", ["astype(TABLE[config.use_amp])", "to(config.use_amp)"])
def test_methods_that_cast(tmp_path: Path, method: str) -> None:
    assert "(cast of weights, train.py:" in of_reader(tmp_path, CAST.format(method))


@pytest.mark.parametrize(
    "method", ["reshape(config.use_amp)", "assign(config.use_amp)", "astype(config.seed)"]
)
def test_methods_that_do_not_cast(tmp_path: Path, method: str) -> None:
    assert "not understood: use_amp" in of_reader(tmp_path, CAST.format(method))


def test_a_position_that_all_functions_call_a_dtype(tmp_path: Path) -> None:
    out = of_reader(tmp_path, FAMILIES.format("dtype", "dtype"))
    assert "(argument of create(dtype=), train.py:" in out


@pytest.mark.parametrize("names", [("dtype", "kind"), ("kind", "kind"), ("dtype", "*more")])
def test_positions_without_one_name(tmp_path: Path, names: tuple[str, str]) -> None:
    assert "not understood: use_amp" in of_reader(tmp_path, FAMILIES.format(*names))


HYDRA = """\
import hydra
from tool import Engine

@hydra.main(config_path="conf/fit", config_name="config")
def main(config):
    print(config.epochs, config.lr, config.data, config.model, config.seed)
    Engine("m", {}=config.train.kind_dtype)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("path", ["conf/fit/train/a.yaml", "recipe/fit/train/a.yaml"])
def test_groups_of_hydra(tmp_path: Path, path: str) -> None:
    files = {
        "fit.py": HYDRA.format("dtype"),
        "conf/fit/config.yaml": "defaults: [train: b]\n",
        "conf/fit/train/b.yaml": FILE.format("other: 1"),
        path: FILE.format("kind_dtype: float16"),
        "run.sh": f"python fit.py --config-dir {path.partition('/train')[0]} train=a\n",
        "README.md": f"    python fit.py --copy {path}\n",
    }
    out = explained(tmp_path, files)
    assert f"(argument of Engine(dtype=), fit.py:7)  {path}:6" in out


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("conf/fit/other/a.yaml", ""),
        ("conf/fit/train/a.yaml", "# @package _global_\n"),
        ("conf/fit/train/a.yaml", "# @package fit.optimizer\n"),
        ("recipe/fit/tests/a.yaml", ""),
    ],
)
def test_files_that_are_no_such_group(tmp_path: Path, path: str, first: str) -> None:
    files = {
        "fit.py": HYDRA.format("dtype"),
        "conf/fit/config.yaml": "a: 1\n",
        "conf/fit/train/b.yaml": FILE.format("other: 1"),
        path: first + FILE.format("kind_dtype: float16"),
        "README.md": f"    python fit.py --copy {path}\n",
    }
    assert "Engine(dtype=)" not in explained(tmp_path, files)


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("import torch\n", "FlaxNet.from_pretrained(config.model, dtype=config.use_amp)"),
        ("import torch\n", "Net.from_config(config.model, dtype=config.use_amp, rngs=1)"),
        ("import jax\n", "Net.from_pretrained(config.model, dtype=config.use_amp)"),
        ("from flax import nnx\n", "Net.from_pretrained(config.model, dtype=config.use_amp)"),
    ],
)
def test_the_dtype_of_flax_is_not_that_of_weights(imported: str, call: str, tmp_path: Path) -> None:
    reader = READER.replace("import torch\n", imported).replace("tool import", "tool import Net,")
    files = {
        "train.py": reader.format(f"def main():\n    return {call}\n"),
        "a.yaml": FILE.format("use_amp: true"),
    }
    out = explained(tmp_path, files)
    assert "(argument of from_" in out


@pytest.mark.parametrize("imported", ["import torch\n", "import torch\nimport jax\n", ""])
def test_the_dtype_of_torch_is_that_of_weights(imported: str, tmp_path: Path) -> None:
    call = "Net.from_pretrained(config.model, dtype=config.use_amp)"
    reader = READER.replace("import torch\n", imported).replace("tool import", "tool import Net,")
    files = {
        "train.py": reader.format(f"def main():\n    return {call}\n"),
        "a.yaml": FILE.format("use_amp: true"),
    }
    out = explained(tmp_path, files)
    assert "(weights of " in out


MADE = """\
def main():
    {0}
    {1}
"""


@pytest.mark.parametrize("name", ["normal", "zeros", "arange"])
def test_what_makes_an_array_says_less_than_another_call(name: str, tmp_path: Path) -> None:
    makes, loads = f"load.{name}(3, dtype=config.use_amp)", "Engine(1, dtype=config.use_amp)"
    (first := tmp_path / "first").mkdir()
    assert "(argument of Engine(dtype=)" in of_reader(first, MADE.format(makes, loads))
    (only := tmp_path / "only").mkdir()
    assert f"(argument of {name}(dtype=)" in of_reader(only, MADE.format(makes, "pass"))


@pytest.mark.parametrize(
    "first", ["load(path=config.use_amp)", "load.state(strict=config.use_amp)", "pass"]
)
def test_an_argument_that_is_about_precision_comes_first(first: str, tmp_path: Path) -> None:
    out = of_reader(tmp_path, MADE.format(first, "Engine(1, amp=config.use_amp)"))
    assert "(argument of Engine(amp=)" in out
    assert "load" not in out


INTERPOLATED = "epochs: 3\nlr: 0.1\ndata: d\nmodel: m\nseed: 1\nuse_amp: ${{{}}}\n"


@pytest.mark.parametrize("value", ["model.precision", "oc.env:AMP"])
def test_a_setting_that_another_one_gives(value: str, tmp_path: Path) -> None:
    files = {
        "train.py": READER.format(MADE.format("pass", "Engine(1, amp=config.use_amp)")),
        "a.yaml": INTERPOLATED.format(value),
    }
    out = explained(tmp_path, files)
    assert "(argument of Engine(amp=)" in out


@pytest.mark.parametrize("line", ["use_lamp: ${a}\n", "use_amp: {}\n", "use_amp: []\n", ""])
def test_files_that_say_nothing_of_precision(line: str, tmp_path: Path) -> None:
    files = {
        "train.py": READER.format(MADE.format("pass", "Engine(1, amp=config.use_amp)")),
        "a.yaml": FILE.format(line),
    }
    assert "a.yaml" not in explained(tmp_path, files)


SHARED = """\
import tool

def stand_ins(config):
    return tool.prepare(1, dtype=config.kind_dtype)

def network(config):
    return own(2, dtype=config.kind_dtype)

def own(size, dtype):
    return size
"""


@pytest.mark.parametrize(("name", "row"), [("network", 7), ("stand_ins", 4)])
def test_a_function_that_only_other_programs_call_comes_last(
    name: str, row: int, tmp_path: Path
) -> None:
    program = READS.format(f"import shared\n\ndef main():\n    start('{name}', settings)\n")
    other = "from shared import stand_ins, network\n\nstand_ins(network(1))\n"
    files = {"a.yaml": FILE.format("kind_dtype: fp16"), "train.py": program}
    out = run("explain-config", cwd=project(tmp_path, files | {"shared.py": SHARED, "b.py": other}))
    assert f"shared.py:{row}" in out.out


SWEEP = """\
program: train.py
method: grid
parameters:
  precision:
    {}
  lr:
    value: 0.1
"""
SWEPT = """\
import wandb
import torch

def main():
    wandb.init()
    with torch.autocast("cuda", dtype=getattr(torch, wandb.config.precision)):
        print(wandb.config.lr)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("line", "value"),
    [("values: [bfloat16, float16]", "unknown until run time"), ("value: bfloat16", "bfloat16")],
)
def test_the_parameter_of_a_sweep_is_its_section(line: str, value: str, tmp_path: Path) -> None:
    files = {"sweep.yaml": SWEEP.format(line), "train.py": SWEPT}
    out = explained(tmp_path, files)
    assert f"{value} (autocast, train.py:6)  sweep.yaml:5" in out


NAMED_MODEL = """\
model:
  _name_: {name}
  width: 3
  {key}: true
"""
MODEL_OF_TABLE = """\
import torch

class Mamba(torch.nn.Module):
    def __init__(self, width, use_fp16=False):
        self.use_fp16 = use_fp16

    def forward(self, x):
        with torch.autocast("cuda", enabled=self.use_fp16):
            return x
"""


@pytest.mark.parametrize(
    "files",
    [
        {"registry.py": 'model = {"mamba": "nets.mamba.Mamba", "other": "nets.other.Other"}\n'},
        {
            "nets/mamba.py": MODEL_OF_TABLE.replace(
                "class Mamba", 'from registry import register\n\n@register("mamba")\nclass Mamba'
            )
        },
    ],
)
def test_the_class_that_a_registry_has_under_a_name(files: dict[str, str], tmp_path: Path) -> None:
    given = {
        "nets/mamba.py": MODEL_OF_TABLE,
        "a.yaml": NAMED_MODEL.format(name="mamba", key="use_fp16"),
    }
    out = explained(tmp_path, given | files)
    assert re.search(r"autocast, nets/mamba\.py:\d+\) +a\.yaml:4", out)


@pytest.mark.parametrize(("name", "key"), [("other", "use_fp16"), ("mamba", "use_bf16")])
def test_no_class_of_a_registry(name: str, key: str, tmp_path: Path) -> None:
    table = 'model = {"mamba": "nets.mamba.Mamba", "third": "elsewhere.nets.Other"}\n'
    files = {
        "nets/mamba.py": MODEL_OF_TABLE,
        "registry.py": table,
        "a.yaml": NAMED_MODEL.format(name=name, key=key),
    }
    out = explained(tmp_path, files)
    assert f"not understood: {key}: true (a.yaml:4)" in out


ONE_FILE = """\
import hydra
from transformers import AutoModel

@hydra.main(config_path="configs", config_name="train")
def main(config):
    print(config.epochs, config.lr, config.data, config.model, config.seed)
    {}

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("read", "is_for"),
    [("kept = ask('kind_dtype')", False), ("pass", True)],
)
def test_another_program_is_asked_only_for_what_the_reader_does_not_mention(
    read: str, is_for: bool, tmp_path: Path
) -> None:
    files = {
        "configs/train.yaml": FILE.format("kind_dtype: bfloat16"),
        "train.py": ONE_FILE.format(read),
        "evaluate.py": ONE_FILE.format("AutoModel.from_pretrained('m', dtype=config.kind_dtype)"),
    }
    out = explained(tmp_path, files, "configs/train.yaml")
    assert ("evaluate.py" in out) is is_for


def test_what_the_run_is_given_keeps_it_from_a_place_before_a_default_does(tmp_path: Path) -> None:
    code = """\
import argparse
from transformers import AutoModel

def build(args):
    if args.mode == "test":
        AutoModel.from_pretrained("m", torch_dtype=args.kind_dtype)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="test")
    parser.add_argument("--kind-dtype", default="float32")
    parser.add_argument("--generate", action="store_true")
    args = parser.parse_args()
    if args.generate:
        build(args)
"""
    command = "python train.py --mode {} --kind-dtype float16\n"
    out = explained(tmp_path, {"train.py": code, "run.sh": command.format("score")})
    assert "not used: mode is score (weights of AutoModel, train.py:6)" in out
