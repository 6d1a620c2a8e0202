"""What a program offers: its options and their values, the entry points, what refuses a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.runs.interpreter.alternatives import alternatives
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.options.offers import Offer, offers_of
from precision_lint.facts.runs.written.domains import domains
from precision_lint.facts.runs.written.entries import entry_points
from precision_lint.facts.runs.written.refusals import refusals
from precision_lint.model.precision import precision_of, switched_by
from tests.cli.running import project
from tests.context import recording

PARSER = "import argparse\nimport torch\nparser = argparse.ArgumentParser()\n"
PARSED = "args = parser.parse_args()\n"
RUN = "with torch.autocast('cuda', dtype=getattr(torch, args.dtype)):\n    train()\n"


def offered(root: Path, text: str, name: str = "train.py") -> tuple[Offer, ...]:
    facts = recording(project(root, {name: text}), ())
    file = facts.config_files.at(root / name)
    assert file is not None
    return offers_of(environment(root / name, file, None, facts)).offers


def told(offers: tuple[Offer, ...]) -> list[tuple[str, str, str, object]]:
    return [(one.precision, one.kind, one.setting, one.value) for one in offers]


@pytest.mark.parametrize(
    ("value", "precision"),
    [
        ("bf16", "bf16"), ("torch.bfloat16", "bf16"), ("bf16-mixed", "bf16"), ("BF16", "bf16"),
        ("amp_bf16", "bf16"), ("16-mixed", "fp16"), (16, "fp16"), ("half", "fp16"), (32, "fp32"),
        ("32-true", "fp32"), ("no", "fp32"), ("float8_e4m3fn", "fp8"), ("fp8", "fp8"),
        ("tf32", "tf32"), ("auto", None), ("", None), (True, None), (8, None), (None, None),
        ("int8", None), ("float64", None), ("model", None),
    ],
)  # fmt: skip
def test_the_names_of_precisions(value: object, precision: str | None) -> None:
    assert precision_of(value) == precision


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("bf16", "bf16"), ("use_fp16", "fp16"), ("fp16.enabled", "fp16"), ("--use-amp", "fp16"),
        ("allow_tf32", "tf32"), ("fp8", "fp8"), ("bf16_full_eval", "bf16"), ("example", None),
        ("clamp", None),
    ],
)  # fmt: skip
def test_the_names_of_switches(name: str, precision: str | None) -> None:
    assert switched_by(name) == precision


def test_an_option_without_choices_has_the_values_that_it_is_compared_with(tmp_path: Path) -> None:
    text = PARSER + "parser.add_argument('--dtype', default='float32')\n" + PARSED
    text += "if args.dtype == 'bfloat16' or args.dtype in ('float16',):\n    pass\n"
    facts = recording(project(tmp_path, {"train.py": text}), ())
    (domain,) = domains(Program(tmp_path / "train.py", facts))
    assert list(domain.values) == ["float32", "bfloat16", "float16"]
    assert (domain.shown, domain.default) == ("--dtype", "float32")


def test_an_option_that_is_not_about_precision_has_no_domain(tmp_path: Path) -> None:
    text = PARSER + "parser.add_argument('--bits', type=int, default=16)\n"
    text += "parser.add_argument('--optimizer', choices=['adam', 'sgd'])\n" + PARSED
    facts = recording(project(tmp_path, {"train.py": text}), ())
    assert domains(Program(tmp_path / "train.py", facts)) == ()


def test_each_value_is_supposed_in_turn(tmp_path: Path) -> None:
    option = "parser.add_argument('--dtype', default='bfloat16', choices=['bfloat16', 'half'])\n"
    assert told(offered(tmp_path, PARSER + option + PARSED + RUN)) == [
        ("bf16", "followed", "--dtype", "bfloat16"),
        ("fp16", "followed", "--dtype", "half"),
    ]


def test_an_option_that_is_assigned_again_is_not_followed(tmp_path: Path) -> None:
    option = "parser.add_argument('--dtype', default='bfloat16', choices=['bfloat16', 'half'])\n"
    again = "args.dtype = choose()\n"
    found = told(offered(tmp_path, PARSER + option + PARSED + again + RUN))
    assert [(precision, kind) for precision, kind, _, _ in found] == [
        ("bf16", "not followed"),
        ("fp16", "not followed"),
    ]


def test_the_weights_count_where_nothing_computes_in_less(tmp_path: Path) -> None:
    option = "parser.add_argument('--fp16', action='store_true')\n"
    cast = "model = load()\nif args.fp16:\n    model.half()\n"
    assert told(offered(tmp_path, PARSER + option + PARSED + cast)) == [
        ("fp32", "followed", "", None),
        ("fp16", "followed", "--fp16", True),
    ]


def test_the_cast_of_a_part_is_no_precision_of_the_program(tmp_path: Path) -> None:
    assert told(offered(tmp_path, PARSER + PARSED + "reward_model.half()\n")) == []
    assert told(offered(tmp_path, PARSER + PARSED + "model.half()\n")) == [
        ("fp16", "followed", "", None)
    ]


@pytest.mark.parametrize(
    "refusing",
    [
        "if args.dtype == 'half':\n    raise ValueError\n",
        "if args.dtype == 'half':\n    parser.error('no')\n",
        "assert args.dtype != 'half'\n",
        "table = {'bfloat16': 1}[args.dtype]\n",
    ],
)
def test_what_refuses_a_value(refusing: str, tmp_path: Path) -> None:
    option = "parser.add_argument('--dtype', default='bfloat16', choices=['bfloat16', 'half'])\n"
    text = PARSER + option + PARSED + refusing
    facts = recording(project(tmp_path, {"train.py": text}), ())
    file = facts.config_files.at(tmp_path / "train.py")
    assert file is not None
    base = environment(tmp_path / "train.py", file, None, facts)
    for value, count in (("half", 1), ("bfloat16", 0)):
        run = type(base)(base.program, file, None, base.read, {"dtype": value})
        assert len(list(refusals(Evaluator(run), "dtype"))) == count, value


@pytest.mark.parametrize(
    "accepting",
    [
        "if other():\n    raise ValueError(args.dtype)\n",
        "try:\n    assert args.dtype != 'half'\nexcept AssertionError:\n    pass\n",
        "def unused():\n    assert args.dtype != 'half'\n",
    ],
)
def test_what_does_not_certainly_refuse_a_value(accepting: str, tmp_path: Path) -> None:
    option = "parser.add_argument('--dtype', default='bfloat16', choices=['bfloat16', 'half'])\n"
    found = offered(tmp_path, PARSER + option + PARSED + accepting + RUN)
    assert {one.kind for one in found} == {"followed"}


def test_alternatives(tmp_path: Path) -> None:
    text = "name = 'a' if cuda() else 'b'\nvalue = {'a': 1, 'b': 2, 'c': 3}[name]\nunknown()\n"
    facts = recording(project(tmp_path, {"train.py": text}), ())
    file = facts.config_files.at(tmp_path / "train.py")
    assert file is not None
    python = file.python
    assert python is not None
    run = environment(tmp_path / "train.py", file, None, facts)
    evaluator = Evaluator(run)
    _, value, unknown = (statement.value for statement in python.tree.body)  # type: ignore[attr-defined]
    assert alternatives(value, python, evaluator) == {1, 2}
    assert alternatives(unknown, python, evaluator) == frozenset()


def test_entry_points(tmp_path: Path) -> None:
    main = "if __name__ == '__main__':\n    main()\n"
    files = {
        "a.py": main,
        "b.py": "def main():\n    pass\n",
        "c.py": "for epoch in range(3):\n    step()\n",
        "d.py": "import torch\nfor name in NAMES:\n    add(name)\n",
        "uses_d.py": "import torch\nimport d\n",
        "tests/test_a.py": main,
        "package/__main__.py": "import package\n",
        "package/cli.py": "def start():\n    pass\n",
        "pyproject.toml": '[project.scripts]\nstart = "package.cli:start"\n',
    }
    facts = recording(project(tmp_path, files), ())
    found = entry_points(sorted(path for path in tmp_path.rglob("*.py")), facts)
    assert [path.relative_to(tmp_path).as_posix() for path in found] == [
        "a.py", "c.py", "package/__main__.py", "package/cli.py"
    ]  # fmt: skip
