"""Precision in texts that no parser takes: options, arguments and entries, by their form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence, typed
from precision_lint.facts.settings.vocabulary import is_setting_of_precision
from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig

_LONGEST = 2_000
"""Characters of a text in which options are looked for; a longer one is a page."""
_GIVEN = regex(
    r"(?:^|[\s,;'\"])(?:--([A-Za-z][\w.-]*)(?:[= ]([^\s,;'\"]+))?|([A-Za-z]\w*)=([\w.-]+))"
)
"""An option or an argument in a text: `--dtype half`, `pretrained=a,dtype=float16`."""
_LINE = regex(
    r"""^[ \t]*(?:-[ \t]+)?["']?(?P<name>[A-Za-z][\w.-]*)["']?[ \t]*[:=][ \t]*["']?
        (?P<value>[^\s"'#,(]+)["']?
      | [(,\s](?P<argument>[A-Za-z]\w*)=["']?(?P<given>[\w.]+)["']?(?=[,)])""",
    re.MULTILINE | re.ASCII | re.VERBOSE,
)
"""`dtype: half`, `load(path, dtype=torch.half)` in a text that no parser takes."""
_COMMAND = regex(
    r"^(?![ \t]*(?:#|//|REM\b|::))[^\n]*"
    r"(?:\.py\b|\bpython[\d.]*[ ]+-m\b|\btorchrun\b|\b(?:accelerate|deepspeed)[ ]+\S)",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that starts a program of Python, and is no comment."""
_CONTINUED = regex(r"(?:[^\n]*[\\^`][ \t\r]*(?:#[^\n]*)?\n)*[^\n]*")
"""A command with the lines that continue it, also where a comment follows the backslash."""
_WORDS = regex(r"\"args\"[ \t]*:[ \t]*\[[^\]]*\]")
"""The words of a command as an editor keeps them."""


def gives_precision(text: str) -> bool:
    """True for a text with an option or an argument that is about precision."""
    if len(text) > _LONGEST:
        return False
    return any(
        is_setting_of_precision(
            match[1] or match[3], typed(match[2] or match[4]) if match[2] or match[4] else True
        )
        for match in _GIVEN.finditer(text)
    )


def of_options(file: ParsedConfig, inside: Span) -> Iterator[Occurrence]:
    """The options of precision in a text that shows a command: `--dtype half`."""
    for match in _GIVEN.finditer(file.text.text, *inside):
        name, text = match[1], match[2]
        is_flag = text is None or text.startswith("-")
        value = True if is_flag else None if "$" in text else typed(text)
        if name and is_setting_of_precision(name.replace("-", "_"), value):
            span = Span(match.start(1) - len("--"), match.end(1 if is_flag else 2))
            yield Occurrence(name, value, CodePlace(span), file)


def of_commands(file: ParsedConfig) -> Iterator[Occurrence]:
    """The options of precision in the lines of a text that start a program of Python."""
    text = file.text.text
    end = 0
    for match in _COMMAND.finditer(text):
        if match.start() >= end:
            end = _end_of_command(text, match.start())
            yield from of_options(file, Span(match.start(), end))
    for match in _WORDS.finditer(text):
        if match.start() >= end:
            yield from of_options(file, Span(match.start(), match.end()))


def _end_of_command(text: str, start: int) -> int:
    """Where a command ends that is continued on further lines."""
    return match.end() if (match := _CONTINUED.match(text, start)) is not None else start


def of_lines(file: ParsedConfig, inside: Span) -> Iterator[Occurrence]:
    """The settings of precision in the lines of a part of a file."""
    for match in _LINE.finditer(file.text.text, *inside):
        name, value = match["name"] or match["argument"], typed(match["value"] or match["given"])
        if is_setting_of_precision(name, value):
            start = match.start("name" if match["name"] else "argument")
            yield Occurrence(name, value, CodePlace(Span(start, match.end())), file)
