"""Where a new import goes among others: in its section, in order, as isort and ruff's `I` sort.

Imports that follow each other, with nothing but blank lines and comments between them, are sorted
as one block. A new import takes the place that it has in a sorted block; a block that is not sorted
stays as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from precision_lint.model.finding import Edit, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.parse import ParsedPython

AnyImport: TypeAlias = ast.Import | ast.ImportFrom

_SKIP = regex(r"#\s*(?:isort:\s*skip\b|isort:\s*off\b)")
_SPLIT = regex(r"^[ \t]*#\s*isort:\s*(?:split|on)\b", re.MULTILINE)


@frozen
class NewImport:
    """An import to add; without a `name`, `import module`."""

    module: str
    name: str = ""
    alias: str = ""

    @property
    def statement(self) -> str:
        head = f"from {self.module} import {self.name}" if self.name else f"import {self.module}"
        return f"{head} as {self.alias}" if self.alias else head


def blocks_of_imports(
    file: ParsedPython, body: Sequence[ast.stmt], before: int
) -> list[list[AnyImport]]:
    """The blocks of imports among the statements of a body that end before an offset."""
    if not body:
        return []
    blocks = file.fact((blocks_of_imports, body[0]), lambda: _blocks_of_imports(file, body))
    found = ([node for node in block if file.span_of(node).end <= before] for block in blocks)
    return [block for block in found if block]


def _blocks_of_imports(file: ParsedPython, body: Sequence[ast.stmt]) -> list[list[AnyImport]]:
    blocks: list[list[AnyImport]] = []
    last: ast.stmt | None = None
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom) or _is_skipped(file, node):
            last = None
            continue
        if last is None or not _are_together(file, last, node):
            blocks.append([])
        blocks[-1].append(node)
        last = node
    return blocks


def _is_skipped(file: ParsedPython, node: ast.stmt) -> bool:
    lines = file.text.span_of_rows(node.lineno, node.end_lineno or node.lineno)
    return _SKIP.search(file.text[lines]) is not None


def _are_together(file: ParsedPython, one: ast.stmt, other: ast.stmt) -> bool:
    """True for two imports that are sorted together: in one cell, and no comment splits them."""
    first, second = file.span_of(one), file.span_of(other)
    between = file.text[Span(first.end, second.start)]
    is_split = _SPLIT.search(between) or _SKIP.search(between)
    return not is_split and file.text.place(first).cell == file.text.place(second).cell


def added(
    file: ParsedPython, block: Sequence[AnyImport], new: NewImport, style: ImportStyle
) -> Edit:
    """The edit that writes an import at its place in a block, which is not empty."""
    return _merged(file, block, new, style) or _inserted(file, block, new, style)


# A statement of its own


def _inserted(
    file: ParsedPython, block: Sequence[AnyImport], new: NewImport, style: ImportStyle
) -> Edit:
    section, key = style.section(new.module), _key_of_new(new, style)
    statement = _statement(file, block[0], new, style)
    sections = [_section(node, style) for node in block]
    same = [node for node, own in zip(block, sections, strict=True) if own == section]
    if same:
        above = [node for node in same if _key(node, style) < key]
        if not above:
            return _before(file, same[0], statement)
        last = above[-1]
        below = [node for node in same if same.index(node) > same.index(last)]
        is_first = _is_from(last) != bool(new.name) and not style.force_sort_within_sections
        if is_first and below and bool(new.name) == _is_from(below[0]):
            return _before(file, below[0], statement)  # it has its kind's blank lines above
        return _after(file, last, statement, style.lines_between_types if is_first else 0)
    smaller = [node for node, own in zip(block, sections, strict=True) if own < section]
    if smaller:
        last = smaller[-1]
        following = next((own for own in sections if own > section), None)
        blank = style.lines_above(section, _section(last, style))
        if blank and following is not None and not style.lines_above(following, section):
            return _before(file, block[sections.index(following)], statement)
        return _after(file, last, statement, blank)
    return _above(file, block[0], statement, style.lines_above(sections[0], section))


def _statement(file: ParsedPython, node: AnyImport, new: NewImport, style: ImportStyle) -> str:
    """The import beside another one, with its name on a line of its own if all have one."""
    if not new.name or new.alias or style.force_grid_wrap != 1:
        return new.statement
    newline, indent = file.text.newline, _indent(file, node)
    return f"from {new.module} import ({newline}{indent}    {new.name},{newline}{indent})"


def _after(file: ParsedPython, node: ast.stmt, statement: str, blank: int) -> Edit:
    text, newline = file.text, file.text.newline
    indent = _indent(file, node)
    line = text.line_span(text.position(file.span_of(node).end).row)
    written = newline * blank + indent + statement
    if text[line].endswith(("\n", "\r")):
        return Edit(Span(line.end, line.end), written + newline)
    return Edit(Span(line.end, line.end), newline + written)


def _before(file: ParsedPython, node: ast.stmt, statement: str) -> Edit:
    """Directly before a statement: a comment above it is the title of its section."""
    start = file.span_of(node).start
    new = statement + file.text.newline + _indent(file, node)
    return Edit(Span(start, start), new)


def _above(file: ParsedPython, node: ast.stmt, statement: str, blank: int) -> Edit:
    """Above a statement and its comments, unless these begin the file or the block."""
    text = file.text
    row = first = text.row(file.span_of(node).start)
    while row > 1 and text.line(row - 1).lstrip().startswith("#"):
        row -= 1
    if row == 1 or text.line(row - 1).strip():
        row = first
    start = text.line_span(row).start
    indent = _indent(file, node)
    return Edit(Span(start, start), indent + statement + text.newline * (1 + blank))


def _indent(file: ParsedPython, node: ast.stmt) -> str:
    start = file.span_of(node).start
    before = file.text[Span(file.text.line_span(file.text.row(start)).start, start)]
    return before if not before.strip() else ""


# One more name in a statement


def _merged(
    file: ParsedPython, block: Sequence[AnyImport], new: NewImport, style: ImportStyle
) -> Edit | None:
    """`from m import a` to `from m import a, new`; None where the style has a line for each."""
    if not new.name or style.force_single_line or (new.alias and not style.combine_as_imports):
        return None
    for node in block:
        is_same = isinstance(node, ast.ImportFrom) and not node.level and node.module == new.module
        has_alias = any(alias.asname or alias.name == "*" for alias in node.names)
        if is_same and (not has_alias or style.combine_as_imports):
            return _with_name(file, node, new, style)
    return None


def _with_name(
    file: ParsedPython, node: AnyImport, new: NewImport, style: ImportStyle
) -> Edit | None:
    text, name = file.text, f"{new.name} as {new.alias}" if new.alias else new.name
    starts = [text.offset_of_utf8(one.lineno, one.col_offset) for one in node.names]
    ends = [
        text.offset_of_utf8(one.end_lineno or one.lineno, one.end_col_offset or 0)
        for one in node.names
    ]
    key = _key_of_name(new.name, style)
    count = sum(_key_of_name(one.name, style) < key for one in node.names)
    span = file.span_of(node)
    if text.row(span.start) == text.row(span.end):
        line = text.line(text.row(span.start))
        is_long = len(line) + len(name) + 2 > style.line_length
        is_wrapped = 0 < style.force_grid_wrap <= len(node.names) + 1
        is_open = text[span].endswith(text[Span(starts[0], ends[-1])])
        if (is_long or is_wrapped) and is_open:
            return _in_parentheses(file, span, starts[0], node, (count, name))
        separator = ", "
    else:
        row_start = text.line_span(text.row(starts[0])).start
        indent = text[Span(row_start, starts[0])]
        separator = ", " if indent.strip() else f",{text.newline}{indent}"
    if count == len(starts):
        return Edit(Span(ends[-1], ends[-1]), separator + name)
    return Edit(Span(starts[count], starts[count]), name + separator)


def _in_parentheses(
    file: ParsedPython, span: Span, first: int, node: AnyImport, added: tuple[int, str]
) -> Edit:
    """The names of a statement that gets too long, each on a line of its own."""
    newline, indent = file.text.newline, _indent(file, node)
    names = [f"{one.name} as {one.asname}" if one.asname else one.name for one in node.names]
    names.insert(*added)
    lines = "".join(f"{indent}    {name},{newline}" for name in names)
    return Edit(Span(first, span.end), f"({newline}{lines}{indent})")


# Order

_Natural: TypeAlias = tuple[tuple[int, int], ...]
_Key: TypeAlias = tuple[object, ...]


def _key(node: AnyImport, style: ImportStyle) -> _Key:
    first = min(node.names, key=lambda alias: _key_of_name(alias.name, style))
    if isinstance(node, ast.ImportFrom):
        return _key_of(node.module or "", node.level, first.name, style)
    return _key_of(node.names[0].name, 0, "", style)


def _key_of_new(new: NewImport, style: ImportStyle) -> _Key:
    return _key_of(new.module, 0, new.name, style)


def _key_of(module: str, level: int, name: str, style: ImportStyle) -> _Key:
    """The order within a section: `import m` before `from m import n`, unless mixed."""
    is_from = bool(name)
    kind = 0 if style.force_sort_within_sections else (is_from != style.from_first)
    return (
        kind,
        module not in style.force_to_top,
        len(module) + level if style.length_sort else 0,
        -level,
        () if style.case_sensitive else _natural(module.lower()),
        _natural(module),
        _key_of_name(name, style) if name else (),
    )


def _key_of_name(name: str, style: ImportStyle) -> _Key:
    """Constants, classes, then variables; each in natural order."""
    kind = 2
    if len(name) > 1 and name.isupper():
        kind = 0
    elif name[:1].isupper():
        kind = 1
    return (
        kind if style.order_by_type else 0,
        len(name) if style.length_sort else 0,
        () if style.case_sensitive else _natural(name.lower()),
        _natural(name),
    )


def _natural(text: str) -> _Natural:
    """`v2` before `v10`."""
    return tuple(_parts(text))


def _parts(text: str) -> Iterator[tuple[int, int]]:
    for part in re.findall(r"\d+|\D", text):
        yield (ord("0"), int(part)) if part.isdecimal() else (ord(part), 0)


def _section(node: AnyImport, style: ImportStyle) -> int:
    if isinstance(node, ast.ImportFrom):
        return style.section(node.module or "", node.level)
    return style.section(node.names[0].name)


def _is_from(node: AnyImport) -> bool:
    return isinstance(node, ast.ImportFrom)
