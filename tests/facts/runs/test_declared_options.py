"""What the options are for that a program declares itself, and what their defaults make of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch

def main():
    parser = argparse.ArgumentParser()
    {}
    args = parser.parse_args()
    {}

if __name__ == "__main__":
    main()
"""
AMP = 'parser.add_argument("--amp", action="store_true")'
REGION = "region = torch.autocast('cuda', dtype=torch.float16, enabled=args.amp)"
SCALER = "scaler = torch.amp.GradScaler(enabled=args.amp)"


def program(declared: str, *body: str) -> dict[str, str]:
    return {"train.py": PROGRAM.format(declared, "\n    ".join(body))}


def test_a_switch_says_what_it_turns_on_and_that_it_is_off_by_default(tmp_path: Path) -> None:
    out = explained(tmp_path, program(AMP, REGION, SCALER))
    assert "train.py: PyTorch\n" in out
    assert "off by default; float16 with --amp (autocast, train.py:8)" in out
    assert "off by default; on with --amp (scaler, train.py:9)" in out
    assert "not understood" not in out


@pytest.mark.parametrize("kind", ["fp16_opt_level", "loss_dtype"])
def test_a_switch_next_to_an_option_that_nothing_reads(kind: str, tmp_path: Path) -> None:
    declared = f'{AMP}\n    parser.add_argument("--{kind}", default="half")'
    out = explained(tmp_path, program(declared, REGION))
    assert "off by default; float16 with --amp (autocast, train.py:9)" in out
    assert "nothing reads it (option, train.py:7)" in out
    assert out.count("train.py: PyTorch") == 1


def test_a_region_has_a_row_where_its_value_is_not_known(tmp_path: Path) -> None:
    region = "region = torch.autocast(device(), enabled=args.amp)"
    out = explained(tmp_path, program(AMP, region, SCALER))
    assert "by default (autocast, train.py:8)" in out
    assert "off by default; on with --amp (scaler, train.py:9)" in out


NO_AMP = 'parser.add_argument("--no-amp", action="store_true")'
DEVICE = 'device = torch.device("cuda")'


@pytest.mark.parametrize(
    "use",
    ['not args.no_amp and device.type == "cuda"', 'device.type == "cuda" and not args.no_amp'],
)
def test_a_switch_that_is_negated_next_to_a_condition_is_on_by_default(
    use: str, tmp_path: Path
) -> None:
    region = f"region = torch.autocast('cuda', dtype=torch.float16, enabled={use})"
    out = explained(tmp_path, program(NO_AMP, DEVICE, region))
    place = "(autocast, train.py:9, only if device.type == 'cuda')"
    assert f"float16 by default; off with --no-amp {place}" in out


def test_so_is_one_on_its_way_through_an_object(tmp_path: Path) -> None:
    body = (
        DEVICE,
        "config = Config(amp=not args.no_amp)",
        "region = torch.autocast('cuda', enabled=config.amp and x())",
    )
    config = "class Config:\n    def __init__(self, amp):\n        self.amp = amp\n\n\n"
    files = program(NO_AMP, *body)
    out = explained(
        tmp_path, {"train.py": files["train.py"].replace("def main", f"{config}def main")}
    )
    assert "false by default" not in out
    assert "true by default" in out


def test_a_switch_next_to_a_condition_is_off_by_default(tmp_path: Path) -> None:
    region = "region = torch.autocast('cuda', enabled=device.type == 'cuda' and args.amp)"
    out = explained(tmp_path, program(AMP, DEVICE, region))
    assert "off by default" in out


def test_so_does_one_around_which_a_condition_stands(tmp_path: Path) -> None:
    body = "if args.tf32:", "    torch.backends.cuda.matmul.allow_tf32 = True"
    out = explained(tmp_path, program('parser.add_argument("--tf32", action="store_true")', *body))
    assert "off by default; tf32 with --tf32 (matmul, train.py:9)" in out


