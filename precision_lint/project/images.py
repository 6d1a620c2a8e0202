"""Versions that Python code pins where it builds the image that the project runs in.

Modal, Beam and SkyPilot need no requirement file: `Image().pip_install("torch==2.1.2")`. A script
can have its requirements at its top (`# /// script`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from precision_lint.model.regex import regex
from precision_lint.project import disk

_BUILDERS = regex(
    rb"pip_install\(|conda_install\(|mamba_install\(|python_packages|add_python_packages"
    rb"|\brun_commands\(|\bsetup[ \t]*=[^\n]{0,99}install|[\"'][^\"'\n]{0,99}pip3? install "
    rb"|^# /// script",
    re.MULTILINE,
)
_WORDS = (b"install", b"python_packages", b"run_commands", b"/// script")
"""What a file holds that builds an image: searched for before the pattern, which takes longer."""
_MAX_BYTES = 1_000_000


def requirements(folder: Path, name: str) -> Iterator[str]:
    """The specifiers for a library, a pattern, in the Python files of a folder that build images.

    As code goes, a requirement is a string of its own or stands in an install command.
    """
    pattern = re.compile(
        rf"""(?ix)
        (?: ["'] | \b install \b [^"'\n]{{0,299}} [ \t] ["']? ) {name} (?: \[ [^\]\n]{{0,99}} \] )?
        [ \t]* (?P<specifiers> (?: [=~<>]=?=? [ \t]* \d [\w.+*]* [ \t]* (?: , [ \t]* )? )+ )
        """
    )
    for path in disk.matching(folder, "*.py"):
        for match in pattern.finditer(_text_that_builds(path, disk.state(path))):
            yield match["specifiers"]


@lru_cache(maxsize=1024)
def _text_that_builds(path: Path, stamp: disk.Stamp | None) -> str:
    """The text of a file that builds an image; empty for others, which are nearly all.

    Each library is looked for in the same files, which have the same text with the same `stamp`.
    """
    try:
        content = b"" if stamp is None else disk.read(path, _MAX_BYTES)
    except OSError:
        return ""
    is_builder = any(word in content for word in _WORDS) and _BUILDERS.search(content)
    return content.decode("utf-8", "replace") if is_builder else ""
