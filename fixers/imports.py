"""Importing a name: the edit that adds the import, and the local name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from precision_lint.fixers.import_order import AnyImport, NewImport, added, blocks_of_imports
from precision_lint.model.finding import Edit, Span
from precision_lint.model.memo import fact
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    Definition,
    FunctionDefinition,
    blocks,
    statements,
)

_DEFAULT = ImportStyle()


def import_name(
    file: ParsedPython, module: str, name: str, before: int, style: ImportStyle = _DEFAULT
) -> tuple[str, list[Edit]]:
    """The local name of `module.name`, and the edits that import it if necessary.

    The import goes to its sorted place among the imports at the top level where torch is imported:
    what must run before torch, still does. It goes into the function where torch itself is only
    imported there, or under a condition such as `try:` or `if TYPE_CHECKING:`. Imports that end
    after the offset `before`, where the name is used, do not count.
    """
    functions = _functions_around(file, before)
    bodies = [file.tree.body, *(function.body for function in functions)]
    found = [blocks_of_imports(file, body, before) for body in bodies]
    for node in (node for body in found for block in body for node in block):
        if (local := _imported(node, module, name)) is not None:
            return local, []
    local = _free_name(file, name)
    new = NewImport(module, name, "" if local == name else local)
    block = next((one for body in found for one in body if any(map(_is_torch, one))), None)
    if block is None and functions and _is_torch_conditional(file):
        inner = functions[-1]
        block = found[-1][0] if found[-1] and _begins(inner.body, found[-1][0][0]) else None
        if block is None and file.span_of(inner.body[0]).start > file.span_of(inner).start:
            edit = _first_in_function(file, inner, new.statement)
            if edit is not None:
                return local, [edit]
    if block is None and found[0]:
        block = found[0][-1]
    if block is not None:
        return local, [added(file, block, new, style)]
    return local, [_first_in_file(file, new.statement, style)]


def _imported(node: AnyImport, module: str, name: str) -> str | None:
    """What an import calls `module.name`; None if it does not import it."""
    for alias in node.names:
        match node:
            case ast.ImportFrom(module=source, level=0) if (source, alias.name) == (module, name):
                return alias.asname or name
            case ast.Import() if alias.name == module:
                return f"{alias.asname or module}.{name}"
    return None


def _functions_around(file: ParsedPython, offset: int) -> list[FunctionDefinition]:
    """The functions in whose bodies an offset is, the outermost first."""
    return [
        node
        for node in functions_around(file, offset)
        if file.span_of(node.body[0]).start <= offset < file.span_of(node.body[-1]).end
    ]


def _is_torch(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] == "torch" for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] == "torch"
    return False


@fact
def _is_torch_conditional(file: ParsedPython) -> bool:
    """True if the file imports torch under a condition at its top level."""
    return any(
        _is_torch(inner)
        for node in file.tree.body
        if isinstance(node, ast.Try | ast.If)
        for inner in walk(node)
    )


def _begins(body: Sequence[ast.stmt], node: ast.stmt) -> bool:
    """True if a statement is the first of a body, but for a docstring."""
    return node in body[: 1 + _is_docstring(body[0])]


def _free_name(file: ParsedPython, name: str) -> str:
    """`name`, prefixed with underscores until the file uses it only as an attribute."""

    def free() -> str:
        found = name
        while re.search(rf"(?<![.\w]){found}\b", file.text.text):
            found = f"_{found}"
        return found

    return file.fact((_free_name, name), free)


def _first_in_function(
    file: ParsedPython, function: FunctionDefinition, statement: str
) -> Edit | None:
    """The import and a blank line before the first statement; None if it shares its line."""
    text, newline = file.text, file.text.newline
    body = function.body[1:] if _is_docstring(function.body[0]) else function.body
    if not body:
        return None
    start = file.span_of(body[0]).start
    line = text.line_span(text.row(start)).start
    indent = text[Span(line, start)]
    if indent.strip():
        return None
    return Edit(Span(start, start), statement + newline * 2 + indent)


def _first_in_file(file: ParsedPython, statement: str, style: ImportStyle) -> Edit:
    """Below the docstring or the header, with the blank lines that follow imports."""
    text, newline = file.text, file.text.newline
    row = _rows_of_header(file)
    first = file.tree.body[0] if file.tree.body else None
    has_docstring = first is not None and _is_docstring(first)
    if first is not None and has_docstring:
        row = text.row(file.span_of(first).end)
        line = text.line_span(row)
        if not text[line].endswith(("\n", "\r")):
            return Edit(Span(line.end, line.end), newline * 2 + statement)
    rows = range(row + 1, len(text.line_starts) + 1)
    blank = next((each - row - 1 for each in rows if text.line(each).strip()), 0)
    before = newline if has_docstring and not blank else ""
    if row and blank:  # one of the blank lines stays above
        row, blank = row + 1, blank - 1
    offset = text.line_span(row).end if row else 0
    missing = max(0, _blank_lines_after(file, offset, style) - blank)
    return Edit(Span(offset, offset), before + statement + newline * (1 + missing))


def _blank_lines_after(file: ParsedPython, offset: int, style: ImportStyle) -> int:
    """How many blank lines are between imports at an offset and the code below."""
    if style.lines_after_imports >= 0:
        return style.lines_after_imports
    after = next((node for node in file.tree.body if file.span_of(node).start >= offset), None)
    return 0 if after is None else 1 + isinstance(after, Definition)


def _is_docstring(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _rows_of_header(file: ParsedPython) -> int:
    """The rows of the shebang, the encoding cookie and the comments that follow them."""
    text, row = file.text, 1
    while row < len(text.line_starts) and text.line(row).startswith("#"):
        row += 1
    return row - 1


def remove_name(
    file: ParsedPython, statement: ast.stmt, alias: ast.alias, others: Iterable[Edit] = ()
) -> Edit | None:
    """The edit that removes one name from an import, or the whole statement if it is the only name.

    None if more than the name would be lost: a comment, or the only statement of a block. Blank
    lines around a statement stay where one of the `others` puts an import in its place.
    """
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    position = statement.names.index(alias)
    if len(statement.names) == 1:
        span = _lines_of(file, statement)
        if span is not None:
            wider = _with_blank_lines(file, span)
            is_replaced = any(
                wider.start <= one.span.start <= wider.end
                and one.content.lstrip().startswith(("import ", "from "))
                for one in others
            )
            span = span if is_replaced else wider
    elif position + 1 < len(statement.names):
        span = Span(_start(file, alias), _start(file, statement.names[position + 1]))
    else:
        span = Span(_end(file, statement.names[position - 1]), _end(file, alias))
    return None if span is None or "#" in file.text[span] else Edit(span, "")


def _lines_of(file: ParsedPython, statement: ast.stmt) -> Span | None:
    """The lines of a statement that shares them with no other and is not alone in its block."""
    text, own = file.text, file.span_of(statement)
    lines = Span(text.line_span(text.row(own.start)).start, text.line_span(text.row(own.end)).end)
    around = text.text[lines.start : own.start] + text.text[own.end : lines.end]
    is_alone = any(
        block.body == [statement] for node in statements(file.tree.body) for block in blocks(node)
    )
    return None if around.strip() or is_alone else lines


def _with_blank_lines(file: ParsedPython, lines: Span) -> Span:
    """The lines with the blank ones on one side, if there are blank ones on both sides.

    Nothing above, or the line that opens a block, is like a blank line.
    """
    text = file.text
    if text.place(lines).cell is not None:
        return lines
    first, last = text.row(lines.start), text.row(max(lines.start, lines.end - 1))
    above, below = first, last
    while above > 1 and not text.line(above - 1).strip():
        above -= 1
    while below < len(text.line_starts) and not text.line(below + 1).strip():
        below += 1
    if below == last:
        return lines
    if above < first and above > 1:
        return Span(text.line_starts[above - 1], lines.end)
    opens = above > 1 and text.line(above - 1).rstrip().endswith(":")
    return Span(lines.start, text.line_span(below).end) if above == 1 or opens else lines


def _start(file: ParsedPython, alias: ast.alias) -> int:
    return file.text.offset_of_utf8(alias.lineno, alias.col_offset)


def _end(file: ParsedPython, alias: ast.alias) -> int:
    assert alias.end_lineno is not None
    assert alias.end_col_offset is not None
    return file.text.offset_of_utf8(alias.end_lineno, alias.end_col_offset)
