"""Whether the project starts a program with a backend that holds float32 weights and scales."""

from __future__ import annotations

import re

from precision_lint.facts.context import PythonFile
from precision_lint.model.memo import fact

_BACKENDS = rb"(?i:deepspeed|fsdp|zero[_-]?[123]|config_file)"
"""Words of commands that choose one. What `accelerate launch --config_file` reads may, too."""
_ROWS = rb"(?:[^\n]|\\[ ]*\n)*"
"""The rest of a row, and the rows that a backslash adds to it."""


@fact
def is_started_with_backend(file: PythonFile) -> bool:
    """True if a command of a script, a configuration or a page names a file and a backend."""
    name = rb"\b" + re.escape(file.text.path.name).encode()
    pattern = rb"%s%s%s|%s%s%s" % (_BACKENDS, _ROWS, name, name, _ROWS, _BACKENDS)
    return file.project.other_file_matches(pattern) or file.project.page_matches(pattern)
