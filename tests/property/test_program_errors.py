"""MP410 on random programs, compared with torch: it reports none that runs."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from precision_lint.facts.numerics.program_errors import program_errors
from precision_lint.source.text.text import SourceText
from tests.context import python_file
from tests.property.torch_oracle import INPUTS
from tests.property.torch_programs import random_program

PROGRAMS = 400
NAME = "program.py"


def _reported(source: str) -> list[int]:
    """The rows that the rule reports, if its triggers let it read the program."""
    text = SourceText(Path(NAME), source)
    return [text.row(each.call.span.start) for each in program_errors(python_file(text))]


def _raised(source: str) -> int:
    """The row at which a program raises; 0 if it runs to its end."""
    scope: dict[str, Any] = {"probe": lambda value, place: value, "__name__": "__main__"}
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, NAME, "exec"), scope)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return [each.lineno or 0 for each in frames if each.filename == NAME][-1]
    finally:
        torch.set_default_dtype(torch.float32)
    return 0


def tally(seeds: range) -> tuple[Counter[str], list[int]]:
    """How many programs raise, and are reported there; the seeds of those that run and are."""
    counts: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        flag0, flag1, n = INPUTS[seed % len(INPUTS)]
        source = f"{random_program(seed).source}\nmain({flag0}, {flag1}, {n})\n"
        rows, raised = _reported(source), _raised(source)
        counts["programs"] += 1
        counts["raise"] += bool(raised)
        counts["reported"] += bool(rows)
        counts["reported where they raise"] += raised in rows
        if rows and not raised:
            wrong.append(seed)
    return counts, wrong


@pytest.mark.parametrize("share", range(4))
def test_no_program_that_runs_is_reported(share: int) -> None:
    size = PROGRAMS // 4
    counts, wrong = tally(range(share * size, (share + 1) * size))
    assert not wrong, counts
