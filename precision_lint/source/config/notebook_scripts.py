"""What a notebook starts and writes: `!command`, `%%bash`, `%%writefile config.yaml`.

Each command has a shell of its own, and so has each cell of shell. All get the environment that
`%env` and `os.environ` have set above them. What IPython fills in, `{x}` and `$x`, is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import Embedded, ParsedConfig, ParsePart
from precision_lint.source.shell.variables import Assigned
from precision_lint.source.shell.words import UNKNOWN, Text
from precision_lint.source.text.masking import Mask
from precision_lint.source.text.notebook import Cell, NotebookText
from precision_lint.source.text.notebook_magics import Escape

_COMMAND = regex(r"!!?|%(?:sx|system|run)(?=[ \t])")
_ENVIRONMENT = regex(r"%(?:set_)?env[ \t]+(([A-Za-z_]\w*)(?:[ \t]*=|[ \t])[ \t]*)(.*)")
_OS_ENVIRON = regex(
    r"""^([ \t]*)os\.environ(?:
        \[(?P<q>["'])(?P<name>[A-Za-z_]\w*)(?P=q)\][ \t]*=(?!=)[ \t]*
        (?:(?P<r>["'])(?P<value>(?:(?!(?P=r))[^\\\r\n])*)(?P=r)[ \t]*(?=[\r\n\#]|\Z))?
      | \.(?:update|clear|pop)\b)""",
    re.VERBOSE | re.MULTILINE,
)
_EXPANDED = regex(r"\$\$?(?:\{[^{}\r\n]*\}|\w+)|\{[^{}\r\n]*\}")
_UNCLEAR = regex(r"[${}#]")


def notebook_scripts(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """The scripts of a notebook and the configurations that it writes, in their order."""
    notebook = file.text
    assert isinstance(notebook, NotebookText)
    mask = Mask(notebook.text)
    environment: dict[str, Assigned] = {}
    appended = {_file(cell) for cell in notebook.cells if cell.magic and cell.magic.appends}
    for cell in notebook.cells:
        if cell.kind is None or (name := _file(cell)) in appended:
            continue
        if cell.kind == "python":
            yield from _of_python(file, parse, notebook, cell, mask, environment)
            continue
        given = {} if name else dict(environment)
        part = parse(file, mask.showing([cell.body]), cell.kind, given=given)
        if part is not None:
            yield Embedded(name or f"cell {cell.number}", part)
            yield from part.embedded if cell.kind == "shell" else ()
    part = parse(file, mask.showing([]), "shell", given=environment)
    if part is not None and environment:
        yield Embedded("environment", part)


def _file(cell: Cell) -> str | None:
    """The path that a cell is written to; what IPython fills in is unknown."""
    path = cell.magic.file if cell.magic else None
    return None if path is None else _EXPANDED.sub(UNKNOWN, path)


def _of_python(
    file: ParsedConfig,
    parse: ParsePart,
    notebook: NotebookText,
    cell: Cell,
    mask: Mask,
    environment: dict[str, Assigned],
) -> Iterator[Embedded]:
    """The commands of a Python cell, with the `environment` that it changes from line to line."""
    lines: list[tuple[int, Escape | re.Match[str]]] = [
        *((escape.span.start, escape) for escape in notebook.escapes[cell.number]),
        *((place.start(), place) for place in _OS_ENVIRON.finditer(notebook.code, *cell.body)),
    ]
    for _, line in sorted(lines, key=lambda line: line[0]):
        match line:
            case Escape(span=span, is_indented=is_indented):
                written = notebook[span]
                if command := _COMMAND.match(written):
                    shell = " " * command.end() + _expanded(written[command.end() :])
                    masked = mask.replacing([(span, shell)])
                    part = parse(file, masked, "shell", given=dict(environment))
                    if part is not None:
                        yield Embedded(f"cell {cell.number}", part)
                elif (env := _ENVIRONMENT.match(written)) is not None:
                    value = None if is_indented else env[3].rstrip()
                    at = Span(span.start + env.start(1), span.end)
                    environment[env[2]] = _assigned(at, span.start + env.start(3), value)
            case re.Match() as place:
                if place["name"] is None:
                    environment.clear()
                    continue
                value = None if place[1] else place["value"]
                environment[place["name"]] = _assigned(
                    Span(*place.span()), place.start("value"), value
                )


def _expanded(command: str) -> str:
    return _EXPANDED.sub(lambda match: UNKNOWN * len(match.group()), command)


def _assigned(span: Span, start: int, value: str | None) -> Assigned:
    """A variable with a value that stands at an offset, or with one that is unknown."""
    if value is None or _UNCLEAR.search(value):
        return Assigned(span, Text(UNKNOWN, (span.start,)))
    return Assigned(span, Text(value, tuple(range(start, start + len(value)))))
