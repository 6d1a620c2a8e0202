"""Commands whose words are one, because of quotes: `"$CMD"`, for a variable with a whole command.

A shell looks for a program of that name, and starts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.shell.variables import Word

STARTS_NOTHING = "which starts nothing: its quotes make one name of all words"


def quoted_commands(file: ParsedConfig) -> Iterator[Word]:
    """The words of a script that are commands with options as a whole."""
    for command in file.script.commands if file.script is not None else ():
        first = command.words[0] if command.words else None
        if first is not None and _is_command(first.text):
            yield first


def quoted_at(span: Span, text: str, file: ParsedConfig) -> Word | None:
    """The quoted command that is written at a place, or has a text, if there is one."""
    found = quoted_commands(file)
    return next((one for one in found if one.span == span or (text and text in one.text)), None)


def _is_command(text: str) -> bool:
    """True for a program and its options; the name of a file may have blanks, too."""
    words = text.split()
    is_program = len(words) > 2 and "/" not in words[0] and not words[0].startswith("-")
    return is_program and any(word.startswith("--") for word in words)
