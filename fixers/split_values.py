"""Options that are separated from their value by mistake: `--name= value`."""

from __future__ import annotations

import re
from collections.abc import Collection

from precision_lint.fixers.verified import ScriptChange, verified
from precision_lint.model.finding import Applicability, Edit, Fix, Span
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option


def join_value(
    file: ParsedConfig, option: Option, values: Collection[str], message: str
) -> Fix | None:
    """Remove the spaces between `--name=` and its value; None if no such value follows."""
    word = option.words[-1]
    value = rf"([ \t]+)({'|'.join(map(re.escape, values))})(?!\S)"
    following = re.compile(value).match(file.text.text, word.span.end)
    if following is None or not word.verbatim or not word.text.endswith("="):
        return None
    gone = dict.fromkeys(range(*following.span(2)), "")
    change = ScriptChange(gone | {word.span.end - 1: f"={following[2]}"})
    edits = [Edit(Span(*following.span(1)), "")]
    return verified(file, edits, change, message, Applicability.SAFE)
