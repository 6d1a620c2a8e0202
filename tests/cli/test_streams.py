"""Streams that close, fill up or are interrupted: an exit code and never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import cpu_time
from tests.cli.running import BAD, project

SCRIPT = Path(sys.executable).with_name("precision-lint")


def start(*arguments: str, cwd: Path, **options: Any) -> subprocess.Popen[bytes]:
    command = [str(SCRIPT), *arguments]
    return subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("files", [1, 400], ids=["less than a buffer", "more than a pipe"])
@pytest.mark.parametrize("format", ["full", "json"])
def test_a_reader_that_leaves(files: int, format: str, tmp_path: Path) -> None:
    project(tmp_path, {f"{number}.py": BAD for number in range(files)})
    reading, writing = os.pipe()
    os.close(reading)
    process = start("--output-format", format, cwd=tmp_path, stdout=writing)
    os.close(writing)
    assert process.communicate()[1] == b""
    assert process.returncode == 1


@pytest.mark.parametrize("arguments", [["rules"], ["explain", "MP101"], ["--help"], ["--diff"]])
def test_a_reader_that_leaves_other_commands(arguments: list[str], tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*arguments, cwd=tmp_path, stdout=writing)
    os.close(writing)
    assert process.communicate()[1] == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [[], ["--diff"], ["rules"]], ids=str)
def test_a_full_disk(arguments: list[str], tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    with open("/dev/full", "wb") as full:
        process = start(*arguments, cwd=tmp_path, stdout=full)
        err = process.communicate()[1].decode()
    assert process.returncode == 2
    assert "No space left on device" in err
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--no-cache", "--output-file", "report.txt"], "report.txt"),
        (["--no-cache", "--write-baseline", "known.json"], "known.json"),
        (["vendor", "to_numpy", "--output", "copied.py"], "copied.py"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_a_file_that_does_not_fit_is_not_left_behind(
    arguments: list[str], name: str, tmp_path: Path
) -> None:
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    project(tmp_path, {"a.py": BAD})
    before = sorted(tmp_path.rglob("*"))
    process = start(*arguments, cwd=tmp_path, preexec_fn=limit)
    err = process.communicate()[1].decode()
    assert process.returncode == 2
    assert err == f"error: {name}: File too large\n"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream(closed: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    done = subprocess.run(
        f'"{SCRIPT}" {closed}', shell=True, cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "utf-16"])
def test_any_encoding(encoding: str, tmp_path: Path) -> None:
    project(tmp_path, {})
    name = os.fsencode(tmp_path) + b"/\xff\xe4\n.py"
    with open(name, "wb") as stream:
        stream.write(BAD.replace("scores", "größe").encode())
    environ = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C"}
    for arguments, code in (([], 1), (["--output-format", "json"], 1), (["--show-files"], 0)):
        process = start(*arguments, cwd=tmp_path, stdout=subprocess.PIPE, env=environ)
        out, err = process.communicate()
        assert (process.returncode, err) == (code, b"")
        assert out.decode(encoding)


INTERRUPTED = """\
import os, sys
from pathlib import Path
from precision_lint.cli import main as cli
from precision_lint.engine import run

lint = run.lint

def lint_and_leave_a_mark(job, path):
    Path(sys.argv[2], str(os.getpid())).touch()
    return lint(job, path)

run.lint = lint_and_leave_a_mark
if __name__ == "__main__":
    cli.main(["-j", sys.argv[1]])
"""


@pytest.fixture
def _sigint_interrupts() -> Iterator[None]:
    """Have child processes start with SIGINT as a terminal sets it.

    A shell that starts pytest in the background has it ignored, and children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_sigint_interrupts")
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c(
    jobs: str, whole_group: bool, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    body = "".join(f"y{row} = scores.numpy()\n" for row in range(20)) + "# padding\n" * 300
    project(tmp_path, {f"{number}.py": BAD + body for number in range(300)})  # worth two workers
    driver = tmp_path_factory.mktemp("bin") / "driver.py"
    driver.write_text(INTERRUPTED)
    marks = tmp_path_factory.mktemp("marks")  # one of each process that has begun to work
    output = tmp_path_factory.mktemp("output") / "both"  # no pipe: nobody reads before the end
    with output.open("wb") as both:
        process = subprocess.Popen(
            [sys.executable, driver, jobs, marks],
            cwd=tmp_path,
            stdout=both,
            stderr=both,
            start_new_session=True,
        )
    while len(os.listdir(marks)) < int(jobs):
        assert process.poll() is None, "it is done before it can be interrupted"
        time.sleep(0.01)
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    assert process.wait(cpu_time.HANG) == 130
    assert output.read_bytes().strip() == b""  # not to stay on the line of ^C, a line end
