"""The rows of a script, a configuration or a page that name something, such as a program."""

from __future__ import annotations

import re
from pathlib import Path

from precision_lint.model.regex import regex

_CONTINUED = regex(rb"\\[ ]*\r?\n")
"""A backslash at the end of a row. Spaces after it are a mistake, and yet the row was to go on."""
_LONGEST = 20_000
"""Characters of a row that may be a command; longer ones are data."""


def rows_naming(path: Path, content: bytes, argument: str) -> str:
    """The rows of a file that hold a name as a word, each with the rows that it goes on in."""
    name = argument.encode("utf-8", "surrogateescape")
    if name not in content:
        return ""
    word = re.compile(rb"\b%s\b" % re.escape(name))
    rows = _CONTINUED.sub(b" ", content).splitlines()
    found = [row for row in rows if len(row) <= _LONGEST and word.search(row) is not None]
    return b"\n".join(found).decode("utf-8", "replace")
