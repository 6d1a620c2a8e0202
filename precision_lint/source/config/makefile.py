"""The recipes of a Makefile: the lines below each rule are a script.

What make replaces is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import Embedded, ParsedConfig, ParsePart
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.masking import Mask

_LINE = regex(r"[^\n]*\n|[^\n]+")
_RULE = regex(r"(?![\t#])([^\s:=#][^:=#\n]*)::?(?!=)")
_PREFIX = regex(r"\t[ \t]*[@+-]*")
_CONTINUED = regex(r"\\\r?\n\Z")
_REPLACED = regex(
    r"\$\$?(?:\((?:[^()\n]|\([^()\n]*\))*\)|\{(?:[^{}\n]|\{[^{}\n]*\})*\}|\w+|[^\s\w])"
)


def recipes(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """A script for each rule that has a recipe, called like its targets."""
    text = file.text.text
    mask = Mask(text)
    for target, lines in _rules(text):
        part = parse(file, mask.replacing(lines), "shell")
        if part is not None:
            yield Embedded(target, part)


def _rules(text: str) -> Iterator[tuple[str, list[tuple[Span, str]]]]:
    target, recipe, continues = "", [], False
    for line in _LINE.finditer(text):
        written = line.group()
        if target and (continues or written.startswith("\t")):
            recipe.append((Span(*line.span()), _shell(written, continues)))
            continues = _CONTINUED.search(written) is not None
        elif match := _RULE.match(written):
            if recipe:
                yield target, recipe
            target, recipe = match[1].rstrip(" \t").removesuffix("&").rstrip(" \t"), []
        elif written.strip() and not written.startswith("#"):
            if recipe:
                yield target, recipe
            target, recipe = "", []  # an assignment, a condition of make
    if recipe:
        yield target, recipe


def _shell(line: str, continues: bool) -> str:
    prefix = None if continues else _PREFIX.match(line)
    if prefix is not None:
        line = " " * prefix.end() + line[prefix.end() :]
    return _REPLACED.sub(lambda match: UNKNOWN * len(match.group()), line)
