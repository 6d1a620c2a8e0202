"""The rules of `.gitignore` files as git applies them (gitignore(5)), without git."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project import disk

FILES = (".git/info/exclude", ".gitignore")
"""The files with the patterns of a folder; the later file takes precedence."""

_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "space": r" \t-\r",
    "punct": r"!-/:-@\[-`{-~", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN = regex(
    r"""(?P<all>^\*\*+$) | (?P<above>^(?:\*\*+/)+)
      | (?P<below>(?:/\*\*+)+$) | (?P<between>/(?:\*\*+/)+) | (?P<stars>\*+) | (?P<one>\?)
      | \[(?P<negated>[!^]?)(?P<set>\]?(?:\[:\w+:\]|\\.|[^]\\])*)\]
      | \\(?P<escaped>.) | (?P<broken>[\[\\]) | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_LONGEST = 4096
"""Characters of a pattern: a path has no more, and the time to read one grows with the square."""
_GROUP = "\0"
"""Stands for the first part of the name of a group, which must be unique among all patterns."""
_LITERAL = regex(r"[^*?\[\\]*")
_IN_SET = regex(
    r"\[:(?P<named>\w+):\] | \\?(?P<first>.)-\\?(?P<last>[^]]) | \\?(?P<plain>.)",
    re.VERBOSE | re.DOTALL,
)


@frozen
class Pattern:
    """One line: a regular expression for the bytes of paths from the folder of its file."""

    regex: str
    ignores: bool
    only_folders: bool


class Ignores:
    """The patterns of one folder."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        named = [
            pattern.regex.replace(_GROUP, f"group{number}_")
            for number, pattern in enumerate(patterns)
        ]
        self._any = re.compile("|".join(named) or r"(?!)")
        self._patterns = [
            (re.compile(regex), pattern)
            for regex, pattern in zip(reversed(named), reversed(patterns), strict=True)
        ]

    @classmethod
    def of(cls, folder: Path) -> Ignores | None:
        """The patterns in the files of a folder; None if there are none."""
        patterns: list[Pattern] = []
        for name in FILES:
            try:
                content = disk.read(folder / name)
            except OSError:
                continue
            patterns += parse(content.removeprefix(codecs.BOM_UTF8).split(b"\n"))
        return cls(patterns) if patterns else None

    def decide(self, relative: str, is_folder: bool) -> bool | None:
        """True if this entry is ignored, False if it is kept, None if no pattern matches."""
        path = os.fsencode(relative).decode("latin-1")  # git counts in bytes
        if not self._any.fullmatch(path):
            return None
        for compiled, pattern in self._patterns:
            if (is_folder or not pattern.only_folders) and compiled.fullmatch(path):
                return pattern.ignores
        return None


def parse(lines: Iterable[bytes]) -> list[Pattern]:
    """The patterns of a file, in order; invalid lines are skipped."""
    patterns = (_pattern(line.decode("latin-1")) for line in lines)
    return [pattern for pattern in patterns if pattern is not None]


def _pattern(line: str) -> Pattern | None:
    line = line.removesuffix("\r")
    if len(line) > _LONGEST or "\0" in line:  # no path is like that
        return None
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    body = line if ignores else line[1:]
    only_folders = body.endswith("/")
    body = body.removesuffix("/")
    # Git compares the literal part up to the first wildcard, and treats the rest as a separate
    # pattern: the stars of `a**/b` are at its start.
    literal = _LITERAL.match(body) if "/" in body else None
    prefix = literal.group() if literal else ""
    regex = _regex(body[len(prefix) :])
    if not body or regex is None:
        return None
    above = "" if "/" in body else "(?:.*/)?"
    return Pattern(
        f"(?s:{above}{re.escape(prefix.removeprefix('/'))}{regex})", ignores, only_folders
    )


def _regex(glob: str) -> str | None:
    """A glob as a regular expression; None if it can match nothing."""
    parts: list[str] = []
    star: int | None = None
    """Where in `parts` the last star of the same component is."""
    for token in _TOKEN.finditer(glob):
        if token.lastgroup == "stars":
            if star is not None:
                # What is between two stars is where it first is: trying every other place as well
                # would take a time that grows with a power of the length.
                found = "[^/]*?" + "".join(parts[star + 1 :])
                parts[star:] = [f"(?=(?P<{_GROUP}{star}>{found}))(?P={_GROUP}{star})"]
            star = len(parts)
        elif "/" in token.group():
            star = None
        match token.lastgroup:
            case "above":
                parts.append("(?:.*/)?")
            case "below":
                parts.append("/.+")
            case "all":
                parts.append(".*")
            case "between":
                parts.append("/(?:.*/)?")
            case "stars":
                parts.append("[^/]*")
            case "one":
                parts.append("[^/]")
            case "set":
                parts.append(_set(token["set"], bool(token["negated"])))
            case "broken":
                return None
            case kind:
                parts.append(re.escape(token[kind or 0]))
    return "".join(parts)


def _set(members: str, negated: bool) -> str:
    inside = []
    for member in _IN_SET.finditer(members):
        if (named := member["named"]) is not None:
            inside.append(_CLASSES.get(named, ""))
        elif member["plain"] is not None:
            inside.append(re.escape(member["plain"]))
        else:  # of a range that runs backwards, the first character counts
            first, last = member["first"], member["last"]
            inside.append(re.escape(first))
            if first <= last:
                inside.append(f"{re.escape(first)}-{re.escape(last)}")
    if not any(inside):
        return "[^/]" if negated else r"(?!)"
    return f"(?!/)[{'^' * negated}{''.join(inside)}]"
