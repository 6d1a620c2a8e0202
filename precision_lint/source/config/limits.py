"""How large a configuration may be: what is larger is data, and has no settings."""

from __future__ import annotations

MAX_CHARACTERS = 1024 * 1024


def is_data(content: bytes) -> bool:
    """True for bytes with more characters than any configuration has."""
    return (
        len(content) > MAX_CHARACTERS
        and len(content.decode("utf-8", errors="replace")) > MAX_CHARACTERS
    )
