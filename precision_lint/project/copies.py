"""Packages of libraries that somebody copied into a project."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

from precision_lint.model.regex import regex
from precision_lint.project.pins import contents

PACKAGING = ("pyproject.toml", "setup.py", "setup.cfg")
"""Files that say which distribution a folder builds."""

_VERSION = regex(r"^__version__[ \t]*[:=]", re.MULTILINE)


def is_copy(package: Path, root: Path) -> bool:
    """True if a package has a version, and no folder around it builds a distribution of it.

    So `model/transformers/` is a copy, but for the repository of transformers itself.
    """
    if not any(map(_VERSION.search, contents(package, ("__init__.py",)))):
        return False
    folders = package.parents[: len(package.relative_to(root).parts)]
    named = re.compile(rf"""\bname\s*=\s*["']?{package.name}\b""")
    files = chain.from_iterable(contents(folder, PACKAGING) for folder in folders)
    return not any(map(named.search, files))
