"""`-` reads a file from standard input; with fixes, standard output is that file, repaired."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import BAD, CLEAN, CONFIG, FIXED, codes, project, run


def test_findings(tmp_path: Path) -> None:
    project(tmp_path, {"src/other.py": CLEAN})
    ran = run(
        "-", "--stdin-filename", "src/a.py", "--output-format", "concise",
        cwd=tmp_path, stdin=BAD.encode(),
    )  # fmt: skip
    assert ran.code == 1
    assert ran.out.startswith("src/a.py:4:9: MP101")
    assert not (tmp_path / "src/a.py").exists()


def test_a_name_alone_means_stdin(tmp_path: Path) -> None:
    ran = run("--stdin-filename", "a.py", cwd=project(tmp_path, {}), stdin=BAD.encode())
    assert ran.code == 1


def test_without_a_name_it_is_python(tmp_path: Path) -> None:
    assert run("-", cwd=project(tmp_path, {}), stdin=BAD.encode()).code == 1
    assert run("-", cwd=tmp_path, stdin=CLEAN.encode()).code == 0


def test_the_name_says_the_kind(tmp_path: Path) -> None:
    project(tmp_path, {})
    arguments = ["-", "--stdin-filename", "train.yaml", "--output-format", "concise"]
    [code] = codes(run(*arguments, cwd=tmp_path, stdin=CONFIG.encode()))
    assert code.startswith("MP7")


def test_settings_come_from_where_the_file_would_be(tmp_path: Path) -> None:
    project(tmp_path, {"src/.precision-lint.toml": 'ignore = ["MP1"]'})
    ran = run("-", "--stdin-filename", "src/a.py", cwd=tmp_path, stdin=BAD.encode())
    assert ran.code == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fix(end: str, tmp_path: Path) -> None:
    content = BAD.replace("\n", end).encode()
    ran = run("-", "--fix", cwd=project(tmp_path, {}), stdin=content)
    assert ran.code == 0
    assert ran.stdout == FIXED.replace("\n", end).encode()
    assert "Found 1 error (1 fixed, 0 remaining)." in ran.err


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (CLEAN.encode(), 0),
        (b"", 0),
        (b"def f(:\n", 1),
        (b"torch.numpy = '\xff'\n", 1),
        (b"\x00\xff\xfe", 1),
        (b"# coding: nonsense\nimport torch, numpy\n", 1),
    ],
)
def test_fix_gives_back_what_it_cannot_repair(content: bytes, code: int, tmp_path: Path) -> None:
    ran = run("-", "--fix", cwd=project(tmp_path, {}), stdin=content)
    assert (ran.code, ran.stdout) == (code, content)


def test_fix_reports_the_rest_on_stderr(tmp_path: Path) -> None:
    rest = "def f(x: torch.Tensor):\n    return x.numpy()  # noqa: MP999\n"
    ran = run("-", "--fix", cwd=project(tmp_path, {}), stdin=(BAD + rest).encode())
    assert ran.code == 1
    assert ran.out.startswith(FIXED)
    assert "MP902" in ran.err


def test_diff(tmp_path: Path) -> None:
    ran = run("-", "--diff", cwd=project(tmp_path, {}), stdin=BAD.encode())
    assert ran.code == 1
    assert "+array = scores.float().numpy()" in ran.out


@pytest.mark.parametrize("name", ["README.md", "Makefile"])
def test_another_kind_is_passed_through(name: str, tmp_path: Path) -> None:
    project(tmp_path, {})
    assert run("-", "--stdin-filename", name, cwd=tmp_path, stdin=b"# torch").code == 0
    ran = run("-", "--fix", "--stdin-filename", name, cwd=tmp_path, stdin=b"# torch")
    assert (ran.code, ran.stdout) == (0, b"# torch")


def test_excluded_with_force_exclude(tmp_path: Path) -> None:
    arguments = ["-", "--stdin-filename", "build/a.py"]
    project(tmp_path, {})
    assert run(*arguments, cwd=tmp_path, stdin=BAD.encode()).code == 1
    ran = run(*arguments, "--force-exclude", "--fix", cwd=tmp_path, stdin=BAD.encode())
    assert (ran.code, ran.stdout) == (0, BAD.encode())
