"""Which rules run: codes, prefixes, names, ALL, on the command line and in configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine import registry
from precision_lint.engine.settings import Settings
from tests.cli.running import BAD, SCALER, codes, project, run

BOTH = BAD + SCALER.removeprefix("import torch\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path, {"a.py": BOTH})


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], ["MP101", "MP201"]),
        (["--select", "ALL"], ["MP101", "MP201"]),
        (["--select", "all"], ["MP101", "MP201"]),
        (["--select", "MP101"], ["MP101"]),
        (["--select", "mp101"], ["MP101"]),
        (["--select", "MP2"], ["MP201"]),
        (["--select", "MP"], ["MP101", "MP201"]),
        (["--select", "numpy-on-bfloat16"], ["MP101"]),
        (["--select", "MP101,MP201"], ["MP101", "MP201"]),
        (["--select", "MP101, gradscaler-with-bfloat16"], ["MP101", "MP201"]),
        (["--select", "MP101", "--select", "MP201"], ["MP101", "MP201"]),
        (["--select", "MP3", "--extend-select", "MP201"], ["MP201"]),
        (["--ignore", "MP101"], ["MP201"]),
        (["--ignore", "MP1,MP2"], []),
        (["--ignore", "ALL"], []),
        (["--ignore", "ALL", "--select", "MP201"], ["MP201"]),
        (["--ignore", "MP1", "--select", "MP101"], ["MP101"]),
        (["--ignore", "MP101", "--select", "MP1"], []),
        (["--ignore", "MP101", "--select", "numpy-on-bfloat16"], []),
        (["--min-confidence", "high"], ["MP101", "MP201"]),
        (["--min-severity", "error"], ["MP101", "MP201"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_select_and_ignore(arguments: list[str], found: list[str], root: Path) -> None:
    ran = run(*arguments, "--output-format", "concise", cwd=root)
    if "MP3" in arguments and ran.code == 2:
        pytest.skip("no rule of this family yet")
    if "--min-severity" in arguments:
        found = [line.split()[1] for line in ran.out.splitlines() if ": MP" in line]
        assert found
    assert codes(ran) == found
    assert ran.code == bool(found)


def test_confidence_hides_what_is_less_sure(tmp_path: Path) -> None:
    project(
        tmp_path,
        {
            "a.py": "import torch\n\n\ndef f(model):\n    return model.head.weight.numpy()\n",
            "b.py": "import torch\nimport a\n\nDTYPE = torch.bfloat16\nuse = a.f\n",
        },
    )
    for level, found in (("low", ["MP101"]), ("medium", ["MP101"]), ("high", [])):
        ran = run("--min-confidence", level, "--output-format", "concise", cwd=tmp_path)
        assert codes(ran) == found
    (tmp_path / "b.py").unlink()
    for level, found in (("low", ["MP101"]), ("medium", []), ("high", [])):
        ran = run("--min-confidence", level, "--output-format", "concise", cwd=tmp_path)
        assert codes(ran) == found


@pytest.mark.parametrize(
    ("selector", "suggestion"),
    [
        ("numpy-on-bf16", "numpy-on-bfloat16"),
        ("MP1O1", "MP101"),
        ("mp10x", "MP10"),
        ("E501", ""),
        ("", ""),
    ],
)
@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
def test_an_unknown_selector_is_bad_usage(
    option: str, selector: str, suggestion: str, root: Path
) -> None:
    ran = run(option, selector, cwd=root)
    assert (ran.code, ran.stdout) == (2, b"")
    assert f"no rule is called `{selector}`" in ran.err
    assert f"Did you mean `{suggestion}" in ran.err or not suggestion


def test_a_subset_leaves_suppressions_of_the_others_alone(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD.replace("# for the plot", "# noqa: MP101")})
    assert run(cwd=tmp_path).code == 0
    assert run("--select", "MP201,MP901", cwd=tmp_path).code == 0
    assert run("--ignore", "MP101", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("pattern", "is_ignored"),
    [
        ("a.py", True),
        ("*.py", True),
        ("src", True),
        ("src/", True),
        ("src/a.py", True),
        ("src/*", True),
        ("**/a.py", True),
        ("**/src/a.py", True),
        ("./src/a.py", True),
        ("/src/a.py", True),
        ("*/a.py", True),
        ("other/a.py", False),
        ("a", False),
        ("rc/a.py", False),
    ],
)
def test_per_file_ignores(pattern: str, is_ignored: bool, tmp_path: Path) -> None:
    table = f'[per-file-ignores]\n"{pattern}" = ["MP1"]\n'
    project(tmp_path, {"src/a.py": BOTH, ".precision-lint.toml": table})
    found = ["MP201"] if is_ignored else ["MP101", "MP201"]
    assert codes(run("--output-format", "concise", cwd=tmp_path)) == found
    assert codes(run("--output-format", "concise", "src/a.py", cwd=tmp_path)) == found


def test_preview_rules_run_only_with_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    of_group = registry.select("MP1")
    monkeypatch.setattr(registry, "previews", lambda: of_group)
    assert "MP101" not in Settings().selected()
    assert "MP101" not in Settings(select=("MP101",)).selected()
    assert "MP101" in Settings(preview=True).selected()
    assert "MP101" not in Settings(preview=True, ignore=("MP101",)).selected()
    assert Settings(select=("MP101", "MP1", "MP2")).without_preview() == ("MP101", "MP1")
    assert Settings(select=("MP101",), preview=True).without_preview() == ()


def test_preview_is_a_key_and_an_option(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BOTH, "pyproject.toml": "[tool.precision-lint]\npreview = true\n"})
    assert "preview: True" in run("--show-settings", cwd=tmp_path).out
    assert "preview: False" in run("--show-settings", "--isolated", cwd=tmp_path).out
    assert "preview: True" in run("--show-settings", "--isolated", "--preview", cwd=tmp_path).out
