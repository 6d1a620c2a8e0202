"""The quotes of a file."""

from __future__ import annotations

import ast
import re
from collections import Counter

from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython

_OPENING = regex(r"[rbuf]{0,2}([\"'])(?!\1\1)", re.IGNORECASE)


@fact
def usual_quote(file: ParsedPython) -> str:
    """The quotes that most strings of a file have; double ones if neither is more frequent."""
    counts: Counter[str] = Counter()
    for node in file.nodes:
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            match = _OPENING.match(file.text.text, file.span_of(node).start)
            if match:
                counts[match[1]] += 1
    return "'" if counts["'"] > counts['"'] else '"'
