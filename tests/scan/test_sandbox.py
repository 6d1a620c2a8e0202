"""A process for each unit: what it finds, and what stops it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from precision_lint.api import Settings, lint_project
from precision_lint.scan import sandbox
from precision_lint.scan.outcome import Limits, Status, merged
from precision_lint.scan.unit import Unit, units
from tests.cli.running import BAD, CLEAN, CONFIG, SCALER

FILES = {
    "a.py": BAD.encode(),
    "b/train.py": SCALER.encode(),
    "clean.py": CLEAN.encode(),
    "conf/args.yaml": CONFIG.encode(),
    "helper.py": b"import torch\n\ndef made():\n    return torch.zeros(2, dtype=torch.bfloat16)\n",
    "user.py": b"import torch\nfrom helper import made\n\nprint(made().numpy())\n",
}
UNIT = Unit("org/name", "c0ffee", FILES)
FOREVER = "while True: pass"
GREEDY = "kept = []\nwhile True: kept.append(bytearray(1 << 20))"
"""Programs in place of the child: analyses that run away."""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are; none is left."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_it_finds_what_the_function_finds(scratch: Path) -> None:
    outcome = sandbox.check(UNIT, Settings(), Limits())
    assert outcome.records == lint_project(FILES).records
    assert len(outcome.records) >= 4
    assert (outcome.status, outcome.message) == (Status.OK, "")
    assert (outcome.repository, outcome.commit) == ("org/name", "c0ffee")
    assert (outcome.files, outcome.size) == (6, UNIT.size)
    assert outcome.seconds > 0
    assert outcome.cpu_seconds > 0
    if sys.platform == "linux":
        assert outcome.peak_memory is not None
        assert 10 << 20 < outcome.peak_memory < 500 << 20
    assert list(scratch.iterdir()) == []


def test_parts_find_what_the_whole_finds() -> None:
    rows = [(name.encode(), content) for name, content in FILES.items()]
    parts = list(units("r", None, rows, Limits(part_size=400)))
    assert len(parts) > 1
    found = merged(sandbox.check(part, Settings(), Limits()) for part in parts)
    assert found.records == lint_project(FILES).records


def test_settings_count() -> None:
    outcome = sandbox.check(UNIT, Settings(select=("MP2",)), Limits())
    assert {record["code"] for record in outcome.records} == {"MP201"}


def test_a_unit_with_a_problem_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    unit = replace(UNIT, problem=(Status.TOO_LARGE, "too much"))
    outcome = sandbox.check(unit, Settings(), Limits())
    assert (outcome.status, outcome.message) == (Status.TOO_LARGE, "too much")


def test_time_is_limited(monkeypatch: pytest.MonkeyPatch, scratch: Path) -> None:
    monkeypatch.setattr(sandbox, "_PROGRAM", FOREVER)
    started = time.monotonic()
    outcome = sandbox.check(UNIT, Settings(), Limits(seconds=0.5))
    assert outcome.status is Status.TIMEOUT
    assert outcome.message == "stopped after 0.5 seconds"
    assert time.monotonic() - started < 20
    assert list(scratch.iterdir()) == []


def test_a_signal_that_is_ignored_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    program = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{FOREVER}"
    monkeypatch.setattr(sandbox, "_PROGRAM", program)
    assert sandbox.check(UNIT, Settings(), Limits(seconds=1)).status is Status.TIMEOUT


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say")
def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch, scratch: Path) -> None:
    monkeypatch.setattr(sandbox, "_PROGRAM", GREEDY)
    outcome = sandbox.check(UNIT, Settings(), Limits(seconds=60, memory=100 << 20))
    assert outcome.status is Status.OUT_OF_MEMORY
    assert outcome.message.startswith("stopped at ")
    assert outcome.peak_memory is not None
    assert outcome.peak_memory < 2 << 30
    assert list(scratch.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel does not limit addresses")
def test_the_kernel_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory fills at once, and nobody could look in between."""
    program = sandbox._PROGRAM.replace("main()\n", "import precision_lint.scan.child as child\n")
    at_once = "child.lint_project = lambda *given: bytearray(8 << 30)\nchild.main()\n"
    monkeypatch.setattr(sandbox, "_PROGRAM", program + at_once)
    outcome = sandbox.check(UNIT, Settings(), Limits(memory=300 << 20))
    assert (outcome.status, outcome.message) == (Status.OUT_OF_MEMORY, "MemoryError")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "the process died of SIGSEGV"),
        ("raise RuntimeError('defect')", "RuntimeError: defect"),
        ("import sys; sys.exit(3)", ""),
    ],
)
def test_a_crash_is_recorded(monkeypatch: pytest.MonkeyPatch, program: str, said: str) -> None:
    monkeypatch.setattr(sandbox, "_PROGRAM", program)
    outcome = sandbox.check(UNIT, Settings(), Limits())
    assert (outcome.status, outcome.message) == (Status.CRASHED, said)
    assert outcome.records == ()


def test_a_disk_that_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    outcome = sandbox.check(UNIT, Settings(), Limits())
    assert outcome.status is Status.CRASHED
    assert "No such file or directory" in outcome.message


def test_a_defect_of_the_linter_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = """
import precision_lint.scan.child as child
from precision_lint.api import Findings
child.lint_project = lambda *given: Findings((), ("n",) * 200, ("a.py: internal error", "b.py: x"))
child.main()
"""
    monkeypatch.setattr(sandbox, "_PROGRAM", broken)
    outcome = sandbox.check(UNIT, Settings(), Limits())
    assert (outcome.status, outcome.message) == (
        Status.FAILED, "a.py: internal error (and 1 more)",
    )  # fmt: skip
    assert len(outcome.notes) == 100


def test_findings_without_end_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_MOST_FINDINGS", 2)
    outcome = sandbox.check(UNIT, Settings(), Limits())
    assert len(outcome.records) == 2
    (note,) = outcome.notes
    assert note.startswith("only the first 2 of ")


def test_nothing_of_a_repository_is_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither from the folder of its files, nor from the one in which the scan started."""
    marker = tmp_path / "executed"
    hostile = f"open({str(marker)!r}, 'w').close()\n".encode()
    names = ["json", "struct", "libcst", "click", "sitecustomize", "usercustomize", "torch"]
    files = {f"{name}.py": hostile for name in names} | FILES
    here = tmp_path / "here"
    here.mkdir()
    for name in names:
        (here / f"{name}.py").write_bytes(hostile)
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", str(here))
    outcome = sandbox.check(Unit("evil", None, files), Settings(), Limits())
    assert outcome.status is Status.OK
    assert outcome.records
    assert not marker.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel does not say that a parent ended")
def test_the_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    name = tmp_path / "pid"
    program = f"""
import precision_lint.scan.child as child, os, pathlib
child._end_with_parent()
pathlib.Path({str(name)!r}).write_text(str(os.getpid()))
{FOREVER}
"""
    code = f"""
from precision_lint.scan import sandbox
from precision_lint.scan.outcome import Limits
from precision_lint.scan.unit import Unit
from precision_lint.engine.settings import Settings
sandbox._PROGRAM = {program!r}
sandbox.check(Unit("r"), Settings(), Limits())
"""
    parent = subprocess.Popen([sys.executable, "-c", code])
    _wait_until(lambda: name.exists() and name.read_text() != "")
    parent.kill()
    parent.wait()
    _wait_until(lambda: not _is_running(int(name.read_text())))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended is kept until somebody asks for its exit code.
    return ") Z " not in Path(f"/proc/{pid}/stat").read_text()


def _wait_until(holds: object) -> None:
    assert callable(holds)
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it took more than 30 seconds")
