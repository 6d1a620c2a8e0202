"""`scripts/rule.py`: a rule that it starts passes every check once its text is written."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from precision_lint.engine import registry

ROOT = Path(__file__).parent.parent
COPIED = (
    "precision_lint", "rules", "fixers", "runtime", "scripts", "tests", "docs", "examples",
    "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "pyproject.toml",
)  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, root)
    return root


def script(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/rule.py", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_a_rule_from_its_start_to_its_check(checkout: Path) -> None:
    started = script(checkout, "new", "example-of-a-rule", "--family", "MP3")
    assert started.returncode == 0, started.stderr
    rule, cases = (
        checkout / "rules/example_of_a_rule.py",
        checkout / "tests/rules/example-of-a-rule.md",
    )
    last = max(rule.code for rule in registry.rules() if rule.code.startswith("MP3"))
    code = f"MP{int(last[2:]) + 1}"
    assert f'code="{code}"' in rule.read_text()
    assert f"`example-of-a-rule` ({code})" in (checkout / "CHANGELOG.md").read_text()

    written = cases.read_text()
    cases.write_text(written.replace("# warning", "# error"))
    unfinished = script(checkout, "check", "example-of-a-rule")
    assert unfinished.returncode == 1
    assert f"TODO left in {rule.relative_to(checkout)}" in unfinished.stdout
    assert re.findall(r"^failed: (.+)$", unfinished.stdout, re.MULTILINE) == ["-m pytest"]

    rule.write_text(rule.read_text().replace("TODO", "Example"))
    cases.write_text(written.replace("TODO", "Example"))
    finished = script(checkout, "check", "example-of-a-rule")
    assert finished.returncode == 0, finished.stdout
    assert (checkout / "docs/rules/example-of-a-rule.md").exists()


def test_a_code_may_leave_a_gap(checkout: Path) -> None:
    started = script(checkout, "new", "rule-after-a-gap", "--code", "MP497")
    assert started.returncode == 0, started.stderr
    written = checkout / "rules/rule_after_a_gap.py"
    assert 'code="MP497"' in written.read_text()
    following = script(checkout, "new", "rule-that-follows", "--family", "MP4")
    assert following.returncode == 0, following.stderr
    assert 'code="MP498"' in (checkout / "rules/rule_that_follows.py").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("numpy-on-bfloat16", "--family", "MP1"),
        ("NumPy", "--family", "MP1"),
        ("a-name", "--family", "MP9"),
        ("a-name", "--family", "MP"),
        ("a-name", "--code", "MP101"),
        ("a-name", "--code", "MP900"),
        ("a-name", "--code", "MP1"),
    ],
)
def test_names_and_families_that_are_refused(checkout: Path, arguments: tuple[str, ...]) -> None:
    before = sorted((checkout / "rules").iterdir())
    assert script(checkout, "new", *arguments).returncode == 2
    assert sorted((checkout / "rules").iterdir()) == before