@pytest.mark.parametrize(
    ("entered", "shown"),
    [
        ('scope("cuda")', "float16 by default; off with full"),
        ('scope("cpu")', "bfloat16 by default; off with full"),
        ('scope("cuda", dtype=torch.bfloat16)', "bfloat16 by default; off with full"),
        ('scope(device_type="cuda")', "float16 by default; off with full"),
    ],
)
@pytest.mark.parametrize("library", ["torch", "torch.amp"])
def test_a_class_of_regions_that_an_option_chooses(
    library: str, entered: str, shown: str, tmp_path: Path
) -> None:
    declared = (
        'parser.add_argument("--precision", choices=["full", "autocast"], default="autocast")'
    )
    chosen = 'scope = autocast if args.precision == "autocast" else nullcontext'
    body = f"from {library} import autocast", chosen, f"with {entered}:", "    pass"
    out = explained(tmp_path, program(declared, *body))
    assert f"{shown} (autocast, train.py:9)" in out


def test_the_choices_of_an_option_are_followed(tmp_path: Path) -> None:
    declared = 'parser.add_argument("--kind", default="bf16", choices=["bf16", "fp16"])'
    table = "kinds = {'bf16': torch.bfloat16, 'fp16': torch.float16}"
    region = "region = torch.autocast('cuda', dtype=kinds[args.kind])"
    out = explained(tmp_path, program(declared, table, region))
    assert "bfloat16 by default; float16 with fp16 (autocast, train.py:9)" in out


def test_a_switch_that_is_on_by_default_says_so(tmp_path: Path) -> None:
    declared = 'parser.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)'
    out = explained(tmp_path, program(declared, REGION))
    assert "float16 by default; off if false (autocast, train.py:8)" in out


def test_an_argument_of_a_library_has_the_default_as_it_is_written(tmp_path: Path) -> None:
    declared = 'parser.add_argument("--mixed_precision", default=None)'
    files = program(declared, "load(args)")
    files["train.py"] = (
        "from accelerate import Accelerator\ndef load(args):\n"
        "    return Accelerator(mixed_precision=args.mixed_precision)\n"
    ) + files["train.py"]
    out = explained(tmp_path, files)
    assert "null by default (argument of Accelerator(mixed_precision=), train.py:3)" in out


def test_the_options_of_another_file_are_shown_with_the_program_that_has_them(
    tmp_path: Path,
) -> None:
    files = {
        "options.py": f"import argparse\ndef parser_of():\n    parser = argparse.ArgumentParser()\n"
        f"    {AMP}\n    return parser\n",
        "train.py": "import torch\nfrom options import parser_of\nif __name__ == '__main__':\n"
        f"    args = parser_of().parse_args()\n    {REGION}\n",
    }
    out = explained(tmp_path, files)
    assert "options.py: PyTorch, read by train.py" in out
    assert "float16 with --amp (autocast, train.py:5)" in out


ARGUMENTS = """\
from dataclasses import dataclass, field
import transformers

@dataclass
class TrainingArguments(transformers.TrainingArguments):
    bf16: bool = field(default=True)

if __name__ == "__main__":
    parser = transformers.HfArgumentParser((TrainingArguments,))
    (args,) = parser.parse_args_into_dataclasses()
    {}
"""


