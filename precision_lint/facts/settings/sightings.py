"""Which files are worth parsing for a setting: what their bytes show, at the price of a search.

Every attribute with an unknown value is looked up in the project, and most are not settings of
precision. So the names are collected once, and files are parsed only for names that were seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from precision_lint.facts.settings.declarations import MARKERS
from precision_lint.facts.settings.given import key_path
from precision_lint.facts.settings.vocabulary import WORDS
from precision_lint.model.regex import regex
from precision_lint.project.discovery import kind_of

_BITS = rb"(?:bf|bfloat|fp|float)(?:8|16|32|64)"
_VALUE = rb"(?i:(?:torch\.|amp_|mixed_|pure_)?(?:half|" + _BITS + rb"))"
_NAME = rb"(?i:[\w.-]{0,64}?(?:" + _BITS + rb"|precision|dtype|half|amp)[\w.-]{0,64})"

_BY_NAME = regex(rb"""(?<![\w.-])(""" + _NAME + rb""")["']?(?:[ \t]*[:=]|\s|$)""")
_BY_VALUE = regex(
    rb"""(?<![\w.-])([A-Za-z_-][\w.-]{0,64})["']?[ \t]*[:=\s][ \t]*["']?""" + _VALUE + rb"\b"
)

_OF_PRECISION = regex(_BITS + rb"|precision|dtype|half|amp")
"""What any name or value of these has, in lower case."""

_BFLOAT16 = regex(rb"bfloat16|bf16", re.IGNORECASE)
_FENCE = regex(rb"```|~~~")
_DECLARATIONS = (b"add_argument(", b"ption(", b"DEFINE_", b"set_defaults(")
_LONGEST = 800
"""Bytes of a declaration that are looked at: with a help text it may be long."""
_QUOTED = regex(rb"""["'](-{0,2}[A-Za-z_][\w.-]*)(?:/[^"']*)?["']|\b(\w+)[ \t]*=""")
# The end of the line before is searched for faster than `^`, and no match takes it.
_FIELD = regex(rb"(?m)\n(?: {2,4}|\t)([A-Za-z_]\w*)[ \t]*:[ \t]*[A-Za-z_\"'][^\n]*(?<!,)$")
"""A line in the body of a class; one that ends in a comma is a parameter's."""
_TYPER = regex(rb"(?<!\w)(\w+)[ \t]*:[^=,\n]{0,199}=[ \t]*typer\.")
_ENVIRON = regex(rb"""environ(?:\[|\.setdefault\()[ \t]*["'](\w+)["']""")
_IMPORT = regex(rb"\n[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]{0,9999}\)|[^\n#]*)")
_HOLDER = regex(
    rb"""\n[ \t]+(?:self\.)?(\w+)[ \t]*[:=][ \t]*["']?(?:Optional\[["']?)?(?:\w+\.)*([A-Z]\w*)"""
)


def names_in(path: Path, content: bytes) -> set[str]:
    """The last names of the settings of precision that a file seems to give."""
    kind = kind_of(path)
    is_python = kind == "python"
    if kind == "markdown" and not (_FENCE.search(content) and _BFLOAT16.search(content)):
        return set()  # of a page, only commands that ask for bfloat16 count
    if is_python and not any(mark in content for mark in MARKERS):
        return set()
    if not any(word in content for word in WORDS):
        return set()
    seen = _in_python(content) if is_python else _in_config(content)
    return {key_path(name.decode("utf-8", "replace"))[-1] for name in seen}


def fields_of_type(content: bytes) -> Iterator[tuple[str, str]]:
    """The names that classes of a Python file give to an object of another class, and that class:
    `model: ModelConfig`, `self.model = ModelConfig()`.
    """
    if any(mark in content for mark in MARKERS):
        for match in _HOLDER.finditer(b"\n" + content):
            yield match[1].decode("utf-8", "replace"), match[2].decode("utf-8", "replace")


def imported_names(content: bytes) -> frozenset[str]:
    """Every name in the imports of a Python file."""
    found = b" ".join(b" ".join(match.groups(b"")) for match in _IMPORT.finditer(b"\n" + content))
    return frozenset(name.decode("utf-8", "replace") for name in re.findall(rb"\w+", found))


def _places(mark: bytes, content: bytes) -> Iterator[int]:
    start = content.find(mark)
    while start >= 0:
        yield start
        start = content.find(mark, start + 1)


def _in_config(content: bytes) -> Iterator[bytes]:
    for lines in _of_precision(content):
        for pattern in (_BY_NAME, _BY_VALUE):
            yield from (match[1] for match in pattern.finditer(lines))


def _of_precision(content: bytes) -> Iterator[bytes]:
    """The lines with a word of precision, each with the one before: a name may be there."""
    end = 0
    for match in _OF_PRECISION.finditer(content.lower()):
        if match.start() >= end:
            line = content.rfind(b"\n", 0, match.start())
            end = content.find(b"\n", match.end()) + 1 or len(content)
            yield content[content.rfind(b"\n", 0, max(line, 0)) + 1 : end]


def _in_python(content: bytes) -> Iterator[bytes]:
    starts = sorted(start for mark in _DECLARATIONS for start in _places(mark, content))
    for start, following in pairwise([*starts, len(content)]):
        segment = content[start : min(following, start + _LONGEST)]
        if any(word in segment for word in WORDS):
            yield from (match[1] or match[2] for match in _QUOTED.finditer(segment))
    for match in _FIELD.finditer(b"\n" + content):
        if any(word in match[0] for word in WORDS):
            yield match[1]
    for literal, pattern in ((b"typer.", _TYPER), (b"environ", _ENVIRON)):
        if literal in content:
            yield from (match[1] for match in pattern.finditer(content))
