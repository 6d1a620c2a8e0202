"""Records that hold a function and its keyword arguments: what they do, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.dtypes.syntax.definitions import Class, module_of
from precision_lint.facts.dtypes.syntax.held_calls import held_calls
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText

FIELDS = """
from dataclasses import dataclass, field
@dataclass
class Entry:
    maker: type
    options: dict
    notes: dict = field(default_factory=dict)
    other: type = print
"""
CALLED = [
    ("by itself", "    def load(self):\n        return self.maker(1, **self.options)\n"),
    (
        "through names",
        "    def load(self):\n        maker = self.maker\n        given = dict(self.options)\n"
        "        given.update(verbose=True)\n        return maker(1, **given)\n",
    ),
    (
        "with others",
        "    def load(self):\n        return self.maker(1, **{**self.options, 'a': 1})\n",
    ),
    (
        "by a function",
        "def load(entry):\n    return entry.maker(1, **entry.options)\nEntry.load = load\n",
    ),
]
NOT_CALLED = [
    ("with other arguments", "    def load(self):\n        return self.maker(self.options)\n"),
    ("another field", "    def load(self):\n        self.other(**self.notes)\n"),
    ("of two", "    def load(self):\n        self.maker(**self.options, **self.notes)\n"),
    (
        "one or the other",
        "    def load(self, x=0):\n        given = self.options\n        if not x:\n"
        "            given = self.notes\n        self.maker(**given)\n",
    ),
    ("after other positions", "    def load(self):\n        self.maker(*[1], **self.options)\n"),
    ("elsewhere", "    def load(self):\n        dict(**self.options)\n"),
]


def _entry(text: str, path: Path) -> Class:
    file = parse_python(SourceText(path / "entry.py", text))
    found = module_of(file).top["Entry"]
    assert isinstance(found, Class)
    return found


@pytest.mark.parametrize("body", [case[1] for case in CALLED], ids=[case[0] for case in CALLED])
def test_what_is_held_is_called_with_what_is_held(body: str, tmp_path: Path) -> None:
    (found,) = held_calls(_entry(FIELDS + body, tmp_path))
    assert (found.function, found.mapping, found.positions) == ("maker", "options", 1)
    given: dict[str, Any] = {}

    def maker(first: int, **options: object) -> None:
        given.update(options, first=first)

    program: dict[str, Any] = {}
    exec(FIELDS + body, program)
    program["Entry"](maker, {"dtype": "bfloat16"}, {"dtype": "float32"}).load()
    assert given["first"] == 1
    assert given["dtype"] == "bfloat16"


@pytest.mark.parametrize(
    "body", [case[1] for case in NOT_CALLED], ids=[case[0] for case in NOT_CALLED]
)
def test_what_is_called_otherwise(body: str, tmp_path: Path) -> None:
    found = held_calls(_entry(FIELDS + body, tmp_path))
    assert not [each for each in found if (each.function, each.mapping) == ("maker", "options")]
