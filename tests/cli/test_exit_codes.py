"""0 nothing left to report, 1 findings remain, 2 the tool could not do its job."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine import check as checking
from precision_lint.engine import writing
from precision_lint.source.text.text import SourceText
from tests.cli.running import BAD, BROKEN, CLEAN, FIXED, SCALER, project, run


def test_findings_remain(tmp_path: Path) -> None:
    ran = run("--output-format", "concise", cwd=project(tmp_path, {"a.py": BAD}))
    assert ran.code == 1
    assert ran.out.startswith("a.py:4:9: MP101 ")
    assert ran.err == ""


def test_nothing_is_found(tmp_path: Path) -> None:
    ran = run(cwd=project(tmp_path, {"a.py": CLEAN}))
    assert (ran.code, ran.err) == (0, "")


def test_no_paths_means_the_current_folder(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": CLEAN, "sub/b.py": BAD})
    assert run(cwd=tmp_path).code == 1
    assert run(cwd=tmp_path / "sub").code == 1
    assert run(".", cwd=tmp_path).stdout == run(cwd=tmp_path).stdout


def test_check_is_the_same_thing(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    assert run("check", "a.py", cwd=tmp_path) == run("a.py", cwd=tmp_path)


def test_a_missing_path_is_bad_usage(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    ran = run("a.py", "gone.py", cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, b"")
    assert "error: gone.py: no such file or folder" in ran.err


@pytest.mark.parametrize("name", ["chekc", "rule", "explan-config"])
def test_a_command_is_suggested(name: str, tmp_path: Path) -> None:
    ran = run(name, "x", cwd=tmp_path)
    assert ran.code == 2
    assert "no such file or folder; did you mean `precision-lint " in ran.err


@pytest.mark.parametrize("name", ["x" * 5000 + ".py", "a.py/b.py"])
def test_a_path_that_cannot_be(name: str, tmp_path: Path) -> None:
    assert run(name, cwd=project(tmp_path, {"a.py": BAD})).code == 2


@pytest.mark.parametrize("files", [{}, {"README.md": "# numpy"}])
def test_nothing_to_lint_is_a_note(files: dict[str, str], tmp_path: Path) -> None:
    ran = run(cwd=project(tmp_path, files))
    assert (ran.code, ran.stdout) == (0, b"")
    assert ran.err.startswith("note: nothing to check")


def test_nothing_to_lint_is_an_empty_report_for_programs(tmp_path: Path) -> None:
    ran = run("--output-format", "json", cwd=project(tmp_path, {"README.md": "# numpy"}))
    assert (ran.code, ran.stdout) == (0, b"[]\n")


def test_a_named_file_of_another_kind_is_nothing_to_lint(tmp_path: Path) -> None:
    project(tmp_path, {"README.md": "# numpy"})
    assert run("README.md", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-such-option"],
        ["--output-format", "xml"],
        ["--min-confidence", "sure"],
        ["--min-severity", "fatal"],
        ["--jobs", "0"],
        ["--jobs", "many"],
        ["--target", "torch"],
        ["--target", "torch=new"],
        ["--target", "=2.0"],
        ["--target-torch", "new"],
        ["--target-triton", ""],
        ["--target-gpu", "V101"],
        ["--target-gpu", ""],
        ["--config", "gone.toml"],
        ["--baseline", "gone.json"],
        ["--output-file", "no/such/folder/report"],
        ["--write-baseline", "no/such/folder/baseline"],
        ["explain", "MP000"],
        ["explain"],
        ["-", "a.py"],
    ],
    ids=" ".join,
)
def test_bad_usage(arguments: list[str], tmp_path: Path) -> None:
    ran = run(*arguments, cwd=project(tmp_path, {"a.py": CLEAN}))
    assert (ran.code, ran.stdout) == (2, b"")
    assert ran.err
    assert "Traceback" not in ran.err


def test_exit_zero_hides_findings_but_no_failure(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    assert run("--exit-zero", cwd=tmp_path).code == 0
    assert run("--exit-zero", "--diff", cwd=tmp_path).code == 0
    assert run("--exit-zero", "gone.py", cwd=tmp_path).code == 2


def test_a_file_that_cannot_be_parsed_is_a_finding(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": BROKEN})
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert ran.code == 1
    assert "b.py:2:" in ran.out
    assert "MP904" in ran.out
    assert "a.py:4:9: MP101" in ran.out


def test_a_file_that_cannot_be_decoded_is_a_finding(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    (tmp_path / "b.py").write_bytes(b"import torch\nx.numpy() = '\xe9'\n")
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert ran.code == 1
    assert "b.py:1:1: MP903" in ran.out
    assert "a.py:4:9: MP101" in ran.out


@pytest.mark.parametrize(
    ("name", "content"),
    [("b.py", "def f(:\n"), ("b.yaml", "a: [\n"), ("b.json", '{"a": '), ("b.toml", "a = \n")],
)
def test_a_named_file_is_always_parsed(name: str, content: str, tmp_path: Path) -> None:
    project(tmp_path, {name: content})
    assert run(cwd=tmp_path).code == 0
    ran = run(name, "--output-format", "concise", cwd=tmp_path)
    assert ran.code == 1
    assert "MP904" in ran.out


def test_what_cannot_be_checked_is_reported_whatever_was_selected(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": "def f(:\n"})
    assert run("a.py", "--select", "MP101", cwd=tmp_path).code == 1
    assert run("a.py", "--ignore", "MP904", cwd=tmp_path).code == 0


def test_exit_non_zero_on_fix(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    ran = run("--fix", "--exit-non-zero-on-fix", cwd=tmp_path)
    assert ran.code == 1
    assert "Found 1 error (1 fixed, 0 remaining)." in ran.out
    assert run("--fix", "--exit-non-zero-on-fix", cwd=tmp_path).code == 0


def test_all_fixed_is_nothing_left(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "sub/b.py": BAD})
    ran = run("--fix", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out == "Found 2 errors (2 fixed, 0 remaining).\n"
    assert (tmp_path / "a.py").read_text() == FIXED
    assert (tmp_path / "sub/b.py").read_text() == FIXED


def test_unsafe_fixes_are_not_applied_by_fix(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": SCALER})
    before = (tmp_path / "a.py").read_bytes()
    if run("--fix", cwd=tmp_path).code == 1:
        assert (tmp_path / "a.py").read_bytes() == before


def test_a_file_that_cannot_be_written_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, old: bytes, new: bytes) -> None:
        raise writing.NotWritten(f"{path}: the disk is full, left as it was")

    monkeypatch.setattr(writing, "write_atomically", refuse)
    ran = run("--fix", "--output-format", "concise", cwd=project(tmp_path, {"a.py": BAD}))
    assert ran.code == 2
    assert "a.py: the disk is full, left as it was" in ran.err
    assert "MP101" in ran.out
    assert "fixed" not in ran.err


def test_a_failure_inside_takes_no_other_file_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": BAD})
    decode = checking.decode

    def fail(path: Path, *rest: object) -> object:
        if path.name == "a.py":
            raise AssertionError("a bug of ours")
        return decode(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "decode", fail)
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert ran.code == 2
    assert "a.py: internal error at test_exit_codes.py:" in ran.err
    assert "b.py:4:9: MP101" in ran.out
    (tmp_path / "b.py").unlink()
    assert "All checks passed!" not in run("--output-format", "concise", cwd=tmp_path).out


def test_an_interrupt_while_a_class_is_made_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Python 3.12 it is the cause of a RuntimeError."""

    def fail(*rest: object) -> object:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(checking, "decode", fail)
    ran = run("--output-format", "concise", cwd=project(tmp_path, {"a.py": BAD}))
    assert ran.code == 130
    assert "internal error" not in ran.err


def test_a_failure_while_fixing_keeps_the_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*rest: object) -> object:
        raise AssertionError("a bug of ours")

    monkeypatch.setattr(SourceText, "edited", fail)
    ran = run("--fix", "--output-format", "concise", cwd=project(tmp_path, {"a.py": BAD}))
    assert ran.code == 2
    assert "a.py:4:9: MP101" in ran.out
    assert (tmp_path / "a.py").read_text() == BAD


def test_help_and_version(tmp_path: Path) -> None:
    shown = run("--help", cwd=tmp_path)
    assert shown.code == 0
    for option in ("--fix", "--stdin-filename", "--no-cache", "explain"):
        assert option in shown.out
    assert run("--version", cwd=tmp_path).out.startswith("precision-lint")
