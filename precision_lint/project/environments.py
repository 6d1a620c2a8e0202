"""Environments that the pages of a project show, and projects that they install first.

Research code often says no more than what `conda list` printed on the author's machine, or is
put into a checkout of another project, whose requirements then count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from precision_lint.model.regex import regex

_PROJECTS = (
    (
        regex(
            r"(?i)(?:git[ \t]+clone[ \t]+|git\+)https://github\.com/haotian-liu/LLaVA(?:\.git)?"
            r"(?=\s|$)(?!(?:[^\n]*\n){0,3}[^\n]*\bgit[ \t]+(?:checkout|reset)\b)"
        ),
        {"torch": "2.1.2", "transformers": "4.37.2"},
    ),
)
"""Projects that do not change any more, and the versions that they require.

LLaVA: `pyproject.toml` of 1.2.2.post1 (read 2026-11-27). Commands that check out another commit are
not followed.
"""


def listed(pages: Iterable[str], name: str) -> str | None:
    """The version in the rows that `conda list` or `pip freeze` print; None if no page has them.

    The name is a pattern. `transformers 4.43.4 pypi_0 pypi` is such a row, and a line with nothing
    but `transformers==4.28.1`. A sentence is none: "tested with transformers==4.28.1".
    """
    row = re.compile(
        rf"(?im)^[ \t]*{name}(?:==(\d+(?:\.\d+)+)(?:\+\w+)?[ \t]*$"
        rf"|[ \t]+(\d+(?:\.\d+)+)(?:\+\w+)?[ \t]+(?:pypi_\d+|py[\w.]*_\w+|h[0-9a-f]{{6,}}_\d+)\b)"
    )
    for page in pages:
        if match := row.search(page):
            return match[1] or match[2]
    return None


def of_projects(pages: Iterable[str], library: str) -> str | None:
    """The version that a project requires which a page installs; None if no page does."""
    for page in pages:
        for command, versions in _PROJECTS:
            if library in versions and command.search(page):
                return versions[library]
    return None
