"""Environments that the pages of a project show.

Research code often says no more than what `conda list` printed on the author's machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


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
