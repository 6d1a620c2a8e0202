"""Which places show that a tensor can have a dtype that hurts."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import tensor
from precision_lint.facts.dtypes.domain.witnesses import witnesses
from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.given import witness
from precision_lint.model.finding import Span
from precision_lint.source.text.notebook import NotebookText
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording
from tests.notebooks import notebook

BF16 = frozenset({"bfloat16"})
PROGRAM = 'parser.add_argument("--dtype", default="bfloat16")\n'


@pytest.mark.parametrize(
    ("name", "imports", "expected"),
    [
        ("a.ipynb", "import torch\n", 0),
        ("a.py", "import torch\n", 1),
    ],
)
def test_settings_of_other_programs(name: str, imports: str, expected: int, tmp_path: Path) -> None:
    """A notebook gets no setting of a program."""
    content = notebook(imports) if name.endswith("ipynb") else imports
    path = tmp_path / name
    path.write_text(content)
    (tmp_path / "main.py").write_text(PROGRAM)
    text = SourceText.from_bytes(path, path.read_bytes())
    text = NotebookText.read(text) if name.endswith("ipynb") else text
    program = SourceText(tmp_path / "main.py", PROGRAM)
    setting = witness(("dtype",), "bfloat16")
    origin = Origin(program, Span(0, 6), "the default of `--dtype`", "dtype", witness=setting)
    file = python_file(text, recording(tmp_path, ()))
    found = [*witnesses([tensor("bfloat16", origin=origin)], BF16, file, Span(0, 6))]
    assert len(found) == expected
