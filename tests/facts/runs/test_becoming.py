"""What a setting becomes on the way to its place, and what is said where that is not plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import sys
import torch
from tool import load_settings, Engine, POLICIES

cfg = load_settings(sys.argv[1])
print(cfg.epochs, cfg.lr, cfg.data, cfg.model, cfg.seed)
yaml.safe_load(text)
TABLE = {{"half": torch.float16, "full": torch.float32}}
BRAIN = POLICIES.brain
{}
if __name__ == "__main__":
    main()
"""
FILE = "epochs: 3\nlr: 0.1\ndata: d\nmodel: m\nseed: 1\n{}\n"


def explained(folder: Path, code: str, setting: str) -> str:
    body = "".join(f"    {line}\n" for line in code.splitlines())
    program = PROGRAM.format(f"def main():\n{body}")
    files = {"a.yaml": FILE.format(setting), "train.py": program}
    return run("explain-config", cwd=project(folder, files)).out


DEPENDING = "Engine(dtype=torch.float32 if cfg.fp16 else torch.bfloat16)"
NESTED = "Engine(dtype=torch.float16 if cfg.fp16 else (torch.bfloat16 if x else torch.float32))"
ASSIGNED = "kind = torch.float32\nif cfg.fp16:\n    kind = torch.float16\nEngine(dtype=kind)"
ENTRY = "more = {}\nif cfg.fp16:\n    more['dtype'] = torch.float32\nEngine(**more)"
POLICY = "policy = None\nif cfg.fp16:\n    policy = BRAIN\nEngine(dtype=policy)"
AGAIN = (
    "kind = cfg.kind_dtype\nEngine(dtype=kind if kind in ['auto', None] else getattr(torch, kind))"
)
COMPARED = "Engine(dtype=torch.float16 if cfg.kind_dtype == 'half' else torch.float32)"
NEGATED = "Engine(amp_dtype=not cfg.fp16)"
TURNED_OFF = (
    "if cfg.use_bf16 and not torch.cuda.is_bf16_supported():\n    cfg.use_bf16 = False\n"
    "Engine(dtype=torch.bfloat16 if cfg.use_bf16 else torch.float32)"
)


@pytest.mark.parametrize(
    ("code", "setting", "value"),
    [
        (DEPENDING, "fp16: true", "float32"),
        (DEPENDING, "fp16: false", "bfloat16"),
        (TURNED_OFF, "use_bf16: true", "bfloat16"),
        (NESTED, "fp16: true", "float16"),
        (NESTED, "fp16: false", "made by torch.bfloat16 if x else torch.float32"),
        (ASSIGNED, "fp16: true", "float16"),
        (POLICY, "fp16: true", "BRAIN"),
        (POLICY, "fp16: false", "not used"),
        (ENTRY, "fp16: true", "float32"),
        (ENTRY, "fp16: false", "not used"),
        (AGAIN, "kind_dtype: auto", "auto"),
        (AGAIN, "kind_dtype: bfloat16", "bfloat16"),
        (COMPARED, "kind_dtype: half", "float16"),
        (COMPARED, "kind_dtype: float32", "float32"),
        (NEGATED, "fp16: true", "false"),
        ("Engine(dtype=TABLE[cfg.kind_dtype])", "kind_dtype: half", "float16"),
        ("Engine(dtype=torch.float16 if cfg.fp16 and x else None)", "fp16: false", "null"),
    ],
)
def test_what_a_plain_way_makes(code: str, setting: str, value: str, tmp_path: Path) -> None:
    assert f"  {value} (argument of Engine(" in explained(tmp_path, code, setting)


@pytest.mark.parametrize(
    ("code", "setting", "value"),
    [
        ("Engine(dtype=tool.dtype_of(cfg.fp16))", "fp16: true", "made by tool.dtype_of(cfg.fp16)"),
        ("Engine(dtype=KINDS[cfg.fp16])", "fp16: true", "made by KINDS[cfg.fp16]"),
        ("Engine(amp_dtype=cfg.fp16 and x)", "fp16: true", "made by cfg.fp16 and x"),
        ("Engine(dtype=tool.dtype_of(cfg.kind_dtype))", "kind_dtype: bf16", "bf16"),
        ("Engine(dtype=KINDS[cfg.kind_dtype])", "kind_dtype: bf16", "bf16"),
        ("Engine(dtype=cfg.kind_dtype)", "kind_dtype: auto", "auto"),
        ("Engine(dtype=cfg.kind_dtype.lower())", "kind_dtype: BF16", "bf16"),
    ],
)
def test_what_is_said_of_other_ways(code: str, setting: str, value: str, tmp_path: Path) -> None:
    assert f"  {value} (argument of Engine(" in explained(tmp_path, code, setting)


CALLED = "if cfg.fp16:\n    plugins.append(Engine(dtype='16-mixed'))"
CALLED_ELSE = "if cfg.fp32:\n    pass\nelse:\n    Engine(dtype='16-mixed')"
REGION = (
    "if cfg.fp32:\n    pass\nelse:\n    with torch.autocast('cuda', torch.float16):\n        step()"
)


