"""Colour and progress: only for a person, and only when it helps."""

from __future__ import annotations

import io
import subprocess
import sys
import threading

import pytest

from precision_lint.model.formats import FORMATS
from precision_lint.report.terminal import progress, wants_color


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("environ", "on_terminal", "in_file"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": ""}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "3"}, True, True),
        ({"TERM": "xterm-256color"}, True, False),
    ],
)
def test_colour(environ, on_terminal, in_file):
    assert wants_color(Terminal(), environ) is on_terminal
    assert wants_color(io.StringIO(), environ) is in_file


@pytest.fixture
def _xterm(monkeypatch):
    """The environment of a person at a terminal, as rich looks at it."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.usefixtures("_xterm")
def test_progress_waits_for_a_person_to_wait():
    stream, clock, threads = Terminal(), Clock(), threading.active_count()
    with progress(4, stream, clock) as advance:
        clock.now += 0.9
        advance()
        assert stream.getvalue() == ""
        clock.now += 0.2
        advance()
        assert "2/4" in stream.getvalue()
        drawn = stream.getvalue()
        clock.now += 0.01
        advance()
        assert stream.getvalue() == drawn
        clock.now += 1
        advance()
        assert "4/4" in stream.getvalue()
        assert threading.active_count() == threads
    assert stream.getvalue().endswith("\x1b[2K")


@pytest.mark.usefixtures("_xterm")
def test_the_bar_goes_when_the_work_fails():
    stream, clock = Terminal(), Clock()

    def fail():
        with progress(2, stream, clock) as advance:
            clock.now += 2
            advance()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert stream.getvalue().endswith("\x1b[2K")


def test_no_progress_in_a_file():
    stream, clock = io.StringIO(), Clock()
    with progress(2, stream, clock) as advance:
        clock.now += 10
        advance()
    assert stream.getvalue() == ""


def test_a_run_without_findings_imports_little():
    program = """
import io, sys
from pathlib import Path
from precision_lint.model.formats import FORMATS
from precision_lint.report import write
from precision_lint.report.terminal import progress
sys.stderr.isatty = lambda: True
with progress(3, sys.stderr) as advance:
    advance()
write("full", [], {}, io.StringIO(), color=True, root=Path("."))
loaded = {name.partition(".")[0] for name in sys.modules}
print(*sorted(loaded & {"rich", "json", "difflib", "xml", "libcst", "yaml", "click"}))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
    assert done.stderr == ""


def test_names_of_the_formats():
    assert FORMATS == (
        "full",
        "concise",
        "json",
        "json-lines",
        "sarif",
        "github",
        "gitlab",
        "junit",
    )