def test_a_field_of_a_class_that_extends_a_framework_is_read_by_it(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": ARGUMENTS.format("transformers.Trainer(model, args)")})
    assert "train.py: Hugging Face Trainer\n" in out
    assert "bf16 = true by default  train.py:6" in out


def test_but_for_a_program_that_makes_nothing_that_reads_it(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": ARGUMENTS.format("pass")})
    assert "Hugging Face Trainer, for a program that is not seen to make what reads it\n" in out


def test_not_if_the_program_assigns_it(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": ARGUMENTS.format("args.bf16 = is_supported()")})
    assert "bf16 = true" not in out
    assert "not understood: bf16 (train.py:6)" in out


OTHERS = """\
from dataclasses import dataclass, field
import transformers

@dataclass
class OwnArguments(transformers.TrainingArguments):
    bf16: bool = field(default=True)
    tf32: bool = field(default=True)
    {inside}

{other}
if __name__ == "__main__":
    parser = transformers.HfArgumentParser({parsed})
    (args,) = parser.parse_args_into_dataclasses()
    length = 8 if args.bf16 else None
    collate = transformers.DataCollatorForSeq2Seq(tokens, pad_to_multiple_of=length)
    {then}
"""
BELOW = "@dataclass\nclass BelowArguments(OwnArguments):\n    {}\n"
BESIDE = "@dataclass\nclass BesideArguments(transformers.TrainingArguments):\n    lr: float = 0.1\n"
PLAIN = {"inside": "", "other": "", "parsed": "(OwnArguments,)", "then": "pass"}


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"parsed": "OwnArguments"},
        {"then": "print(args.bf16)"},
        {"other": BELOW.format("seed: int = 3"), "parsed": "(BelowArguments,)"},
        {"other": "KINDS = (OwnArguments,)", "parsed": "KINDS"},
    ],
)
def test_a_field_of_a_framework_that_code_reads_as_well(
    changed: dict[str, str], tmp_path: Path
) -> None:
    out = explained(tmp_path, {"train.py": OTHERS.format(**(PLAIN | changed))})
    assert "train.py: Hugging Face Trainer" in out
    assert "bf16 = true by default  train.py:6" in out
    assert "tf32 = true by default  train.py:7" in out
    assert "(argument of DataCollatorForSeq2Seq(pad_to_multiple_of=)" in out


