"""Patches: unified diffs in the bytes and line ends of the file, as `git apply` takes them."""

from __future__ import annotations

import re
from difflib import unified_diff
from pathlib import Path
from typing import IO

from precision_lint.source.text import SourceText

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")


def write_patch(before: SourceText, after: SourceText, root: Path, out: IO[bytes]) -> None:
    """Write the diff between two texts of one file."""
    path = before.path
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    old, new = _LINES.findall(before.text), _LINES.findall(after.text)
    for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
        out.write(line.encode(before.encoding))
        if not line.endswith(("\n", "\r")):
            out.write(b"\n\\ No newline at end of file\n")
