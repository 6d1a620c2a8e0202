"""Patches of fixes: unified diffs of the exact bytes, for `git apply`.

For a notebook, which is not readable as text, the diffs are those of its cells, for reading only.
"""

from __future__ import annotations

import os
from difflib import diff_bytes, unified_diff
from pathlib import Path
from typing import IO

from precision_lint.source.text.text import SourceText


def write_patch(before: SourceText, after: SourceText, root: Path, out: IO[bytes]) -> None:
    """Write the diff between two texts of one file."""
    path = before.path
    name = os.fsencode(path.relative_to(root) if path.is_relative_to(root) else path)
    for (cell, old), (_, new) in zip(before.shown, after.shown, strict=True):
        sides = _quoted(b"a/" + name + cell), _quoted(b"b/" + name + cell)
        for line in diff_bytes(unified_diff, _lines(old), _lines(new), *sides):
            out.write(line)
            if not line.endswith(b"\n"):
                out.write(b"\n\\ No newline at end of file\n")


def _lines(content: bytes) -> list[bytes]:
    """The lines as git counts them: they end at a line feed only."""
    *ended, last = content.split(b"\n")
    return [line + b"\n" for line in ended] + ([last] if last else [])


def _quoted(name: bytes) -> bytes:
    """A file name as git writes it: quoted if it contains special characters."""
    if not any(byte < 0x20 or byte in b'"\\\x7f' for byte in name):
        return name + b"\t" * (b" " in name)
    escaped = (
        bytes([byte]) if 0x20 <= byte < 0x7F and byte not in b'"\\' else b"\\%03o" % byte
        for byte in name
    )
    return b'"%s"' % b"".join(escaped)