@pytest.mark.parametrize(
    "changed",
    [
        {"other": BESIDE, "parsed": "(BesideArguments,)"},
        {"other": BELOW.format("bf16: bool = False"), "parsed": "(BelowArguments,)"},
        {"parsed": "(transformers.TrainingArguments,)"},
        {"then": "args.bf16 = torch.cuda.is_bf16_supported()"},
        {"inside": "def __post_init__(self):\n        self.bf16 = probe()"},
        {
            "parsed": "(transformers.TrainingArguments,)",
            "then": "other = OwnArguments('o', bf16=probe())",
        },
    ],
)
def test_no_default_that_is_not_in_force(changed: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": OTHERS.format(**(PLAIN | changed))})
    assert "train.py:6" in out
    assert "bf16 = true" not in out


SWITCH = """\
import argparse
import torch
from transformers import AutoModel

parser = argparse.ArgumentParser()
{option}
args = parser.parse_args()
is_half = {test}
{place}
"""
DEVICE = "torch.device(name).type == 'cuda' and not args.no_bf16"
NO_BF16 = "parser.add_argument('--no_bf16', action='store_true')"
LOADS = "model = AutoModel.from_pretrained('m', torch_dtype=torch.{} if is_half else torch.{})"


def test_a_switch_is_no_dtype(tmp_path: Path) -> None:
    place = LOADS.format("bfloat16", "float16")
    text = SWITCH.format(option=NO_BF16, test=DEVICE, place=place)
    out = explained(tmp_path, {"train.py": text})
    assert "weights  float16 with --no_bf16 (weights" in out
    assert "by default" not in out


@pytest.mark.parametrize(
    ("test", "place", "shown"),
    [
        ("not args.no_bf16", LOADS.format("bfloat16", "float16"), "bfloat16 by default; float16"),
        (
            "not args.no_bf16 and is_cuda",
            "region = torch.autocast('cuda', torch.bfloat16, enabled=is_half)",
            "true by default; off with --no_bf16",
        ),
    ],
)
def test_what_is_known_by_default_is_still_said(
    test: str, place: str, shown: str, tmp_path: Path
) -> None:
    text = SWITCH.format(option=NO_BF16, test=test, place=place)
    assert shown in explained(tmp_path, {"train.py": text})


CONFIG = """\
import torch
from dataclasses import dataclass

@dataclass
class TrainConfig:
    use_bf16: bool = True

def train(cfg: TrainConfig):
    region = torch.autocast("cuda", dtype=torch.bfloat16, enabled=cfg.use_bf16)

if __name__ == "__main__":
    {}
"""


def test_a_field_of_a_class_that_a_program_makes_is_an_option(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": CONFIG.format("train(TrainConfig())")})
    assert "bfloat16 by default (autocast, train.py:9)" in out


def test_the_default_of_a_field_that_each_call_gives_counts_for_nothing(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": CONFIG.format("train(TrainConfig(use_bf16=flag()))")})
    assert "default not used: each call gives it (option, train.py:6)" in out
    assert "not understood" not in out
    assert "by default" not in out


NOT_MADE = "no program is seen to make an object of TrainConfig"


def test_a_field_of_a_class_of_which_no_program_makes_an_object_is_listed(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": CONFIG.format("pass")})
    assert f"not understood: use_bf16 (train.py:6); {NOT_MADE}" in out
    assert "by default" not in out


@pytest.mark.parametrize("holder", ["OmegaConf.", "omegaconf.OmegaConf.", ""])
def test_a_class_that_omegaconf_makes_has_options(holder: str, tmp_path: Path) -> None:
    code = f"train({holder}structured(TrainConfig))"
    out = explained(tmp_path, {"train.py": CONFIG.format(code)})
    assert " by default (autocast, train.py:9)" in out


METHOD = """
    @classmethod
    def load(cls, path):
        return {}

def train("""


@pytest.mark.parametrize("given", ["**read(path)", "lr=read(path)", "lr=0.1, **read(path)"])
def test_a_class_that_its_own_method_makes_has_options(given: str, tmp_path: Path) -> None:
    code = CONFIG.replace("\ndef train(", METHOD.replace("{}", f"cls({given})"))
    out = explained(tmp_path, {"train.py": code.format("train(TrainConfig.load(path))")})
    assert "float16 by default (autocast, train.py:13)" in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    ("made", "call", "files", "reason"),
    [
        ("cls.of(cls(use_bf16=False))", "train(TrainConfig.load(path))", {}, "gives it"),
        ("cls(use_bf16=read(path))", "train(TrainConfig.load(path))", {}, "gives it"),
        (
            "cls(**read(path))",
            "pass",
            {"other/run.py": "TrainConfig.load('a.json')\n"},
            "makes the object: what it gives is not followed",
        ),
    ],
)
def test_what_its_own_method_gives_is_listed(
    made: str, call: str, files: dict[str, str], reason: str, tmp_path: Path
) -> None:
    code = CONFIG.replace("\ndef train(", METHOD.replace("{}", made))
    out = explained(tmp_path, {"train.py": code.format(call)} | files)
    assert f"not understood: use_bf16 (train.py:6); TrainConfig.load {reason}" in out
    assert "by default" not in out


@pytest.mark.parametrize(
    ("made", "call", "files"),
    [
        ("cls(**read(path))", "pass", {}),
        ("read(path)", "train(TrainConfig.load(path))", {}),
        ("cls.read(path)", "train(TrainConfig.load(path))", {}),
        ("cls(**read(path))", "train(OtherTrainConfig.load(path))", {}),
        ("cls(**read(path))", "train(TrainConfig.save(path))", {}),
        ("cls(**read(path))", "pass", {"tests/test_run.py": "TrainConfig.load('a.json')\n"}),
        ("cls(**read(path))", "# TrainConfig.load\n    pass", {}),
        ("cls(**read(path))", "structured(OtherTrainConfig)", {}),
        ("cls(**read(path))", "restructured(TrainConfig)", {}),
    ],
)
def test_a_class_that_nothing_is_seen_to_make_has_no_default(
    made: str, call: str, files: dict[str, str], tmp_path: Path
) -> None:
    code = CONFIG.replace("\ndef train(", METHOD.replace("{}", made))
    out = explained(tmp_path, {"train.py": code.format(call)} | files)
    assert f"not understood: use_bf16 (train.py:6); {NOT_MADE}" in out
    assert "by default" not in out


def test_what_nothing_reads_is_said(tmp_path: Path) -> None:
    out = explained(tmp_path, program(AMP, "print(args.seed)"))
    assert "nothing reads it (option, train.py:6)" in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    "body",
    [
        "args.amp = False\n    " + REGION,  # the program replaces it
        "call(args.amp)",  # its way is not followed to the end
        "run(**vars(args))",  # who gets all options may read it
    ],
)
def test_what_is_not_followed_is_listed(body: str, tmp_path: Path) -> None:
    out = explained(tmp_path, program(AMP, body))
    assert "train.py: options of the program" in out
    assert 'not understood: "--amp" (train.py:6)' in out


@pytest.mark.parametrize(
    ("cast", "kind"),
    [
        ("model = model.half()", "float16"),
        ("model = model.to(torch.bfloat16)", "bfloat16"),
        ("model.to(device, dtype=torch.half)", "float16"),
        ("model = model.to(dtype=kind)", "true"),
        ("model.convert_to_fp16()", "float16"),
        ("model.to_bf16()", "bfloat16"),
    ],
)
def test_the_type_of_a_cast_that_a_switch_turns_on(cast: str, kind: str, tmp_path: Path) -> None:
    declared = 'parser.add_argument("--full-precision", action="store_true")'
    body = "model, kind = load(), choose()", "if not args.full_precision:", f"    {cast}"
    out = explained(tmp_path, program(declared, *body))
    assert f"{kind} by default (cast of model, train.py:10)" in out


@pytest.mark.parametrize("call", ["model.to_fp16_dict()", "model.convert()", "to_fp16(model)"])
def test_other_methods_cast_nothing(call: str, tmp_path: Path) -> None:
    declared = 'parser.add_argument("--full-precision", action="store_true")'
    out = explained(tmp_path, program(declared, "if not args.full_precision:", f"    {call}"))
    assert "cast of" not in out


OTHER = """\
import argparse
import torch

def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true", default=True)
    return parser.parse_args()

def helper():
    return 1

def main():
    print(parse_args().amp)

if __name__ == "__main__":
    main()
"""
OWN = """\
import argparse
import torch
{}

def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    return parser.parse_args()

def main():
    args = parse_args()
    region = torch.autocast("cuda", dtype=torch.float16, enabled=args.amp)
    {}

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("from other import helper", "helper()"),
        ("import other", "other.helper()"),
        ("from other import helper", "print('the main process')"),
    ],
)
def test_the_parser_of_another_program_that_is_imported_counts_for_nothing(
    imported: str, called: str, tmp_path: Path
) -> None:
    files = {"train.py": OWN.format(imported, called), "other.py": OTHER}
    out = explained(tmp_path, files)
    assert "off by default; float16 with --amp (autocast, train.py:12)" in out


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("import other", "other.main()"),
        ("import other", "other.parse_args()"),
        ("from other import main as run", "run()"),
    ],
)
def test_one_that_is_called_does(imported: str, called: str, tmp_path: Path) -> None:
    files = {"train.py": OWN.format(imported, called), "other.py": OTHER}
    out = explained(tmp_path, files)
    assert "by default" not in out
    assert 'not understood: "--amp" (train.py:7)' in out


def test_the_programs_that_have_an_option_are_asked_for_it(tmp_path: Path) -> None:
    options = (
        "import argparse\ndef of_training():\n    parser = argparse.ArgumentParser()\n"
        f"    {AMP}\n    return parser.parse_args()\ndef of_inference():\n    return None\n"
    )
    started = "import options\nif __name__ == '__main__':\n    args = options.of_inference()\n"
    train = "import torch\n" + started.replace("of_inference", "of_training") + f"    {REGION}\n"
    others = {f"a{number}.py": started for number in range(4)}
    out = explained(tmp_path, {"options.py": options, "train.py": train} | others)
    assert "off by default; float16 with --amp (autocast, train.py:5)" in out


def test_two_declarations_of_one_name_give_no_default(tmp_path: Path) -> None:
    declared = 'parser.add_argument("--dtype", default="bf16")'
    other = "other = argparse.ArgumentParser()\n    other.add_argument('--dtype', default='fp16')"
    body = "model = load().to(dtype=getattr(torch, args.dtype))", "model.eval()"
    out = explained(tmp_path, program(declared, other, *body))
    assert "by default" not in out


def test_a_branch_for_another_switch_is_not_for_an_option(tmp_path: Path) -> None:
    declared = (
        'parser.add_argument("--load_in_8bit", action="store_true")\n'
        '    parser.add_argument("--load_in_4bit", action="store_true")'
    )
    body = (
        "if args.load_in_8bit:",
        "    config = BitsAndBytesConfig(load_in_8bit=True)",
        "elif args.load_in_4bit:",
        "    config = BitsAndBytesConfig(bnb_4bit_compute_dtype=torch.bfloat16)",
    )
    out = explained(tmp_path, program(declared, *body))
    rows = [line for line in out.splitlines() if "4-bit products" in line]
    assert all("load_in_4bit" in line.rpartition("train.py")[2] for line in rows)


SEVERAL = """\
import argparse

def options_of_training():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    return parser.parse_args()

def options_of_serving():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    return parser.parse_args()
"""
USES = """\
import torch
from tools import options_of_{}

def main():
    args = options_of_{}()
    {}

if __name__ == "__main__":
    main()
"""


def test_of_several_parsers_in_a_file_a_program_has_those_that_it_makes(tmp_path: Path) -> None:
    files = {
        "tools.py": SEVERAL,
        "train.py": USES.format("training", "training", REGION),
        "serve.py": USES.format("serving", "serving", "print(args.port)"),
    }
    out = explained(tmp_path, files)
    assert 'float16 with --amp (autocast, train.py:6)  tools.py:5  "--amp"' in out
    assert "serve.py:" not in out
    assert "(autocast, serve.py" not in out
    assert "tools.py:10" in out.split("(autocast")[1]


def test_a_program_that_makes_several_parsers_says_nothing_of_what_they_share(
    tmp_path: Path,
) -> None:
    both = USES.format("training", "training", REGION) + "\nfrom tools import options_of_serving\n"
    out = explained(tmp_path, {"tools.py": SEVERAL, "train.py": both})
    assert "(autocast" not in out


KEPT_OFF = """\
if tool.is_small():
        args.no_amp = True
    if args.no_amp and args.steps > 0:
        region = nullcontext
    else:
        region = torch.cuda.amp.autocast
    {}
    for batch in tool.batches(args.steps):
        with region():
            tool.train(batch)
"""
OFF = (
    'parser.add_argument("--no_amp", action="store_true")\n'
    '    parser.add_argument("--steps", type=int, default=tool.steps())'
)
HELD_OFF = (
    "float16 by default (autocast, train.py:14, only if not (args.no_amp and args.steps > 0))"
)


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        ("pass", True),
        ("mask = mask.repeat(1) if args.no_amp else mask.repeat(1).float()", True),
        ("mask = mask.clone() if args.no_amp else mask", False),
        ("mask = tool.one() if args.no_amp else other.two()", False),
        ("mask = torch.ones(1) if args.no_amp else torch.zeros(1)", False),
        ("kept = tool.of(args.no_amp)", False),
        ("region = region if args.no_amp else tool.region(region)", False),
        ("with tool.start(args.no_amp)():\n        pass", False),
    ],
)
def test_a_switch_that_keeps_a_region_off(line: str, is_said: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, program(OFF, KEPT_OFF.format(line)))
    assert (HELD_OFF in out) is is_said
    assert ('not understood: "--no_amp" (train.py:6)' in out) is not is_said
    assert "false by default (autocast" not in out


@pytest.mark.parametrize("test", ["not args.no_amp", "args.no_amp is False"])
def test_the_value_of_a_switch_that_keeps_off_is_not_that_of_the_place(
    test: str, tmp_path: Path
) -> None:
    body = f"if {test}:", "    with torch.autocast(tool.device()):", "        tool.train()"
    out = explained(tmp_path, program(OFF, *body))
    assert "false by default (autocast" not in out


ENTERED = """\
if tool.is_small():
        args.amp = True
    region = torch.autocast(tool.device()) if args.amp else nullcontext()
    with region:
        tool.train()
"""


@pytest.mark.parametrize(
    ("body", "is_said"),
    [
        (ENTERED, True),
        (ENTERED.replace("torch.autocast(", "tool.region("), False),
        (ENTERED.replace("with region:", "with tool.of(region):"), False),
        (ENTERED + "    tool.keep(region)\n    other = region.inner\n", False),
        (ENTERED + "    kept = tool.keep(args.amp)\n", False),
        (ENTERED + "    tool.kept = args.amp\n", False),
        ("if isinstance(args.amp, str): args.amp = tool.bool_of(args.amp)\n    " + ENTERED, False),
        ("if isinstance(args.amp, str): tool.tell()\n    " + ENTERED, True),
    ],
)
def test_a_region_that_is_entered_by_its_name(body: str, is_said: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, program(AMP, body))
    assert ("off by default (autocast, train.py:" in out) is is_said


SECTIONS = """\
from dataclasses import dataclass, field
import tool

@dataclass
class TrainConfig:
    fp16: bool = False

@dataclass
class DataConfig:
    size: int = 1

@dataclass
class Config:
    training: TrainConfig = field(default_factory=TrainConfig)
    data: DataConfig = field(default_factory=DataConfig)

CONFIG = Config()

def main():
    {}

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        ('tool.Engine("o", fp16=CONFIG.training.fp16)', True),
        ('part = CONFIG.training\n    tool.Engine("o", fp16=part.fp16)', True),
        ('tool.Engine("o", fp16=CONFIG.data.fp16)', False),
        ('tool.Engine("o", fp16=CONFIG.model.fp16)', False),
        ('tool.Engine("o", fp16=tool.data.fp16)', False),
    ],
)
def test_a_section_of_the_class_that_its_field_names(
    line: str, is_said: bool, tmp_path: Path
) -> None:
    out = explained(tmp_path, {"train.py": SECTIONS.format(line)})
    said = "false by default (argument of Engine(fp16=), train.py:"
    assert (said in out) is is_said
    assert ("not understood: fp16 (train.py:6)" in out) is not is_said


