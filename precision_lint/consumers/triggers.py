"""Whether a framework may read a file at all, told from its bytes."""

from __future__ import annotations

import re

from precision_lint.consumers import marks
from precision_lint.discovery import Kind

_MARKS = {
    "python": re.compile(b"|".join(map(re.escape, marks.PYTHON))),
    "json": re.compile(b"|".join(map(re.escape, marks.JSON))),
}


def may_be_read(content: bytes, kind: Kind) -> bool:
    """False if no framework reads it. Python and JSON are mostly something else."""
    return kind not in _MARKS or _MARKS[kind].search(content) is not None
