"""The programs that a document shows: README, pages, notebooks, docstrings.

Blocks that build on each other are one program: one that loads a model, and the next one that uses
it. What is no Python, such as an outline with gaps or a line of output, is left out.
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython, parse_python, tree_of
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.fences import fences
from precision_lint.source.text.masking import Mask
from precision_lint.source.text.notebook import NotebookText
from precision_lint.source.text.text import SourceText

_LANGUAGES = ("python", "python3", "py", "py3", "pycon", "ipython", "ipython3")
_LANGUAGE = "|".join(_LANGUAGES)
_MARK = regex(
    rf"""^[ \t]*(?:
      (?P<prompt>>>>)(?=[ \t\r\n])
      | (?P<fence>`{{3,}}|~{{3,}})[ \t]*\{{?\.?(?:{_LANGUAGE})\b
      | \.\.[ ](?:code|code-block|sourcecode|testcode)::[ \t]*(?:{_LANGUAGE})?[ \t]*(?=[\r\n])
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""Where a block starts."""
_OPTION = regex(r"[ \t]*:[\w-]+:")
_PROMPT = regex(r"([ \t]*)(>>>|\.\.\.)([ \t]|$)")
_INDENT = regex(r"[ \t]*")
_CONTINUES = regex(r"[ \t]*(?:[)\]}#]|(?:else|elif|except|finally)\b)")

_LONGEST = 400
"""Rows of a block; a longer one that is no Python as a whole is not searched for what is."""

Lines = Mapping[int, str]
"""Rows of a document, from 1, and what is read there."""


@frozen(eq=False, slots=False)
class Example(ParsedPython):
    """A program that a document shows; its text has blanks for all the rest."""


@dataclass
class _Blocks:
    """The blocks of one program so far, and the names that they bind."""

    lines: dict[int, str] = field(default_factory=dict)
    body: list[ast.stmt] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)


def examples(text: SourceText, naming: re.Pattern[str]) -> list[Example]:
    """The programs of a document that name something, in order; none if it cannot be read."""
    if text.path.suffix == ".ipynb":
        return _of_notebook(text, naming)
    rows = re.split(r"\r\n|\r|\n", text.text)
    is_markdown = text.path.suffix not in {".py", ".rst"}
    blocks = list(_of_markdown(text, rows) if is_markdown else _shown(text.text, rows))
    if not any(map(naming.search, (line for block in blocks for line in block.values()))):
        return []
    mask = Mask(text.text)
    return [
        _example(text, rows, mask, program)
        for program in _programs(blocks)
        if any(map(naming.search, program.lines.values()))
    ]


def _of_notebook(text: SourceText, naming: re.Pattern[str]) -> list[Example]:
    try:
        cells = NotebookText.read(text)
        found = naming.search(cells.code)
        return [Example(cells, parse_python(cells).tree)] if found else []
    except Unparsable:
        return []


def _example(text: SourceText, rows: list[str], mask: Mask, program: _Blocks) -> Example:
    starts = text.line_starts
    parts = (
        (Span(starts[row - 1], starts[row - 1] + len(rows[row - 1])), program.lines[row])
        for row in sorted(program.lines)
    )
    shown = text.with_text(mask.replacing(parts))
    return Example(shown, ast.Module(program.body, type_ignores=[]))


# Blocks


def _of_markdown(text: SourceText, rows: list[str]) -> Iterator[Lines]:
    for fence in fences(text.text):
        if fence.language in _LANGUAGES and fence.body.start < fence.body.end:
            first, last = text.row(fence.body.start), text.row(fence.body.end - 1)
            yield _typed({row: rows[row - 1] for row in range(first, last + 1)})


def _shown(text: str, rows: list[str]) -> Iterator[Lines]:
    """The blocks of reStructuredText and docstrings: fences, directives, and what has prompts."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    end = 0
    for mark in _MARK.finditer(text):
        at = bisect_right(starts, mark.start()) - 1
        if at < end:
            continue
        start = at + 1
        if mark["prompt"]:
            start = at
            end = next((row for row in range(at, len(rows)) if not rows[row].strip()), len(rows))
        elif mark["fence"]:
            closing = (row for row in range(start, len(rows)) if _closes(rows[row], mark["fence"]))
            end = next(closing, start)
        else:
            while start < len(rows) and _OPTION.match(rows[start]):
                start += 1
            end = _end_of_indented(rows, start, _margin(rows[at]))
        yield _typed({row + 1: rows[row] for row in range(start, end)})


def _closes(line: str, marks: str) -> bool:
    return line.strip().startswith(marks)


def _end_of_indented(rows: list[str], start: int, margin: int) -> int:
    """The row after those that are indented by more than a margin."""
    end = start
    for at in range(start, len(rows)):
        if rows[at].strip():
            if _margin(rows[at]) <= margin:
                break
            end = at + 1
    return end


def _typed(lines: Lines) -> Lines:
    """What is typed at prompts, without these; all of the lines if there are none."""
    if not any(match[2] == ">>>" for match in map(_PROMPT.match, lines.values()) if match):
        return lines
    return {
        row: " " * match.end() + line[match.end() :]
        for row, line in lines.items()
        if (match := _PROMPT.match(line))
    }


def _margin(line: str) -> int:
    indent = _INDENT.match(line)
    assert indent is not None
    return indent.end()


# Programs


def _programs(blocks: Iterable[Lines]) -> list[_Blocks]:
    """The blocks, each with those before it that it takes names from."""
    programs: list[_Blocks] = []
    for lines in blocks:
        body = _statements(lines)
        if not body:
            continue
        bound, read = _names(body)
        needed = read - bound
        program = next((each for each in reversed(programs) if each.bound & needed), None)
        if program is None:
            program = _Blocks()
            programs.append(program)
        program.lines.update(lines)
        program.body += body
        program.bound |= bound
    return programs


def _names(body: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """The names that statements bind, and those that they read."""
    bound: set[str] = set()
    read: set[str] = set()
    for node in (inner for each in body for inner in walk(each)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
            case ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
    return bound, read - set(vars(builtins))


def _statements(lines: Lines) -> list[ast.stmt]:
    """The statements of a block at their rows."""
    written = [row for row, line in lines.items() if line.strip()]
    if not written:
        return []
    first, last = written[0], written[-1]
    code = [lines.get(row, "") for row in range(first, last + 1)]
    whole = _parsed(code, first)
    if whole is not None or len(code) > _LONGEST:
        return whole or []
    margin = min(_margin(line) for line in code if line.strip())
    starts = [
        at
        for at, line in enumerate(code)
        if line.strip() and _margin(line) == margin and not _CONTINUES.match(line)
    ]
    found: list[ast.stmt] = []
    for number, at in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(code)
        found += _parsed(code[at:end], first + at) or []
    return found


def _parsed(code: list[str], row: int) -> list[ast.stmt] | None:
    """The statements of some lines, of which the first is at a row; None if they are no Python."""
    is_indented = any(line[:1] in " \t" and line.strip() for line in code[:1])
    lines = ["if 1:", *code] if is_indented else code
    try:
        tree = tree_of("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    ast.increment_lineno(tree, row - 1 - is_indented)
    match tree.body:
        case [ast.If(body=body)] if is_indented:
            return body
    return None if is_indented else tree.body