AS_KEY = """\
if tool.is_small():
        args.amp = True
    params = tool.load()
    params["amp"] = args.amp
    if tool.is_large():
        region = torch.autocast(tool.device(), enabled=params["amp"])
    {}
"""


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        ("pass", True),
        ("if params.amp:\n        self.scaler.update()", True),
        ("if params.amp:\n        scaler.step(optimizer)\n        scaler.update()", True),
        ("if params.amp:\n        self.table.update()", False),
        ("if params.amp:\n        scaler.fit(data)", False),
        ("if params.amp:\n        kept = scaler.step(optimizer)", False),
        ("tool.other['amp'] = args.amp", False),
        ("kept = tool.of(params.amp)", False),
        ("kept = tool.of(params['amp'])", False),
    ],
)
def test_an_option_that_becomes_a_key(line: str, is_said: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, program(AMP, AS_KEY.format(line)))
    assert ("by default (autocast, train.py:13, only if tool.is_large())" in out) is is_said
    assert ('not understood: "--amp" (train.py:6)' in out) is not is_said


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        ("report = {'amp': params.amp}", True),
        ("kept = Report(on=params.amp)", True),
        ("kept = tool.report(on=params.amp)", False),
        ("one, two = {'a': params.amp}, {'b': params.amp}\n    three = {'c': params.amp}", False),
    ],
)
def test_an_option_that_is_kept_in_a_record_as_well(
    line: str, is_said: bool, tmp_path: Path
) -> None:
    out = explained(tmp_path, program(AMP, AS_KEY.format(line)))
    assert ("by default (autocast, train.py:13, one of 2 places)" in out) is is_said
    assert ('not understood: "--amp" (train.py:6)' in out) is not is_said


