"""Calls that a fix makes longer or shorter: ruff's formatter is the judge."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from precision_lint.fixers.wrapping import joined
from precision_lint.model.finding import Edit, Span, apply_edits
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.long_lines import within_limit
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText

_BESIDE = Path(sys.executable).with_name("ruff")
RUFF = str(_BESIDE) if _BESIDE.exists() else shutil.which("ruff")

CALLS = (
    "old(enabled=use_amp)",
    "old(use_amp, dtype=dtype_of_the_run)",
    "old(*arguments, **options)",
    "old(f(1, 2), [a, b], enabled=a if b else c)",
    'old(name="a, b", enabled=True)',
)
STATEMENTS = (
    "x = {}\n",
    "def f():\n    return {}\n",
    "with {}:\n    pass\n",
    "with {} as region:\n    pass\n",
    "with {}, other():\n    pass\n",
    "{}\n",
    "x = {} + 1\n",
    "x = {} if use_amp else None\n",
    "def f():\n    return None if off else {}\n",
    "class C:\n    def f(self):\n        with {}:\n            pass\n",
)


def fixed(source: str, limit: int) -> str:
    """The text with another name and a first argument in the call of `old`."""
    file = parse_python(SourceText(Path("case.py"), source))
    call = next(
        node
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "old"
    )
    callee, first = file.span_of(call.func), file.span_of(call.func).end + 1
    edits = [Edit(callee, "torch.amp.autocast"), Edit(Span(first, first), '"cuda", ')]
    own = joined(file, call, edits, ImportStyle(line_length=limit))
    return apply_edits(source, within_limit(file, own, limit))


@pytest.mark.skipif(RUFF is None, reason="ruff is not installed")
@pytest.mark.parametrize("limit", [50, 60, 70, 88])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_was_formatted_stays_formatted(statement: str, limit: int) -> None:
    assert RUFF is not None
    for call in CALLS:
        source = statement.format(call)
        if max(map(len, source.splitlines())) > limit:
            continue
        text = fixed(source, limit)
        command = [RUFF, "format", "--isolated", "--line-length", str(limit), "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        is_left = " else " in statement and max(map(len, text.splitlines())) > limit
        if "other()" not in statement and "+ 1" not in statement and not is_left:
            assert text == done.stdout
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(done.stdout))


def test_a_file_with_long_lines_keeps_them() -> None:
    source = f"x = old(use_amp, dtype=dtype)\ny = '{'long' * 30}'\n"
    assert "\n    " not in fixed(source, 40)


def test_a_comment_stays_on_its_line() -> None:
    source = "x = old(use_amp, dtype=dtype)  # why\n"
    assert fixed(source, 40).count("\n") == 1


@pytest.mark.skipif(RUFF is None, reason="ruff is not installed")
@pytest.mark.parametrize("limit", range(30, 90, 6))
@pytest.mark.parametrize(
    "statement", ["x.scaler = {}\n", "def f():\n    return {}\n", "{}\n", "x = {} + 1\n"]
)
def test_a_call_that_gets_shorter_stays_formatted(statement: str, limit: int) -> None:
    assert RUFF is not None
    command = [RUFF, "format", "--isolated", "--line-length", str(limit), "-"]
    call = "old(device=configuration.device, enabled=configuration.autocast)"
    source = _formatted(command, statement.format(call))
    file = parse_python(SourceText(Path("case.py"), source))
    node = next(
        node
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "old"
    )
    edit = Edit(file.span_of(node.keywords[1].value), "False")
    style = ImportStyle(line_length=limit)
    after = apply_edits(source, joined(file, node, [edit], style))
    had_a_line_for_each = "autocast,\n" in source
    assert had_a_line_for_each or statement.startswith("x =") or after == _formatted(command, after)


def _formatted(command: list[str], source: str) -> str:
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    return done.stdout
