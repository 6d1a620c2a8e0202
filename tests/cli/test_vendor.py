"""`precision-lint vendor`: helpers as a file of the project, and fixes that import them."""

from __future__ import annotations

import ast
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from precision_lint.engine.vendor import helpers, helpers_in, vendored
from tests.cli.running import run

CONFIG = '[tool.precision-lint.fix]\nhelper-module = "mypkg.precision"\n'
BAD = (
    "import torch\n\nfrom mypkg.data import load\n\n\n"
    "def f(flag):\n    x = torch.ones(2).bfloat16() if flag else torch.arange(2)\n"
    "    return x.numpy()\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(CONFIG)
    package = tmp_path / "src" / "mypkg"
    package.mkdir(parents=True)
    data = "def load(path):\n    return path\n"
    for name, content in {"__init__": "", "data": data, "evaluate": BAD}.items():
        (package / f"{name}.py").write_text(content)
    return package


def test_a_fix_imports_the_copy(project: Path) -> None:
    ran = run("--fix", "--isolated", cwd=project.parent.parent)
    assert "return x.float().numpy()" in ran.out  # a new dependency is not added unasked
    assert "fixable" not in ran.out  # `.float()` is only shown: integers take the same way
    ran = run("--fix", cwd=project.parent.parent)
    assert "run `precision-lint vendor to_numpy` first" in ran.out
    assert (project / "evaluate.py").read_text() == BAD
    ran = run("vendor", "to_numpy", cwd=project.parent.parent)
    assert (ran.code, ran.err) == (0, "note: src/mypkg/precision.py: now contains to_numpy\n")
    ran = run("--fix", cwd=project.parent.parent)
    assert ran.code == 0
    fixed = (project / "evaluate.py").read_text()
    assert "from mypkg.data import load\nfrom mypkg.precision import to_numpy\n" in fixed
    assert "return to_numpy(x)\n" in fixed


def test_helpers_are_added_to_those_that_are_there(project: Path) -> None:
    path = project / "precision.py"
    for names in (["to_numpy"], ["grad_scaler"], ["to_numpy"]):
        assert run("vendor", *names, cwd=project.parent.parent).code == 0
    assert path.read_text() == vendored(["to_numpy", "grad_scaler"])
    assert helpers_in(path.read_text()) == ["resolve_dtype", "to_numpy", "grad_scaler"]


def test_a_file_is_named_on_the_command_line(tmp_path: Path) -> None:
    ran = run("vendor", "mask_value", "-o", "util.py", cwd=tmp_path)
    assert ran.code == 0
    assert 'helper-module = "util"' in ran.err
    assert (tmp_path / "util.py").read_text() == vendored(["mask_value"])


@pytest.mark.parametrize(
    ("arguments", "content", "problem"),
    [
        (["to_numpi"], None, "no helper is called `to_numpi`. Helpers: grad_scaler, "),
        (["cross_entropy"], None, "no helper is called `cross_entropy`"),
        (["to_numpy"], "x = 1\n", "not a file that `precision-lint vendor` wrote"),
        (["to_numpy"], vendored(["to_numpy"]) + "x = 1\n", "edited, or written by another version"),
        (["to_numpy", "-o", "no/file.py"], None, "no: no such folder"),
        (["to_numpy", "--isolated"], None, "name the file with --output FILE"),
    ],
)
def test_refusals(project: Path, arguments: list[str], content: str | None, problem: str) -> None:
    path = project / "precision.py"
    if content is not None:
        path.write_text(content)
    ran = run("vendor", *arguments, cwd=project.parent.parent)
    assert ran.code == 2
    assert problem in ran.err
    assert (path.read_text() if path.exists() else None) == content


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("helper-module = 1", "`fix.helper-module` must be a module"),
        ('helper-module = "a-b"', "`fix.helper-module` must be a module"),
        ('helper = "a"', "unknown key `fix.helper`"),
    ],
)
def test_wrong_settings(tmp_path: Path, table: str, problem: str) -> None:
    (tmp_path / ".precision-lint.toml").write_text(f"[fix]\n{table}\n")
    ran = run(cwd=tmp_path)
    assert ran.code == 2
    assert problem in ran.err


@pytest.mark.parametrize("name", helpers())
def test_a_copy_defines_all_that_it_uses(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "copied.py"
    path.write_text(vendored([name]))
    spec = importlib.util.spec_from_file_location("copied", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scores = torch.zeros(2, 2, dtype=torch.bfloat16)
    arguments = {
        "to_numpy": (scores,),
        "grad_scaler": ("bf16", "cpu"),
        "resolve_dtype": ("bf16",),
        "mask_value": ("bf16",),
        "masked_fill": (scores, scores == 0),
        "safe_softmax": (scores,),
    }
    result = getattr(module, name)(*arguments[name])
    runtime = pytest.importorskip("precision_lint.runtime")
    expected = getattr(runtime, name)(*arguments[name])
    if isinstance(expected, torch.Tensor):
        assert torch.equal(result, expected)
    elif name == "to_numpy":
        assert (result == expected).all()
    elif name != "grad_scaler":
        assert result == expected
    else:
        assert result.is_enabled() is expected.is_enabled() is False


def test_a_copy_is_clean(tmp_path: Path) -> None:
    beside = Path(sys.executable).with_name("ruff")
    ruff = str(beside) if beside.exists() else shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    path = tmp_path / "copied.py"
    settings = tmp_path / "pyproject.toml"
    for length, quotes in ((79, "double"), (88, "single"), (100, "double"), (120, "double")):
        settings.write_text(
            f'[tool.ruff]\nline-length = {length}\n[tool.ruff.lint]\nselect = ["E", "F", "I", '
            f'"W", "RUF100"]\n[tool.ruff.lint.isort]\nforce-single-line = true\n'
            f'[tool.ruff.format]\nquote-style = "{quotes}"\n'
        )
        for name in helpers():
            path.unlink(missing_ok=True)
            assert run("vendor", name, "-o", "copied.py", cwd=tmp_path).code == 0
            ast.parse(path.read_text())
            for command in (["check"], ["check", "--isolated"], ["format", "--check"]):
                ran = subprocess.run(
                    [ruff, *command, "--no-cache", path], capture_output=True, text=True
                )
                assert ran.returncode == 0, ran.stdout


def test_a_copy_has_no_findings_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "copied.py").write_text(vendored(helpers()))
    (tmp_path / "use.py").write_text(
        "import torch\nfrom copied import to_numpy\n\n"
        "to_numpy(torch.ones(2, dtype=torch.bfloat16))\n"
    )
    assert run("--isolated", cwd=tmp_path).code == 0
