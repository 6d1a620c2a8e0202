"""How much memory a process has had."""

from __future__ import annotations

import re
from pathlib import Path

from precision_lint.model.regex import regex

_PEAK = regex(rb"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


def peak_memory(pid: int) -> int | None:
    """The most bytes of memory that a process has had; None where the system does not say.

    What `wait4` says counts the program that started the process, too.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return None
    found = _PEAK.search(status)
    return int(found[1]) << 10 if found else None
