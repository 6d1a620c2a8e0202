"""What `precision-lint matrix` prints for the literate cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run
from tests.matrix.cases import Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_text(case: Case, tmp_path: Path) -> None:
    ran = run("matrix", "--no-cache", cwd=project(tmp_path, case.files))
    assert ran.code == 0
    body, _, legend = ran.out.rpartition("\nok: ")
    assert (body or ran.out) == case.expected
    assert not body or legend.startswith("offered")


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_order_of_paths_and_processes_means_nothing(case: Case, tmp_path: Path) -> None:
    project(tmp_path, case.files)
    names = sorted(case.files)
    one = run("matrix", "--no-cache", *names, cwd=tmp_path)
    assert run("matrix", "--no-cache", "-j", "2", *reversed(names), cwd=tmp_path) == one
