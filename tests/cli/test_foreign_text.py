"""Names and values of a repository are shown, and have no effect on a terminal or a workflow."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from precision_lint import cli
from precision_lint.model.formats import FORMATS
from tests.cli.running import BAD, BROKEN, project, run

NAME = "a\n::error::x\r\x1b]0;title\x07\x9b1m\u202e"
"""What would be a command of a GitHub workflow, a change of the title, and text that runs back."""

ACTIVE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


def assert_harmless(text: str) -> None:
    assert not ACTIVE.search(text)
    assert not re.search(r"(?m)^::error::x", text)


FILES = {
    f"{NAME}.py": BAD,
    f"{NAME}2.py": BROKEN,
    f"{NAME}.yaml": "fp16: true\n{% if bf16 %}\nbf16: {{ x }}\n{% endif %}\n",
    f"{NAME}/{NAME}.sh": "python train.py --fp16 --bf16 --learning_rate 1 --output_dir o\n",
}


@pytest.mark.parametrize("output_format", FORMATS)
def test_names_of_files_in_every_format(output_format: str, tmp_path: Path) -> None:
    project(tmp_path, FILES)
    ran = run("--output-format", output_format, cwd=tmp_path)
    assert ran.code == 1
    # XML and JSON have escapes of their own; GitHub's are those of its commands.
    assert_harmless(ran.out)
    assert_harmless(ran.err)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--show-files",),
        ("--show-settings",),
        (f"missing{NAME}",),
        (f"missing{NAME}", f"gone{NAME}"),
        (f"--{NAME}",),
        ("--config", f"missing{NAME}"),
        ("--baseline", f"missing{NAME}"),
        ("--write-baseline", f"new{NAME}"),
        ("--select", NAME),
        ("--target", NAME),
        ("--target-gpu", NAME),
        ("--output-format", NAME),
        ("--fix", "--exit-zero"),
        ("explain", NAME),
        ("explain-config",),
        ("explain-config", "--diff", NAME, NAME),
        ("matrix",),
        ("matrix", f"missing{NAME}"),
    ],
    ids=lambda arguments: " ".join(arguments).encode("unicode_escape").decode(),
)
def test_what_is_said_beside_findings(arguments: tuple[str, ...], tmp_path: Path) -> None:
    toml = f'[tool.precision-lint]\nexclude = ["{NAME.encode("unicode_escape").decode()}"]\n'
    toml = toml.replace("\\x", "\\u00")
    project(tmp_path, {**FILES, "pyproject.toml": toml})
    (tmp_path / f"{NAME}.py").chmod(0o444)
    ran = run(*arguments, cwd=tmp_path)
    assert ran.code in (0, 1, 2)
    assert_harmless(ran.out)
    assert_harmless(ran.err)


@pytest.mark.parametrize(
    "line",
    [
        '"{}" = 1',
        'select = ["{}"]',
        'output-format = "{}"',
        'cache-dir = "../{}"',
        'baseline = "{}"',
        'target-gpu = "{}"',
        '[tool.precision-lint.target]\ntorch = "{}"',
    ],
)
def test_keys_and_values_of_a_configuration(line: str, tmp_path: Path) -> None:
    name = NAME.encode("unicode_escape").decode().replace("\\x", "\\u00")
    toml = "[tool.precision-lint]\n" + line.format(name)
    project(tmp_path, {"a.py": BAD, "pyproject.toml": toml})
    ran = run(cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {tmp_path}")
    assert_harmless(ran.err)


def test_what_git_says(tmp_path: Path) -> None:
    project(tmp_path, {"a.yaml": "a: 1\n"})
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    ran = run("explain-config", "--diff", f"a{NAME}", "b", cwd=tmp_path)
    assert ran.code == 2
    assert_harmless(ran.err)


@pytest.mark.parametrize("path", sorted(Path(cli.__file__).parent.glob("*.py")), ids=str)
def test_only_one_module_prints(path: Path) -> None:
    if path.name != "console.py":
        called = {
            ast.unparse(node.func)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call)
        }
        assert not called & {"print", "click.echo", "click.secho", "sys.stderr.write"}
