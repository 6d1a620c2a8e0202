"""What reaches the last `.numpy()` of a small project."""

from __future__ import annotations

from pathlib import Path

from precision_lint.facts.dtypes.domain.calls import Call, Calls
from precision_lint.facts.dtypes.domain.values import ModelOutput, Tensor, Value
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def last_call(root: Path, **files: str) -> Call:
    """The last `.numpy()` of main.py in a project of these files."""
    return calls_of(root, **files)[-1]


def calls_of(root: Path, **files: str) -> Calls:
    """Each `.numpy()` of main.py in a project of these files."""
    for name, content in files.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + content)
    path = root / "main.py"
    file = python_file(SourceText.from_bytes(path, path.read_bytes()), recording(root, ()))
    return calls_in(file, frozenset({"numpy"}))


def described(value: Value) -> str:
    match value:
        case Tensor(dtypes=dtypes, caller_chosen=chosen, may_be_other=partial):
            words = [
                *sorted(dtypes),
                *(["chosen"] if chosen else []),
                *(["partial"] if partial else []),
            ]
            return " ".join(words)
        case ModelOutput():
            return "output"
    return type(value).__name__