@pytest.mark.parametrize(
    ("more", "is_said"),
    [
        ("", True),
        ("def test_region():\n    pass\n", False),
        ("import pytest\n", False),
    ],
)
def test_a_program_with_the_name_of_a_test(more: str, is_said: bool, tmp_path: Path) -> None:
    code = PROGRAM.format(AMP, REGION) + more
    out = explained(tmp_path, {"test_inference.py": code})
    assert ("off by default; float16 with --amp (autocast, test_inference.py:8)" in out) is is_said
    assert ("not understood" in out) is not is_said


@pytest.mark.parametrize(
    ("parser", "add"),
    [
        ("import configargparse\nparser = configargparse.ArgParser()", "add"),
        ("import configargparse\nparser = configargparse.ArgParser()", "add_arg"),
        (
            "import argparse\nparser = argparse.ArgumentParser()\nparser.add = parser.add_argument",
            "add",
        ),
    ],
)
def test_other_names_of_what_declares_an_option(parser: str, add: str, tmp_path: Path) -> None:
    code = f"{parser}\nparser.{add}('--amp', action='store_true')\nimport torch\n"
    code += f"args = parser.parse_args()\n{REGION}\nif __name__ == '__main__':\n    pass\n"
    assert "off by default; float16 with --amp (autocast, train.py:" in explained(
        tmp_path, {"train.py": code}
    )


