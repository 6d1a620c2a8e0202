"""Which option a finding names for a dtype that code chooses: `with --dtype bfloat16`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.facts.origin import Origin
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.settings.choosing import options_choosing
from precision_lint.project.files import Project

OPTION = """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    args = parser.parse_args()
"""

FORMS = {
    "a condition": """
def pick(name):
    if name == "bfloat16":
        return torch.bfloat16
""",
    "one of two conditions": """
def pick(name):
    if name in ("bf16", "bfloat16"):
        return torch.bfloat16
""",
    "an expression": """
def pick(name):
    return torch.bfloat16 if name == "bfloat16" else torch.float32
""",
    "a case": """
def pick(name):
    match name:
        case "bfloat16":
            return torch.bfloat16
""",
    "a table": """
def pick(name):
    return {"bfloat16": torch.bfloat16, "float32": torch.float32}[name]
""",
    "a table with a name": """
TABLE = {"bfloat16": torch.bfloat16, "float32": torch.float32}
def pick(name):
    return TABLE.get(name, torch.float32)
""",
    "a name that is changed": """
def pick(name):
    name = str(name).lower()
    if name == "bfloat16":
        return torch.bfloat16
""",
    "a method": """
class Loader:
    def pick(self, name):
        return {"bfloat16": torch.bfloat16}[name]
""",
    "what __init__ keeps": """
class pick:
    def __init__(self, name):
        self.name = name
    def dtype(self):
        return {"bfloat16": torch.bfloat16}[self.name]
""",
    "two calls": """
def inner(which):
    if which == "bfloat16":
        return torch.bfloat16
def pick(name):
    return inner(which=name)
""",
}


def said(folder: Path, files: dict[str, str], reading: str = "main.py") -> list[str]:
    """What is said of the only `torch.bfloat16` of a project, for the last line of a file."""
    for name, code in files.items():
        (folder / name).write_text(f"import argparse\nimport torch\n{code}", "utf-8")
    facts = ProjectFacts(Project(folder))
    (origin,) = [
        Origin(module.text, module.span_of(node), "bfloat16 is chosen here")
        for name in files
        if (module := facts.recording().module(folder / name)) is not None
        for node in module.nodes
        if isinstance(node, ast.Attribute) and node.attr == "bfloat16"
    ]
    file = facts.recording().module(folder / reading)
    assert file is not None
    span = file.span_of(file.tree.body[-1])
    found = options_choosing(origin, file, span, facts.recording())
    return [f"{one.place.path.name}: {one.message}" for one in found]


@pytest.mark.parametrize("form", FORMS)
def test_the_option_that_reaches_the_place(form: str, tmp_path: Path) -> None:
    code = f"{FORMS[form]}{OPTION}    pick(args.dtype)\n"
    assert said(tmp_path, {"main.py": code}) == ["main.py: with `--dtype bfloat16`"]


def test_of_another_file(tmp_path: Path) -> None:
    files = {
        "dtypes.py": FORMS["a condition"],
        "main.py": f"from dtypes import pick\n{OPTION}    pick(args.dtype)\n",
    }
    assert said(tmp_path, files) == ["main.py: with `--dtype bfloat16`"]


def test_a_table_that_another_file_reads(tmp_path: Path) -> None:
    files = {
        "dtypes.py": 'TABLE = {"bfloat16": torch.bfloat16}\n',
        "main.py": f"from dtypes import TABLE\n{OPTION}    TABLE[args.dtype]\n",
    }
    assert said(tmp_path, files) == ["main.py: with `--dtype bfloat16`"]


def test_an_option_without_choices_takes_any_name(tmp_path: Path) -> None:
    code = FORMS["a condition"] + OPTION.replace('choices=["float32", "bfloat16"], ', "")
    found = said(tmp_path, {"main.py": f"{code}    pick(args.dtype)\n"})
    assert found == ["main.py: with `--dtype bfloat16`"]


def test_a_switch(tmp_path: Path) -> None:
    code = """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bf16", action="store_true")
    args = parser.parse_args()
    dtype = torch.bfloat16 if args.bf16 else torch.float32
"""
    assert said(tmp_path, {"main.py": code}) == ["main.py: with `--bf16`"]


def test_a_value_that_the_option_does_not_offer(tmp_path: Path) -> None:
    code = FORMS["a condition"] + OPTION.replace('"bfloat16"]', '"float16"]')
    assert said(tmp_path, {"main.py": f"{code}    pick(args.dtype)\n"}) == []


def test_of_two_options_the_one_whose_name_goes_through_the_function_of_the_place(
    tmp_path: Path,
) -> None:
    code = (
        FORMS["a condition"]
        + OPTION.replace(
            "    args =", '    parser.add_argument("--other", default="float32")\n    args ='
        )
        + "    pick(args.other)\n    use(args.dtype)\n"
        + "def use(dtype):\n    pick(dtype)\n"
    )
    assert said(tmp_path, {"main.py": code}) == ["main.py: with `--dtype bfloat16`"]


def test_two_options_without_a_difference_say_nothing(tmp_path: Path) -> None:
    code = (
        FORMS["a condition"]
        + OPTION.replace(
            "    args =", '    parser.add_argument("--other", default="float32")\n    args ='
        )
        + "    pick(args.other)\n    pick(args.dtype)\n"
        + "x = 1\n"
    )
    assert said(tmp_path, {"main.py": code}) == []


LEFT = """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", choices=["fp32", "fp16", "bf16"], default="fp32")
    args = parser.parse_args()
    dtype = {chosen}
