"""`--diff` writes nothing, and is a patch that `git apply` takes and that equals `--fix`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.running import BAD, CLEAN, FIXED, project, run

TEXTS = {
    "plain": BAD.encode(),
    "crlf": BAD.replace("\n", "\r\n").encode(),
    "mixed line ends": BAD.replace("\n", "\r\n", 2).encode(),
    "cr": BAD.replace("\n", "\r").encode(),
    "a lone carriage return": BAD.replace("import torch\n", "import torch\r").encode(),
    "no final newline": BAD.rstrip("\n").encode(),
    "no final newline, crlf": BAD.rstrip("\n").replace("\n", "\r\n").encode(),
    "bom": b"\xef\xbb\xbf" + BAD.replace("import torch\n\n", "import torch\n").encode(),
    "form feed": BAD.replace("\n\n", "\n\f\n").encode(),
    "latin-1": b"# coding: latin-1\n# \xe9\n" + BAD.encode(),
    "unicode line ends in a comment": f"# \u2028 \x85 \x0b\n{BAD}".encode(),
}
NAMES = ["a.py", "with space.py", "new\nline.py", 'quo"te.py', "back\\slash.py", "tab\t.py", "é.py"]


def apply(patch: bytes, root: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    done = subprocess.run(["git", "apply", "-"], input=patch, cwd=root, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def patched_and_fixed(name: bytes, content: bytes, root: Path) -> tuple[bytes, bytes]:
    """The file after `git apply` of the diff, and the same file after `--fix`."""
    path = root / name.decode("utf-8", "surrogateescape")
    path.write_bytes(content)
    ran = run("--diff", cwd=root)
    assert ran.code == 1
    assert path.read_bytes() == content
    apply(ran.stdout, root)
    patched = path.read_bytes()
    path.write_bytes(content)
    assert run("--fix", cwd=root).code == 0
    return patched, path.read_bytes()


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_any_text(content: bytes, tmp_path: Path) -> None:
    patched, fixed = patched_and_fixed(b"a.py", content, project(tmp_path, {}))
    assert patched == fixed
    assert fixed == content.replace(b"scores.numpy", b"scores.float().numpy")


@pytest.mark.parametrize("name", [name.encode() for name in NAMES] + [b"latin-\xe9.py"])
def test_any_name(name: bytes, tmp_path: Path) -> None:
    patched, fixed = patched_and_fixed(name, BAD.encode(), project(tmp_path, {}))
    assert patched == fixed == FIXED.encode()


def test_several_files_from_a_folder_below(tmp_path: Path) -> None:
    project(tmp_path, {"b.py": BAD, "sub/a.py": BAD, "clean.py": CLEAN})
    ran = run("--diff", ".", "../b.py", cwd=tmp_path / "sub")
    assert ran.out.index("--- a/b.py") < ran.out.index("--- a/sub/a.py")
    assert ran.err == "note: would fix 2 findings in 2 files\n"
    apply(ran.stdout, tmp_path)
    assert (tmp_path / "b.py").read_text() == (tmp_path / "sub/a.py").read_text() == FIXED


def test_nothing_to_fix_is_no_diff(tmp_path: Path) -> None:
    ran = run("--diff", cwd=project(tmp_path, {"a.py": CLEAN}))
    assert (ran.code, ran.stdout) == (0, b"")


def test_diff_with_fix_writes_nothing(tmp_path: Path) -> None:
    ran = run("--diff", "--fix", cwd=project(tmp_path, {"a.py": BAD}))
    assert (ran.code, (tmp_path / "a.py").read_text()) == (1, BAD)
