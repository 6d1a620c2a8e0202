"""Worker processes: the same results, and nothing of the linted project runs in them (P8)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from precision_lint.engine.parallel import WorkerDied, ordered_map
from tests.cli.running import BAD, project

SCRIPT = Path(sys.executable).with_name("precision-lint")
METHODS = ["fork", "spawn", "forkserver"]

# Modules that the interpreter, multiprocessing, the linter or its dependencies import.
HOSTILE = (
    "struct signal types random re json io os enum abc pickle socket selectors tempfile logging "
    "threading queue weakref copyreg multiprocessing concurrent ctypes hashlib bisect heapq "
    "click yaml libcst rich tree_sitter tree_sitter_json pathspec numpy torch triton "
    "rules fixers runtime precision_lint sitecustomize usercustomize conftest setup dataclasses"
).split()


def hostile(root: Path) -> Path:
    """A project whose every module leaves a mark when it is executed."""
    mark = root / "marks"
    mark.mkdir()
    code = f"open({str(mark)!r} + '/' + __name__, 'w').close()\n"
    for name in HOSTILE:
        (root / f"{name}.py").write_text(code + BAD)
        (root / name).mkdir()
        (root / name / "__init__.py").write_text(code + BAD)
        (root / name / "__main__.py").write_text(code + BAD)
    (root / "pyproject.toml").write_text('[build-system]\nrequires = []\nbackend-path = ["."]\n')
    project(root, {f"large{number}.py": "# padding\n" * 60_000 + BAD for number in range(3)})
    return root


def marks(root: Path) -> list[str]:
    return sorted(os.listdir(root / "marks"))


def bad_of(root: Path) -> int:
    return sum(1 for path in root.rglob("*.py"))


DRIVER = """\
import sys
from precision_lint.cli import main as cli
from precision_lint.engine import parallel
parallel.default_method = lambda: {method!r}
if __name__ == "__main__":
    cli.main(["-j", "2", "--output-format", "concise"])
"""


@pytest.mark.parametrize("method", METHODS)
def test_nothing_of_the_project_runs_in_workers(
    method: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = hostile(tmp_path)
    driver = tmp_path_factory.mktemp("bin") / "driver.py"
    driver.write_text(DRIVER.format(method=method))
    done = subprocess.run(
        [sys.executable, driver], cwd=root, capture_output=True, text=True, check=False
    )
    assert marks(root) == []
    assert done.stderr == ""
    assert done.returncode == 1
    assert done.stdout.count("MP101") == bad_of(root)


@pytest.mark.parametrize("arguments", [["-j2"], ["--fix", "-j2"], ["-"], ["explain", "MP101"]])
def test_nothing_of_the_project_runs_in_the_console_script(
    arguments: list[str], tmp_path: Path
) -> None:
    root = hostile(tmp_path)
    done = subprocess.run(
        [SCRIPT, *arguments], cwd=root, capture_output=True, text=True, input=BAD, check=False
    )
    assert marks(root) == []
    assert "Traceback" not in done.stderr
    assert done.stdout


def double(number: int) -> int:
    return number * 2


def die(number: int) -> int:
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    raise ValueError(number)


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 500])
def test_results_come_in_order(jobs: int, count: int) -> None:
    assert list(ordered_map(double, range(count), jobs)) == [2 * row for row in range(count)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_the_folder_and_the_environment_are_given_back(method: str, tmp_path: Path) -> None:
    before = os.getcwd(), dict(os.environ)
    found = ordered_map(os.path.basename, ["/a/b", "/a/c"], 2, method)
    assert next(found) == "b"
    assert (os.getcwd(), dict(os.environ)) == before
    assert list(found) == ["c"]


def test_a_worker_that_dies_is_said_to(tmp_path: Path) -> None:
    with pytest.raises(WorkerDied, match="a worker process died"):
        list(ordered_map(die, range(20), 2))


def test_an_exception_comes_through() -> None:
    with pytest.raises(ValueError, match="0"):
        list(ordered_map(fail, range(20), 2))


def test_a_consumer_may_leave_early() -> None:
    found = ordered_map(double, range(10_000), 2)
    assert next(found) == 0
    found.close()
