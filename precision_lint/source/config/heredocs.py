"""Configurations that a script writes with here-documents: `cat > ds_config.json <<EOF`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.project.discovery import kind_of
from precision_lint.source.config.config_file import Embedded, Format, ParsedConfig, ParsePart
from precision_lint.source.config.settings_tree import EXPANDED
from precision_lint.source.shell.commands import Heredoc, is_remote
from precision_lint.source.shell.words import UNKNOWN, Lexer
from precision_lint.source.text.masking import Mask

_UNTOLD = frozenset({"", ".config", ".conf", ".cfg"})
_FIRST_LINES: tuple[tuple[re.Pattern[str], Format], ...] = (
    (regex(r"#!.*\b(?:ba|z|k|da)?sh\b"), "shell"),
    (regex(r"[{\[]\s*$|\{\s*\""), "json"),
    (regex(r"\[[\w.-]+\]\s*$|[\w.-]+ +=(?!=)"), "toml"),
    (regex(r"(?:export\s+)?[A-Za-z_]\w*="), "shell"),
    (regex(r"[\w.-]+:(?:\s|$)|---"), "yaml"),
)
_VARIABLE = regex(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)
_LINE = regex(r"^[ \t]*(?!#(?!!))(\S.*)$", re.MULTILINE)
_TABS = regex(r"^\t+(?=\S)", re.MULTILINE)
_FILLED = regex(r"^[^\r\n\S]*\S", re.MULTILINE)


def here_documents(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """The configurations that a script writes, and the scripts that it pipes into a shell, or into
    Python.
    """
    if file.script is None:
        return
    mask = Mask((file.masked or file.text).text)
    for heredoc in file.script.heredocs:
        name = heredoc.target.chars if heredoc.target else ""
        kind = heredoc.runs or _kind(name, mask.text, heredoc.body)
        if kind is None:
            continue
        expanded = _expansions(mask.text, heredoc)
        if expanded is None:
            continue
        if kind == "python" and (expanded or heredoc.tabs):
            continue  # the shell writes a part of the program
        body = _body(mask.text, heredoc, kind, expanded)
        if body is None:
            continue
        is_child = heredoc.runs == "shell" and not is_remote(heredoc.command.words)
        given = dict(heredoc.command.environment) if is_child else {}
        if kind == "shell":
            given |= heredoc.values
        part = parse(file, mask.replacing([(heredoc.body, body)]), kind, given=given)
        if part is not None:
            yield Embedded(name, _filled(part, expanded, kind), heredoc)


def _expansions(text: str, heredoc: Heredoc) -> dict[Span, str | None] | None:
    """What the shell replaces in a body, and by what if that is known; None if that is unclear."""
    if heredoc.quoted:
        return {}
    try:
        spans = list(Lexer(text, range(len(text))).expansions(*heredoc.body))
    except ValueError:
        return None
    found: dict[Span, str | None] = {}
    for span in spans:
        name = _VARIABLE.fullmatch(text, *span)
        assigned = heredoc.values.get(name[1] or name[2]) if name else None
        found[span] = assigned.text.chars if assigned is not None else None
    return found


def _filled(part: ParsedConfig, expanded: dict[Span, str | None], kind: Format) -> ParsedConfig:
    """The file with the values of variables that are known."""
    values = {span: value for span, value in expanded.items() if value is not None}
    if not values or kind == "shell":
        return part
    from precision_lint.source.config.filled import Filling
    from precision_lint.source.config.trees import read_literal

    unknown = frozenset(expanded) - values.keys()
    text = part.text
    filling = Filling(text.text, values, unknown, lambda literal: read_literal(text, literal, kind))
    return replace(part, documents=tuple(map(filling.value, part.documents)))


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


def _body(
    text: str, heredoc: Heredoc, kind: Format, expanded: dict[Span, str | None]
) -> str | None:
    """The body as it is written to the file, at the same offsets; None if that cannot be had."""
    start, end = heredoc.body
    pieces = []
    for span, value in expanded.items():
        is_left = kind == "shell" and value is not None and _stays(text, span, heredoc)
        written = text[slice(*span)] if is_left else _expanded(text, span, kind)
        pieces += [text[start : span.start], written]
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


def _stays(text: str, span: Span, heredoc: Heredoc) -> bool:
    """True for a variable that the inner script may as well expand by itself."""
    line = text[text.rfind("\n", 0, span.start) + 1 : text.find("\n", span.end)]
    name = text[slice(*span)].strip("${}")
    assigns = re.search(rf"^[ \t]*(?:\w+[ \t]+)*{name}=", text[slice(*heredoc.body)], re.MULTILINE)
    return "'" not in line and assigns is None


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
