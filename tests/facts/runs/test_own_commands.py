"""Commands that a project installs, and commands in texts: which program gets what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
import yaml
from tool import Engine

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    parser.add_argument("--dtype")
    args = parser.parse_args()
    config = yaml.safe_load(open(args.config))
    Engine("m", dtype=config["kind_dtype"])
    Engine("n", dtype=args.dtype)
"""
OF_FILE = "(argument of Engine(dtype=), tool/cli.py:11)"
OF_WORD = "(argument of Engine(dtype=), tool/cli.py:12)"
CONFIG = "kind_dtype: float16\n"
PROJECT = '[project]\nname = "tool"\n\n[project.scripts]\ntool-run = "tool.cli:main"\n'
POETRY = "[tool.poetry.scripts]\n'tool-run' = 'tool.cli:main'\n"
SETUP = "setup(entry_points={'console_scripts': ['tool-run=tool.cli:main', 'b = c.d:e']})\n"
CFG = "[options.entry_points]\nconsole_scripts =\n    other = a.b:c\n    tool-run = tool.cli:main\n"


def explained(tmp_path: Path, files: dict[str, str]) -> str:
    files = {"tool/__init__.py": "", "tool/cli.py": PROGRAM} | files
    return run("explain-config", cwd=project(tmp_path, files)).out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", PROJECT),
        ("pyproject.toml", POETRY),
        ("setup.py", SETUP),
        ("setup.cfg", CFG),
    ],
)
def test_a_command_that_the_project_installs(name: str, text: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {name: text, "run.sh": "tool-run --dtype bf16\n"})
    assert f"bf16 {OF_WORD}" in out


def test_a_command_with_a_subcommand_and_a_manager(tmp_path: Path) -> None:
    text = "uv run tool-run train --dtype bf16\n"
    assert OF_WORD in explained(tmp_path, {"pyproject.toml": PROJECT, "run.sh": text})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", PROJECT.replace("[project.scripts]", "[tool.other]")),
        ("pyproject.toml", PROJECT.replace("tool-run =", "tool-running =")),
        ("pyproject.toml", PROJECT.replace("tool.cli:", "tool.missing:")),
        ("setup.py", "NAMES = {'console': ['tool-run=tool.cli:main']}\n"),
        ("setup.cfg", CFG.replace("console_scripts", "gui_scripts")),
        ("requirements.txt", "console_scripts = [tool-run=tool.cli:main]\n"),
    ],
)
def test_commands_of_others(name: str, text: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {name: text, "run.sh": "tool-run --dtype bf16\n"})
    assert f"bf16 {OF_WORD}" not in out


FENCE = "Run this:\n\n```\n$ tool-run train \\\n    --config conf/a.yaml\n```\n"
COMMENT = "# Usage:\n#   torchrun --standalone -m tool.cli \\\n#     --config conf/a.yaml\n"
ONE_LINE = "# python tool/cli.py --config conf/a.yaml\n"


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": FENCE},
        {"conf/a.yaml": COMMENT + CONFIG},
        {"run.sh": ONE_LINE},
        {"README.md": "    python -m tool.cli --config=conf/a.yaml\n"},
        {"README.md": "    python tool/cli.py --config a.yaml\n"},
    ],
)
def test_a_command_in_a_text(files: dict[str, str], tmp_path: Path) -> None:
    files = {"pyproject.toml": PROJECT, "conf/a.yaml": CONFIG} | files
    assert f"float16 {OF_FILE}" in explained(tmp_path, files)


@pytest.mark.parametrize(
    "text",
    [
        "We use tool-run with conf/a.yaml.\n",
        "tool-runner --config conf/a.yaml\n",
        "tool-run --config conf/a.yaml.bak\n",
        "tool-run --config other/a.yaml\n",
        "cat conf/a.yaml | tool-run --config b.yaml\n",
        "python other.py --config conf/a.yaml\n",
        "python tool/cli.py --config conf/b.yaml\n\nSee conf/a.yaml\n",
        "Call python -m tool.cli, and then conf/a.yaml\n",
    ],
)
def test_texts_that_are_no_such_command(text: str, tmp_path: Path) -> None:
    files = {"pyproject.toml": PROJECT, "conf/a.yaml": CONFIG, "README.md": text}
    files |= {"conf/b.yaml": "a: 1\n", "other/a.yaml": "a: 1\n"}
    assert OF_FILE not in explained(tmp_path, files)