@pytest.mark.parametrize(
    ("code", "setting", "value"),
    [
        (CALLED, "fp16: true", "16-mixed (argument of Engine(dtype=)"),
        (CALLED, "fp16: false", "not used (argument of Engine(dtype=)"),
        (CALLED_ELSE, "fp32: false", "16-mixed (argument of Engine(dtype=)"),
        (CALLED_ELSE, "fp32: true", "not used (argument of Engine(dtype=)"),
        ("if cfg.fp16:\n    model.half()", "fp16: true", "float16 (cast of model"),
        ("if cfg.fp16:\n    model.half()", "fp16: false", "not used (cast of model"),
        (REGION, "fp32: true", "off (autocast"),
    ],
)
def test_a_switch_is_no_value_of_what_it_turns_on(
    code: str, setting: str, value: str, tmp_path: Path
) -> None:
    assert f"  {value}" in explained(tmp_path, code, setting)


OPTION = """\
import argparse
import torch
from tool import Engine

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no_half", action="store_true")
    args = parser.parse_args()
    Engine(dtype={})

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("torch.float32 if args.no_half else torch.float16", "float16 by default"),
        ("tool.dtype_of(args.no_half)", "made by tool.dtype_of(args.no_half); false by default"),
        ("not args.no_half and x", "made by not args.no_half and x; true by default"),
        ("x and not args.no_half", "made by x and (not args.no_half); true by default"),
        ("args.no_half and x", "false by default"),
        ("x and args.no_half", "false by default"),
        ("x or args.no_half", "made by x or args.no_half; false by default"),
        ("x or not args.no_half", "made by x or not args.no_half; false by default"),
    ],
)
def test_the_default_of_an_option_becomes_it_as_well(code: str, shown: str, tmp_path: Path) -> None:
    files = {"train.py": OPTION.format(code)}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert f"  {shown} (argument of Engine(dtype=)" in out


PARSED = """\
from settings import ARGS
from transformers import HfArgumentParser, Trainer

def main():
    parser = HfArgumentParser(ARGS)
    (args,) = parser.parse_yaml_file("a.yaml")
    print(args.output_dir, args.seed)

if __name__ == "__main__":
    main()
"""
CLASSES = "from transformers import TrainingArguments\n{}\n"
KEYS = (
    "output_dir: d\nseed: 1\nlearning_rate: 0.1\nsave_steps: 1\n"
    "lr_scheduler_type: cosine\nfp16: true\n"
)


def test_classes_that_a_parser_gets_by_a_name_in_capitals(tmp_path: Path) -> None:
    program = PARSED.replace(
        "from settings import ARGS", "from transformers import TrainingArguments"
    )
    program = program.replace("\n\ndef", "\n\nARGS = [TrainingArguments]\n\ndef")
    (own := tmp_path / "own").mkdir()
    out = run("explain-config", cwd=project(own, {"a.yaml": KEYS, "train.py": program})).out
    assert "a.yaml: Hugging Face Trainer\n  compute  fp16 = true" in out


MORE = """\
from transformers import AutoModel, HfArgumentParser, Trainer, TrainingArguments

def main():
    parser = HfArgumentParser(TrainingArguments)
    (args,) = parser.parse_yaml_file(tool.path())
    print(args.output_dir, args.seed, args.learning_rate, args.save_steps, args.lr_scheduler_type)
    model = AutoModel.from_pretrained("m", torch_dtype=None if args.fp16 else "auto")
    Trainer(model, args)

if __name__ == "__main__":
    main()
"""


def test_what_a_trainer_gets_and_the_weights_as_well(tmp_path: Path) -> None:
    program = MORE.replace("None if args", "torch.float32 if args").replace('"auto"', "None")
    out = run("explain-config", cwd=project(tmp_path, {"a.yaml": KEYS, "train.py": program})).out
    assert "a.yaml: Hugging Face Trainer; no file of the project names it" in out
    assert "  compute  fp16 = true" in out
    assert "  float32 (weights of model, train.py:7)  a.yaml:6  fp16: true" in out


@pytest.mark.parametrize("name", ["log_warning", "log_config", "warn_once", "print_rank_0"])
def test_a_function_of_ones_own_that_tells_people(name: str, tmp_path: Path) -> None:
    code = f"{name}('careful', precision='bf16' if cfg.fp16 else 'fp16')"
    out = explained(tmp_path, code, "fp16: true")
    assert "fp16: true" in out
    assert f"argument of {name}" not in out


@pytest.mark.parametrize("name", ["log_softmax", "log_prob", "logarithm", "warner", "printer"])
def test_a_function_that_computes(name: str, tmp_path: Path) -> None:
    code = f"{name}(x, dtype=torch.bfloat16 if cfg.fp16 else torch.float32)"
    assert f"bfloat16 (argument of {name}(dtype=)" in explained(tmp_path, code, "fp16: true")
