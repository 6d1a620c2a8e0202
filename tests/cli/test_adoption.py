"""What helps a project to start: a baseline that shrinks, color, versions with the right names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import BAD, CLEAN, SCALER, project, run


def test_what_no_longer_occurs_is_said_and_removed(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": BAD, "c.py": SCALER})
    run("--write-baseline", "known.json", cwd=tmp_path)
    (tmp_path / "a.py").write_text(CLEAN)
    (tmp_path / "c.py").unlink()
    stale = "known.json: contains 2 findings of code that has changed"
    assert stale in run("--baseline", "known.json", cwd=tmp_path).err
    only_b = run("--baseline", "known.json", "b.py", cwd=tmp_path)
    assert "contains 1 finding of" in only_b.err  # `c.py` is gone; of `a.py` nothing is known
    assert "contains" not in run("--baseline", "known.json", "--select", "MP801", cwd=tmp_path).err
    pruned = run("--baseline", "known.json", "--prune-baseline", cwd=tmp_path)
    assert (pruned.code, "removed 2 findings" in pruned.err) == (0, True)
    rows = json.loads((tmp_path / "known.json").read_text())["findings"]
    assert [row["path"] for row in rows] == ["b.py"]
    assert run("--baseline", "known.json", cwd=tmp_path).err == ""


def test_new_findings_are_not_taken_into_a_pruned_baseline(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    run("--write-baseline", "known.json", cwd=tmp_path)
    (tmp_path / "a.py").write_text(BAD + "other = scores.numpy()\n")
    before = (tmp_path / "known.json").read_bytes()
    ran = run("--baseline", "known.json", "--prune-baseline", cwd=tmp_path)
    assert ran.code == 1
    assert (tmp_path / "known.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "like"),
    [
        (["--target", "tork=2.4"], "torch"),
        (["--target", "Transformer=4.5"], "transformers"),
        (["--target", "qqqq=1"], None),
    ],
)
def test_a_library_that_no_rule_asks_about(
    arguments: list[str], like: str | None, tmp_path: Path
) -> None:
    ran = run(*arguments, cwd=project(tmp_path, {"a.py": BAD}))
    assert (ran.code, ran.out) == (2, "")
    assert "no rule depends on the version of" in ran.err
    assert (f"Did you mean `{like}`?" if like else "Known ones: ") in ran.err


def test_a_library_in_a_configuration(tmp_path: Path) -> None:
    toml = '[tool.precision-lint.target]\ntork = "2.4"\n'
    ran = run(cwd=project(tmp_path, {"a.py": BAD, "pyproject.toml": toml}))
    assert ran.code == 2
    assert "Did you mean `torch`?" in ran.err


def test_color(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    assert "\x1b[" in run("--color", "always", cwd=tmp_path).out
    assert "\x1b[" not in run("--color", "never", cwd=tmp_path).out
    assert "\x1b[" not in run(cwd=tmp_path).out


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this interpreter knows the syntax")
def test_syntax_of_a_newer_python_names_it(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": "import torch\nclass A[T]:\n    x: T\n", "b.py": "print 'x'\n"})
    ran = run("a.py", "b.py", "--output-format", "concise", cwd=tmp_path)
    newer, older = ran.out.splitlines()[:2]
    assert "this is syntax of Python 3.12" in newer
    assert "this is syntax of" not in older


def test_as_a_module_nothing_of_the_working_folder_is_imported(tmp_path: Path) -> None:
    hostile = dict.fromkeys(
        ["click.py", "libcst.py", "yaml.py", "json.py"], "open('executed', 'w')\n"
    )
    project(tmp_path, {**hostile, "a.py": BAD})
    done = subprocess.run(
        [sys.executable, "-m", "precision_lint", "--output-format", "concise", "a.py"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert b"a.py:4:9: MP101" in done.stdout
    assert not (tmp_path / "executed").exists()
