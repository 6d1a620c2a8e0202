"""Configurations that a script writes with here-documents: `cat > ds_config.json <<EOF`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from precision_lint.model.finding import Span
from precision_lint.project.discovery import kind_of
from precision_lint.source.config.config_file import Embedded, Format, ParsedConfig, ParsePart
from precision_lint.source.config.settings_tree import EXPANDED
from precision_lint.source.shell.commands import Heredoc
from precision_lint.source.shell.words import UNKNOWN, Lexer
from precision_lint.source.text.masking import Mask

_UNTOLD = frozenset({"", ".config", ".conf", ".cfg"})
_FIRST_LINES: tuple[tuple[re.Pattern[str], Format], ...] = (
    (re.compile(r"#!.*\b(?:ba|z|k|da)?sh\b"), "shell"),
    (re.compile(r"[{\[]\s*$|\{\s*\""), "json"),
    (re.compile(r"\[[\w.-]+\]\s*$|[\w.-]+ +=(?!=)"), "toml"),
    (re.compile(r"(?:export\s+)?[A-Za-z_]\w*="), "shell"),
    (re.compile(r"[\w.-]+:(?:\s|$)|---"), "yaml"),
)
_LINE = re.compile(r"^[ \t]*(?!#(?!!))(\S.*)$", re.MULTILINE)
_TABS = re.compile(r"^\t+(?=\S)", re.MULTILINE)
_FILLED = re.compile(r"^[^\r\n\S]*\S", re.MULTILINE)


def here_documents(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """The configurations that a script writes, and the scripts that it pipes into a shell."""
    if file.script is None:
        return
    mask = Mask((file.masked or file.text).text)
    for heredoc in file.script.heredocs:
        name = heredoc.target.chars if heredoc.target else ""
        kind = "shell" if heredoc.is_run else _kind(name, mask.text, heredoc.body)
        if kind is None:
            continue
        body = _body(mask.text, heredoc, kind)
        if body is None:
            continue
        given = heredoc.command.environment if heredoc.is_run else {}
        part = parse(file, mask.replacing([(heredoc.body, body)]), kind, given=given)
        if part is not None:
            yield Embedded(name, part, heredoc)


def _kind(name: str, text: str, body: Span) -> Format | None:
    """What is written: the name says it, or the first line of what has no telling name."""
    path = PurePosixPath(name)
    kind = kind_of(path, markdown=False)
    if kind is not None:
        return None if kind == "python" else kind
    if path.suffix.lower() not in _UNTOLD and not name.endswith(UNKNOWN):
        return None
    line = _LINE.search(text, body.start, body.end)
    kinds = (kind for pattern, kind in _FIRST_LINES if line and pattern.match(line[1]))
    return next(kinds, None)


def _body(text: str, heredoc: Heredoc, kind: Format) -> str | None:
    """The body as it is written to the file, at the same offsets; None if that cannot be had."""
    start, end = heredoc.body
    body = text[start:end]
    if not heredoc.quoted:
        try:
            spans = list(Lexer(text, range(len(text))).expansions(start, end))
        except ValueError:
            return None
        pieces = []
        for span in spans:
            pieces += [text[start : span.start], _expanded(text, span, kind)]
            start = span.end
        body = "".join([*pieces, text[start:end]])
    if heredoc.tabs and kind == "yaml":
        # YAML knows no tabs. They are blanks here, if all lines lose as many.
        if len({len(match.group()) for match in _TABS.finditer(body)}) > 1:
            return None
        if len(_TABS.findall(body)) != len(_FILLED.findall(body)):
            return None
        body = _TABS.sub(lambda match: " " * len(match.group()), body)
    return body


def _expanded(text: str, span: Span, kind: Format) -> str:
    """What stands for an expansion: nobody knows its value."""
    written = text[span.start : span.end]
    unknown = UNKNOWN if kind == "shell" else EXPANDED
    match written:
        case "\\\\":  # one of the two is written
            is_last = kind == "shell" and text[span.end : span.end + 1] in ("\r", "\n")
            return (" " if is_last else unknown) + "\\"
        case "\\\n" | "\\\r\n":  # none is, and the lines are one
            return written if kind == "shell" else " " * len(written)
        case _:
            return unknown * len(written)
