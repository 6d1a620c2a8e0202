"""Packages of libraries that somebody copied into a project."""

from __future__ import annotations

import re
from pathlib import Path

from precision_lint.project import disk
from precision_lint.project.pins import own_version

_PACKAGING = ("pyproject.toml", "setup.py", "setup.cfg")


def is_copy(package: Path, root: Path) -> bool:
    """True if a package names its version, and no folder around it builds a distribution of it.

    So `model/transformers/` is a copy, but for the repository of transformers itself.
    """
    if not own_version(package / "__init__.py"):
        return False
    folders = package.parents[: len(package.relative_to(root).parts)]
    named = re.compile(rf"""\bname\s*=\s*["']?{package.name}\b""")
    files = (folder / name for folder in folders for name in _PACKAGING)
    return not any(named.search(_text(path)) for path in files)


def _text(path: Path) -> str:
    """What a file says; nothing if there is none."""
    try:
        return disk.read(path, disk.LARGEST_CONFIG).decode("utf-8", "replace")
    except OSError:
        return ""
