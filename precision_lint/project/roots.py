"""Which folder is the project of some paths."""

from __future__ import annotations

import os
from pathlib import Path

from precision_lint.project import disk
from precision_lint.project.pins import DECLARATIONS

_MARKS = (".git", "pyproject.toml", "setup.py", ".precision-lint.toml")
"""What the root of a project holds, the surest first."""
MOST_ENTRIES = 10_000
"""Files and folders below a folder without a mark that is one project."""


def project_root(start: Path, working: Path | None = None) -> Path:
    """The folder whose files are one project: the closest with a .git, else with a pyproject.

    Without such a mark it is a folder up to the working folder, as for the working folder itself:
    the outermost that declares dependencies, else the working folder. Where the paths are
    elsewhere, or the working folder holds more than a project, it is the folder of the paths.
    """
    above = (start, *start.parents)
    for mark in _MARKS:
        for folder in above:
            if os.path.exists(folder / mark):
                return folder
    if working is None or working not in above:
        return start
    candidates = above[: above.index(working) + 1]
    declaring = (folder for folder in reversed(candidates) if _declares(folder))
    return next(declaring, None) or (working if _is_small(working) else start)


def is_marked(folder: Path) -> bool:
    """True for a folder that is certainly the root of a project."""
    return any(os.path.exists(folder / mark) for mark in _MARKS)


def _declares(folder: Path) -> bool:
    """True if a file directly in the folder declares dependencies."""
    patterns = (pattern for pattern in DECLARATIONS if "/" not in pattern)
    return any(disk.matching(folder, pattern) for pattern in patterns)


def _is_small(folder: Path) -> bool:
    """True if few entries are below a folder: a folder of downloads may hold millions."""
    count = 0
    for _, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        if count > MOST_ENTRIES:
            return False
    return True
