"""Parts of Markdown that several reports write."""

from __future__ import annotations

from collections.abc import Iterable


def code(text: str) -> str:
    """A text as code, also in a cell of a table."""
    escaped = text.replace("|", "\\|").replace("`", "'")
    return f"`{escaped}`" if escaped else ""


def row(cells: Iterable[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |\n"