def test_a_word_that_is_put_into_a_set_is_none(tmp_path: Path) -> None:
    code = PROGRAM.format("words.add('--amp')\n    words.add('amp', key=len)", REGION)
    assert "--amp" not in explained(tmp_path, {"train.py": code})


SHARED = """\
import argparse

def parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use-amp", action="store_true")
    parser.add_argument("--lr")
    return parser
"""
SHARING = """\
from shared import parser

if __name__ == "__main__":
    args = parser().parse_args()
    print(args.lr{})
"""
NOTEBOOK = (
    '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["args = load()\\n",'
    ' "use(args[\\"use_amp\\"])"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
)


@pytest.mark.parametrize(
    ("name", "text", "is_unread"),
    [
        ("other.py", SHARING.format(""), True),
        ("other.py", f"{SHARED}{SHARING.format(', args.use_amp')}", True),
        ("zz.py", SHARING.format(", args.use_amp"), False),
        ("test.py", SHARING.format(", args.use_amp"), False),
        (
            "tests/test_run.py",
            "from shared import parser\nuse(parser().parse_args().use_amp)\n",
            False,
        ),
        ("look.ipynb", NOTEBOOK, False),
    ],
)
def test_an_option_that_another_program_reads(
    name: str, text: str, is_unread: bool, tmp_path: Path
) -> None:
    programs = {f"train{number}.py": SHARING.format("") for number in range(4)}
    out = explained(tmp_path, {"shared.py": SHARED, **programs, name: text})
    assert ("nothing reads it (option, shared.py:5)" in out) is is_unread


