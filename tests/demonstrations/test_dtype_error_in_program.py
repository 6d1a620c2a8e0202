"""The cases of the rule run as programs: they raise where it reports a line, and nowhere else."""

from __future__ import annotations

import ast
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path

import pytest

from rules import dtype_error_in_program
from tests import cases

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

CASES = cases.load(cases.RULES / f"{dtype_error_in_program.RULE.name}.md")


def _raising_rows(path: Path) -> list[int]:
    """The rows at which the statements of a program raise; it goes on after each."""
    scope = {"__name__": "__main__"}
    rows = []
    for statement in ast.parse(path.read_text("utf-8")).body:
        try:
            exec(compile(ast.Module([statement], []), str(path), "exec"), scope)
        except (RuntimeError, TypeError) as error:
            frames = traceback.extract_tb(error.__traceback__)
            rows.append([each.lineno or 0 for each in frames if each.filename == str(path)][-1])
    return sorted(rows)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_what_is_reported_raises_and_nothing_else_does(
    case: cases.Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in case.files.items():
        (tmp_path / name).write_text(content, "utf-8")
    program = tmp_path / next(iter(case.files))
    for library in ("accelerate", "timm"):
        if library in program.read_text("utf-8") and find_spec(library) is None:
            pytest.skip(f"needs {library}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    expected = sorted(each.row for each in case.expected)
    try:
        assert _raising_rows(program) == expected
    finally:
        sys.modules.pop("contexts", None)
