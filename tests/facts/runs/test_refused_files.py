"""Files with keys that the parsers of their project refuse: no run gets them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from precision_lint.facts.frameworks.trainer_fields import TRAINER_FIELDS
from tests.cli.running import project, run

PROGRAM = """\
import sys
from dataclasses import dataclass
from transformers import HfArgumentParser, Trainer, TrainingArguments
from more import Base

@dataclass
class Own(Base):
    rank: int = 8

def main():
    {parser}
    own, arguments = {call}
    Trainer(model, arguments).train()

if __name__ == "__main__":
    main()
"""
PARSER = "parser = HfArgumentParser((Own, TrainingArguments))"
CALL = "parser.parse_json_file(sys.argv[1])"
MORE = "from dataclasses import dataclass\n\n@dataclass\nclass Base:\n    task: str = ''\n"
SETTINGS = {"output_dir": "o", "learning_rate": 1e-4, "logging_steps": 5, "fp16": True}
REFUSED = (
    "without effect: the parser refuses the file: `alpha` is no field of Own, TrainingArguments"
)


def explained(
    folder: Path, keys: dict[str, object], parser: str = PARSER, call: str = CALL, **files: str
) -> str:
    program = PROGRAM.format(parser=parser, call=call)
    others = {name.replace("__", "."): text for name, text in files.items()}
    made = {"a.json": json.dumps(SETTINGS | keys), "more.py": MORE, "train.py": program}
    return run("explain-config", cwd=project(folder, made | others)).out


@pytest.mark.parametrize(
    ("parser", "call"),
    [
        (PARSER, CALL),
        (PARSER, "parser.parse_json_file(json_file=sys.argv[1])"),
        ("", "HfArgumentParser((Own, TrainingArguments)).parse_json_file(sys.argv[1])"),
        (f"parser = ArgumentParser()\n    {PARSER}", CALL),
        (f"parser = make()\n    {PARSER}", CALL),
    ],
)
def test_a_key_that_is_a_field_of_no_class(parser: str, call: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"alpha": 2}, parser, call)
    assert f"a.json: Hugging Face Trainer, {REFUSED} (train.py:1" in out


def test_a_file_that_a_command_gives_to_the_program(tmp_path: Path) -> None:
    out = explained(tmp_path, {"alpha": 2}, run__sh="python train.py a.json\n")
    assert REFUSED in out


@pytest.mark.parametrize(
    ("keys", "parser", "call"),
    [
        ({"rank": 4}, PARSER, CALL),
        ({"task": "t"}, PARSER, CALL),
        ({"evaluation_strategy": "no", "sharded_ddp": ""}, PARSER, CALL),
        ({"alpha": 2}, PARSER, "parser.parse_json_file(sys.argv[1], allow_extra_keys=True)"),
        ({"alpha": 2}, PARSER, "parser.parse_json_file(sys.argv[1], True)"),
        ({"alpha": 2}, PARSER, "parser.parse_json_file(sys.argv[1], **more)"),
        ({"alpha": 2}, PARSER, "parser.parse_args_into_dataclasses()"),
        ({"alpha": 2}, PARSER, "parser.parse_dict(read(sys.argv[1]))"),
        ({"alpha": 2}, "parser = HfArgumentParser((Own, Other, TrainingArguments))", CALL),
        ({"alpha": 2}, "parser = HfArgumentParser((Own, *others))", CALL),
        ({"alpha": 2}, "parser = Lenient((Own, TrainingArguments))", CALL),
        ({"alpha": 2}, "parser = make()", CALL),
        ({"alpha": 2}, f"{PARSER}\n    if sys.argv[2:]:\n        parser = make()", CALL),
    ],
)
def test_a_file_that_the_parser_may_take(
    keys: dict[str, object], parser: str, call: str, tmp_path: Path
) -> None:
    out = explained(tmp_path, keys, parser, call)
    assert "a.json" in out
    assert "refuses" not in out


@pytest.mark.parametrize(
    "files",
    [
        {"requirements__txt": "transformers==4.15.0\n"},
        {"more__py": MORE.replace("Base:", "Base(Unknown):")},
        {"more__py": MORE.replace("task: str", "alpha: int = 1\n    task: str")},
        {"other__py": PROGRAM.format(parser="parser = make()", call=CALL)},
        {
            "other__py": "import json, sys\nimport torch\ncfg = json.load(open(sys.argv[1]))\n"
            "print(cfg['alpha'])\ntorch.autocast('cuda', enabled=cfg['fp16'])\n",
            "run__sh": "python other.py a.json\n",
        },
    ],
)
def test_another_parser_or_release_may_take_it(files: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, {"alpha": 2}, **files)
    assert "a.json" in out
    assert "refuses" not in out


def test_the_fields_are_those_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    kind = transformers.Seq2SeqTrainingArguments
    assert {one.name for one in dataclasses.fields(kind) if one.init} <= TRAINER_FIELDS


@pytest.mark.parametrize("extra", [{}, {"alpha": 2}])
def test_what_transformers_does(extra: dict[str, object]) -> None:
    transformers = pytest.importorskip("transformers")
    made = dataclasses.make_dataclass("Own", [("rank", int, 8)])
    parser = transformers.HfArgumentParser((made,))
    if extra:
        with pytest.raises(ValueError, match="alpha"):
            parser.parse_dict({"rank": 4} | extra)
    else:
        assert parser.parse_dict({"rank": 4})[0].rank == 4


def test_a_file_of_another_reader_is_not_refused(tmp_path: Path) -> None:
    settings = {
        "fp16": {"enabled": False},
        "bf16": {"enabled": True},
        "communication_data_type": "bf16",
        "zero_optimization": {"stage": 3},
        "train_batch_size": 8,
    }
    call = "parser.parse_json_file(sys.argv[1]) if len(sys.argv) == 2 else parser.parse_args()"
    out = explained(
        tmp_path,
        {},
        call=call,
        ds__json=json.dumps(settings),
        run__sh='DS="${DS:-ds.json}"\nif missing; then\n  DS=other.json\nfi\n'
        "deepspeed train.py --deepspeed $DS --output_dir o\n",
    )
    assert "bf16.enabled = true" in out
    assert "refuses the file" not in out
