"""The commands of a Dockerfile: `RUN`, `CMD` and `ENTRYPOINT`, with the variables of `ENV`.

Each is a script of its own, for which the instructions before it that last are lines of shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import Embedded, ParsedConfig, ParsePart
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.masking import Mask

_INSTRUCTION = regex(r"[ \t]*([A-Za-z]+)(?=[ \t])")
_CONTINUED = regex(r"\\[ \t]*\r?\n?\Z")
_HERE = regex(r"<<-?[\"']?([A-Za-z_]\w*)")
_FLAGS = regex(r"(?:[ \t]*--[a-z]+(?:=\S*)?(?=\s))+")
_LIST = regex(r'("(?:\\.|[^"\\])*")|[\[\],]', re.DOTALL)
_VARIABLE = regex(r"([ \t]*[A-Za-z_]\w*)([ \t]+)(.*)\Z", re.DOTALL)
_PLAIN = regex(r"[\w./:@%+,-]*")
_ESCAPE = regex(r"\s*#\s*escape\s*=\s*`", re.IGNORECASE)


@frozen
class _Instruction:
    """An instruction, and the same number of characters of shell that do the same."""

    name: str
    span: Span
    shell: str


def image_commands(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """The scripts that an image is built and started with."""
    text = file.text.text
    if _ESCAPE.match(text):  # paths with backslashes: no place that trains
        return
    mask = Mask(text)
    lasting: list[_Instruction] = []
    for instruction in _instructions(text):
        match instruction.name:
            case "FROM":
                lasting.clear()
            case "ENV" | "WORKDIR":
                lasting.append(instruction)
            case "RUN" | "CMD" | "ENTRYPOINT":
                lines = ((line.span, line.shell) for line in (*lasting, instruction))
                part = parse(file, mask.replacing(lines), "shell", exports_all=True)
                if part is not None:
                    yield Embedded(instruction.name, part)


def _instructions(text: str) -> Iterator[_Instruction]:
    lines = text.splitlines(keepends=True)
    offset = index = 0
    while index < len(lines):
        start, name = offset, ""
        pieces: list[str] = []
        if match := _INSTRUCTION.match(lines[index]):
            name = match[1].upper()
        continues = True
        while continues and index < len(lines):
            line = lines[index]
            offset += len(line)
            index += 1
            if line.lstrip().startswith("#") or (pieces and not line.strip()):
                continues = bool(pieces)  # a comment between continued lines ends nothing
                line = " " * len(line)
            elif match := _CONTINUED.search(line):
                line = line[: match.start()] + " " * len(match.group())
            else:
                continues = False
            pieces.append(line)
        whole = "".join(pieces)
        body = []
        for delimiter in _HERE.findall(whole) if name in ("RUN", "COPY", "ADD") else ():
            while index < len(lines):
                body.append(lines[index])
                offset += len(lines[index])
                index += 1
                if body[-1].strip() == delimiter:
                    break
        if name:
            shell = _shell(name, whole) + "".join(body)
            yield _Instruction(name, Span(start, offset), shell)


def _shell(name: str, line: str) -> str:
    """An instruction as a line of shell."""
    match = _INSTRUCTION.match(line)
    assert match is not None
    keyword, rest = " " * match.end(), line[match.end() :]
    match name:
        case "WORKDIR":
            return keyword[:-2] + "cd" + rest
        case "ENV":
            return keyword + _variables(rest)
        case "RUN" if rest.lstrip().startswith("<<"):
            return keyword[:-2] + "sh" + rest
        case "RUN" if flags := _FLAGS.match(rest):
            rest = " " * flags.end() + rest[flags.end() :]
    if rest.lstrip().startswith("["):
        rest = _LIST.sub(lambda match: match[1] or " ", rest)
    return keyword + rest


def _variables(rest: str) -> str:
    """`A=b C=d` is shell; `A b` sets one variable, too."""
    match = _VARIABLE.match(rest)
    if match is None:
        return rest
    value = match[3].rstrip()
    after = match[3][len(value) :]
    if not _PLAIN.fullmatch(value):
        value = UNKNOWN * len(value)
    return f"{' ' * (len(match[2]) - 1)}{match[1]}={value}{after}"