SETTINGS = """\
from dataclasses import dataclass

@dataclass
class Settings:
    epochs: int = 3
    bf16: bool = {}
    fp16: bool = {}
"""
CHAIN = """\
import torch
from settings import Settings

def load(settings, kind=None):
    if kind is None:
        if {}:
            kind = torch.bfloat16
        elif settings.fp16:
            kind = torch.float16
        else:
            kind = torch.float32
    return AutoModel.from_pretrained("name", torch_dtype=kind)

if __name__ == "__main__":
    load(tool.changed(Settings()))
"""


@pytest.mark.parametrize(
    ("test", "bf16", "fp16", "said"),
    [
        ("settings.bf16", True, False, "not used by default (weights"),
        ("settings.bf16", True, True, "not used by default (weights"),
        ("settings.bf16", False, True, "float16 by default (weights"),
        ("settings.bf16", False, False, "float32 by default (weights"),
        ("tool.is_new()", True, True, "train.py:12, only if not tool.is_new())"),
        ("settings.fp16 and tool.is_new()", True, False, "float32 by default (weights"),
    ],
)  # fmt: skip
def test_a_branch_after_one_of_another_setting(
    test: str, bf16: bool, fp16: bool, said: str, tmp_path: Path
) -> None:
    files = {"settings.py": SETTINGS.format(bf16, fp16), "train.py": CHAIN.format(test)}
    rows = explained(tmp_path, files).splitlines()
    assert said in next(row for row in rows if row.endswith("  fp16"))


def test_an_earlier_branch_of_another_setting_of_a_file(tmp_path: Path) -> None:
    program = CHAIN.format("settings['bf16']").replace("settings.fp16", "settings['fp16']")
    program = program.replace("tool.changed(Settings())", "read()").replace(
        "from settings import Settings",
        "import sys, yaml\ndef read():\n    return yaml.safe_load(open(sys.argv[1]))\n",
    )
    files = {"a.yaml": "bf16: true\nfp16: false\n", "run.sh": "python train.py a.yaml\n"}
    out = explained(tmp_path, files | {"train.py": program})
    assert "bfloat16 (weights" in out
    assert "float32 (weights of AutoModel, train.py:15, only if not settings['bf16'])" in out
