"""The literate cases of the matrix: small projects, and what is printed for each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "cases.md"
_CASE = re.compile(r"^## (.+)\n((?:(?!^## ).*\n)*)", re.MULTILINE)
_FILE = re.compile(r"^```\w+ path=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_MATRIX = re.compile(r"^```matrix\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A project and its matrix as text."""

    title: str
    files: dict[str, str]
    expected: str


def cases() -> list[Case]:
    """All cases, in the order of the file."""
    found = []
    for title, body in _CASE.findall(CASES.read_text("utf-8")):
        expected = _MATRIX.search(body)
        assert expected is not None, title
        found.append(Case(title, dict(_FILE.findall(body)), expected[1]))
    return found