"""


@pytest.mark.parametrize(
    "chosen",
    [
        'torch.float16 if args.dtype == "fp16" else torch.bfloat16',
        'torch.float16 if args.dtype == "fp16" or args.dtype == "fp32" else torch.bfloat16',
        'torch.float16 if args.dtype in ("fp16", "fp32") else torch.bfloat16',
        'torch.float16 if args.dtype != "bf16" else torch.bfloat16',
    ],
)
def test_a_name_that_is_left_to_the_else(chosen: str, tmp_path: Path) -> None:
    found = said(tmp_path, {"main.py": LEFT.format(chosen=chosen)})
    assert found == ["main.py: with `--dtype bf16`"]


@pytest.mark.parametrize(
    "chosen",
    [
        'torch.float16 if args.dtype == "bf16" else torch.bfloat16',
        'torch.float16 if args.dtype in ("fp16", "bf16") else torch.bfloat16',
        'torch.float16 if args.dtype == "fp16" or args.other == "x" else torch.bfloat16',
        'torch.float16 if args.dtype == "fp16" and args.deep else torch.bfloat16',
        'torch.float16 if args.dtype.startswith("fp") else torch.bfloat16',
        "torch.float16 if args.dtype == DEFAULT else torch.bfloat16",
    ],
)
def test_a_name_that_may_not_be_left_to_the_else(chosen: str, tmp_path: Path) -> None:
    assert said(tmp_path, {"main.py": LEFT.format(chosen=chosen)}) == []


SWITCH = """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true"{default})
    args = parser.parse_args()
{between}    dtype = {chosen}
"""
LEFT_BY_SWITCH = "torch.float16 if args.fp16 else torch.bfloat16"


def test_a_switch_that_is_off(tmp_path: Path) -> None:
    code = SWITCH.format(default="", between="", chosen=LEFT_BY_SWITCH)
    assert said(tmp_path, {"main.py": code}) == ["main.py: without `--fp16`"]


@pytest.mark.parametrize(
    ("default", "between", "chosen"),
    [
        (", default=True", "", LEFT_BY_SWITCH),
        ("", "    args.fp16 = not is_new()\n", LEFT_BY_SWITCH),
        ("", "", "torch.float16 if args.fp16 and args.amp else torch.bfloat16"),
        ("", "", "torch.float16 if args.half else torch.bfloat16"),
    ],
)
def test_a_switch_that_may_never_be_off(
    default: str, between: str, chosen: str, tmp_path: Path
) -> None:
    code = SWITCH.format(default=default, between=between, chosen=chosen)
    assert said(tmp_path, {"main.py": code}) == []


LAST = """
def pick(name, deep=False):
{before}    return torch.bfloat16
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", choices=["fp32", "fp16", "bf16"], default="fp32")
    args = parser.parse_args()
    pick(args.dtype)
"""


@pytest.mark.parametrize(
    ("before", "said_of_it"),
    [
        (
            '    if name == "fp16":\n        return torch.float16\n',
            ["main.py: with `--dtype bf16`"],
        ),
        (
            '    if name == "fp16":\n        return torch.float16\n'
            '    if name == "fp32":\n        return torch.float32\n',
            ["main.py: with `--dtype bf16`"],
        ),
        ('    if name == "bf16":\n        return torch.float16\n', []),
        ("    if deep:\n        return torch.float16\n", []),
        ('    if name == "fp16":\n        print(name)\n', []),
        ("", []),
    ],
)
def test_a_name_that_is_left_to_the_last_return(
    before: str, said_of_it: list[str], tmp_path: Path
) -> None:
    assert said(tmp_path, {"main.py": LAST.format(before=before)}) == said_of_it


def test_an_option_without_choices_leaves_no_name_to_the_else(tmp_path: Path) -> None:
    chosen = 'torch.float16 if args.dtype == "fp16" else torch.bfloat16'
    code = LEFT.replace('choices=["fp32", "fp16", "bf16"], ', "").format(chosen=chosen)
    assert said(tmp_path, {"main.py": code}) == []


ASSIGNED = """
def main(config):
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", choices=["fp32", "fp16", "bf16"], default=None)
    args = parser.parse_args()
    config.{field} = args.{option}
    dtype = torch.bfloat16 if config.train.precision == "bf16" else torch.float16
"""


def test_an_option_that_the_program_assigns_to_a_setting(tmp_path: Path) -> None:
    code = ASSIGNED.format(field="train.precision", option="dtype")
    assert said(tmp_path, {"main.py": code}) == ["main.py: with `--dtype bf16`"]


@pytest.mark.parametrize(
    ("field", "option"),
    [("eval.precision", "dtype"), ("precision", "dtype"), ("train.precision", "device")],
)
def test_what_is_assigned_to_another_setting(field: str, option: str, tmp_path: Path) -> None:
    assert said(tmp_path, {"main.py": ASSIGNED.format(field=field, option=option)}) == []


def test_a_program_that_does_not_use_the_file(tmp_path: Path) -> None:
    files = {
        "dtypes.py": FORMS["a condition"],
        "other.py": f"from dtypes import pick\n{OPTION}    pick(args.dtype)\n",
        "main.py": "from dtypes import pick\nx = pick\n",
    }
    assert said(tmp_path, files) == []
