"""Library versions as the project pins them, read from its requirement and lock files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FILES = (
    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.txt", "requirements*.txt",
    "requirements/*.txt", "pyproject.toml", "setup.cfg", "environment*.y*ml",
)  # fmt: skip
"""Where pins are looked for below the project root: what is locked counts before what is asked."""

_MAX_BYTES = 4_000_000


def pinned_version(root: Path, library: str) -> str | None:
    """The version that the project pins a library to; None if it pins none."""
    name = re.escape(library).replace("_", "[-_]").replace(r"\-", "[-_]")
    pin = re.compile(
        rf"""(?mix)
        ^[\s"'-]* {name} (?:\[[^\]\n]*\])? \s* (?:=== | == | ~= | = \s* ["']) =? \s*
            (?P<plain>\d+(?:\.\d+)+)                              # torch==2.3.1, torch = "2.3.1"
        | ^name \s* = \s* "{name}" \s* \n version \s* = \s* "(?P<locked>\d+(?:\.\d+)+)
        | "{name}" \s* : \s* \{{ [^{{}}]* "version" \s* : \s* "==(?P<pipfile>\d+(?:\.\d+)+)
        """,
    )
    for content in _contents(root):
        if match := pin.search(content):
            return match["plain"] or match["locked"] or match["pipfile"]
    return None


def _contents(root: Path) -> Iterator[str]:
    seen = set()
    for pattern in FILES:
        for path in sorted(root.glob(pattern)):
            try:
                if path in seen or path.stat().st_size > _MAX_BYTES:
                    continue
                seen.add(path)
                yield path.read_text("utf-8", "replace")
            except OSError:
                continue
