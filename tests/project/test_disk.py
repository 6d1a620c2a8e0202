"""Names and contents that a repository can have to stop its reader."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from precision_lint.project import disk
from tests.cli.running import BAD, codes, project, run

SCRIPT = Path(sys.executable).with_name("precision-lint")
PACKAGE = Path(disk.__file__).parent.parent
SECONDS = 120
"""On the clock: a process that reads a FIFO or /dev/zero to its end never ends."""

VERSIONED = "import torch\nfrom torch.cuda.amp import GradScaler\nscaler = GradScaler()\n"
"""What MP801 says of it depends on the version of torch that side files pin."""

SIDE_FILES = (
    ".gitignore", ".git/info/exclude", ".precision-lint.toml", "pyproject.toml", "requirements.txt",
    "requirements/base.txt", "setup.cfg", "setup.py", "uv.lock", "Pipfile.lock", "README.md",
    "environment.yml", "train.yaml", "run.sh", "other.py", ".env",
)  # fmt: skip


def put(kind: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to({"endless": "/dev/zero", "itself": path.name, "folder": "/"}[kind])


@pytest.mark.parametrize("kind", ["fifo", "endless", "itself", "folder"])
@pytest.mark.parametrize("name", SIDE_FILES)
def test_what_stands_in_place_of_a_side_file_stops_nothing(
    name: str, kind: str, tmp_path: Path
) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": VERSIONED})
    put(kind, tmp_path / name)
    done = subprocess.run(
        [SCRIPT, "-j1", "--output-format", "concise"],
        cwd=tmp_path,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    error = done.stderr.decode()
    if name == ".precision-lint.toml" and kind != "itself":
        assert done.returncode == 2
        assert error == f"error: {tmp_path / name}: not a regular file\n"
    else:
        assert (done.returncode, error) == (1, "")
        assert b"a.py:4:9: MP101" in done.stdout
        assert b"b.py:3:10: MP801" in done.stdout


def test_a_baseline_that_a_project_names_must_be_a_file(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, ".precision-lint.toml": 'baseline = "known.json"\n'})
    os.mkfifo(tmp_path / "known.json")
    ran = run(cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "`baseline`" in ran.err
    assert "is not a regular file" in ran.err


@pytest.mark.parametrize("name", [".gitignore", "requirements.txt", "README.md", ".env"])
def test_side_files_need_not_be_text(name: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": VERSIONED})
    (tmp_path / name).write_bytes(bytes(range(256)) + b"\ntorch==2.3.1\n\xff\xfe\n")
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "")
    assert "MP101" in codes(ran)


def test_a_requirement_with_dos_line_ends_is_read(tmp_path: Path) -> None:
    project(tmp_path, {"b.py": VERSIONED})
    (tmp_path / "requirements.txt").write_bytes(b"\xff\r\ntorch==2.3.1\r\n")
    assert codes(run("--output-format", "concise", cwd=tmp_path)) == []


LONG = "x" * 300
NAMES = {
    "import": (f"from {LONG} import net\nnet()\n", "import torch\n"),
    "dotted import": (f"from {'.'.join([LONG] * 9)} import net\nnet()\n", "import torch\n"),
    "deep import": (f"from {'.'.join(['a'] * 9_000)} import net\nnet()\n", "import torch\n"),
    "deep use": (f"from {'b.' * 9_000}c import net\nnet(1).numpy()\n", "import torch\n"),
    "relative import": (f"from {'.' * 200}a import net\nnet()\n", "import torch\n"),
    "null": ('open("a\\0.yaml")\nopen("\\ud800.yaml")\n', "import torch\n"),
    "configuration": (f'import yaml\nc = yaml.safe_load(open("{LONG}.yaml"))\n', "import torch\n"),
}
SCRIPTS = {
    "argument": f"accelerate launch --config_file {LONG}.yaml --mixed_precision fp16 train.py\n",
    "program": f"accelerate launch --mixed_precision fp16 {LONG}.py --bf16\npython -m {LONG}\n",
    "source": f"source ./{LONG}.sh\n. {'a/' * 3000}b.sh\npython train.py --bf16 --fp16\n",
    "hydra": f"python train.py --config-name={LONG} --config-path={LONG} +{LONG}=b bf16=true\n",
    "folder": f"cd {LONG}\ndeepspeed train.py --deepspeed {LONG}.json --fp16 --bf16\n",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_in_code_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    more, head = NAMES[name]
    project(tmp_path, {"a.py": head + more + BAD})
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "")
    assert "MP101" in codes(ran)


@pytest.mark.parametrize("name", SCRIPTS)
def test_names_in_scripts_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    train = (
        "import argparse, hydra, torch\n"
        f'@hydra.main(config_path="{LONG}", config_name="{LONG}")\n'
        'def main(cfg): ...\nif __name__ == "__main__": main()\n'
    )
    files = {"run.sh": SCRIPTS[name], "train.py": train + BAD}
    files["pyproject.toml"] = f'[project.scripts]\nt = "{LONG}.{LONG}:main"\n'
    files["conf/a.yaml"] = f"defaults:\n  - {LONG}: {LONG}\n  - _self_\nbf16: true\nfp16: true\n"
    project(tmp_path, files)
    for command in (["--output-format", "concise"], ["explain-config"], ["matrix"]):
        ran = run(*command, cwd=tmp_path)
        assert ran.code in (0, 1), ran.err
        assert "internal error" not in ran.err


def test_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert disk.read(path) == disk.read(path, 5) == b"12345"
    with pytest.raises(disk.Unsuitable, match="larger than 4 bytes"):
        disk.read(path, 4)
    with pytest.raises(disk.Unsuitable, match="not a regular file"):
        disk.read(tmp_path)
    with pytest.raises(OSError, match="null"):
        disk.read(tmp_path / "\0")
    path.write_bytes(b"")
    assert disk.read(path) == b""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_file_without_a_size_is_read_up_to_the_limit() -> None:
    path = Path("/proc/self/status")
    assert path.stat().st_size == 0
    assert disk.read(path).startswith(b"Name:")
    with pytest.raises(disk.Unsuitable):
        disk.read(path, 10)


ASKING = {"is_file", "is_dir", "is_fifo", "is_symlink", "isfile", "isdir", "listdir"}
"""Functions of pathlib and os that raise for some names, or did in a release that is supported."""

SAFE = {
    "project/disk.py",
    "project/discovery.py",
    "engine/session.py",
    "cli/explain_config.py",
    "cli/paths.py",
    "cli/matrix.py",
}
"""Modules that ask about the names that the user or the file system gives them."""


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_only_one_module_asks_the_disk_about_names(path: Path) -> None:
    if path.relative_to(PACKAGE).as_posix() in SAFE:
        return
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    asked = [
        node.func.attr
        for node in calls
        if isinstance(node.func, ast.Attribute)
        and node.func.attr in ASKING
        and ast.unparse(node.func.value) != "disk"
    ]
    assert asked == []


READING = {"read_text", "read_bytes"}
NAMED_BY_THE_USER = {"engine/baseline.py", "engine/configuration_files.py"}
OF_OUR_OWN = {"engine/pitfalls.py", "engine/vendor.py"}


@pytest.mark.parametrize(
    "path",
    [path for layer in ("project", "engine") for path in sorted((PACKAGE / layer).glob("*.py"))],
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_only_one_module_reads_what_a_repository_may_have(path: Path) -> None:
    if path.relative_to(PACKAGE).as_posix() in NAMED_BY_THE_USER | OF_OUR_OWN:
        return
    tree = ast.parse(path.read_text())
    read = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    assert not READING & set(read)


ASKING_ABOUT = READING | {"stat", "lstat", "exists", "glob", "rglob", "iterdir", "scandir", "walk"}
OWN_TABLES = {"frameworks/table.py"}


@pytest.mark.parametrize(
    "path",
    sorted((PACKAGE / "facts").rglob("*.py")),
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_facts_ask_where_it_is_noted(path: Path) -> None:
    """Else a stored result would not depend on what was read."""
    name = path.relative_to(PACKAGE / "facts").as_posix()
    tree = ast.parse(path.read_text())
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    asked = {
        call.attr
        for call in calls
        if isinstance(call, ast.Attribute)
        and ast.unparse(call.value) not in {"ast", "disk", "_COMPILED"}
    }
    assert not ASKING_ABOUT & asked or name in OWN_TABLES
    if not name.startswith(("project/", "settings/")):
        # What is shared repeats its questions: `precision_lint.model.memo` has one that does.
        imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        kept = {
            alias.name for node in imported if node.module == "functools" for alias in node.names
        }
        assert "cached_property" not in kept
