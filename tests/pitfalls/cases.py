"""Reads the cases: see `README.md` for their format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

_HEADING = re.compile(r"^## (?P<name>[A-Z]\d\d)(?P<frequent> · frequent)?\n", re.MULTILINE)
_FENCE = re.compile(
    r"^```(?P<language>\w+) (?P<role>bad|good|run|check|raises|warns)(?P<options>(?: \S+)*)\n"
    r"(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_NOT_RUN = re.compile(r"^Not run: (?P<why>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One pitfall: two small projects, and what happens when they run."""

    name: str
    is_frequent: bool
    bad: dict[str, str]
    good: dict[str, str]
    run: str
    """What is run in place of the first Python file."""
    check: str
    raises: str
    warns: str
    not_run: str
    needs: tuple[str, ...]
    is_alone: bool


@cache
def cases() -> tuple[Case, ...]:
    """Every case, by name."""
    return tuple(case for path in sorted(FOLDER.glob("[A-Z].md")) for case in _cases(path))


def changed(text: str, diff: str) -> str:
    """The text after a diff: hunks without positions, an empty line between them."""
    for hunk in diff.strip("\n").split("\n\n"):
        lines = [(line[:1], line[1:]) for line in hunk.split("\n")]
        old = "".join(f"{line}\n" for mark, line in lines if mark != "+")
        new = "".join(f"{line}\n" for mark, line in lines if mark != "-")
        assert text.count(old) == 1, f"{text.count(old)} times in the bad file: {old!r}"
        text = text.replace(old, new)
    return text


def _cases(path: Path) -> Iterator[Case]:
    _, *parts = _HEADING.split(path.read_text("utf-8"))
    for name, frequent, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield _case(name, bool(frequent), body)


def _case(name: str, is_frequent: bool, body: str) -> Case:
    bad: dict[str, str] = {}
    good: dict[str, str] = {}
    said = dict.fromkeys(("run", "check", "raises", "warns"), "")
    options: list[str] = []
    fences = [*_FENCE.finditer(body)]
    assert len(re.findall("^```", body, re.MULTILINE)) == 2 * len(fences), f"{name}: other fences"
    for fence in fences:
        language, role, text = fence["language"], fence["role"], fence["text"]
        words = fence["options"].split()
        options += words
        file = _option(words, "path")
        if language == "diff":
            file = file or next(iter(bad))
            good[file] = changed(bad[file], text)
        elif role == "bad":
            bad[file or f"case.{language}"] = text
        elif role == "good":
            good[file or f"case.{language}"] = text
        else:
            said[role] = text.strip()
    assert bad.keys() >= good.keys(), f"{name}: files of the good twin only"
    needs = _option(options, "needs")
    why = _NOT_RUN.search(body)
    return Case(
        name,
        is_frequent,
        bad,
        bad | good,
        **said,
        not_run=why["why"] if why else "",
        needs=tuple(needs.split(",")) if needs else (),
        is_alone="alone" in options,
    )


def _option(words: list[str], name: str) -> str:
    return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), "")
