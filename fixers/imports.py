"""Importing a name: the edit that adds the import, and the local name."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from precision_lint.model.finding import Edit, Span
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import blocks, statements


def import_name(file: ParsedPython, module: str, name: str, before: int) -> tuple[str, list[Edit]]:
    """The local name of `module.name`, and the edits that import it if necessary.

    The import goes below the last plain import at the top level that ends before the offset
    `before`, so that code which must run before those imports still does; or else below the
    docstring and `__future__` imports. Imports under `if TYPE_CHECKING:`, in `try:` or in functions
    do not count: they may not have run.
    """
    imports = [
        node
        for node in file.tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and file.span_of(node).end <= before
    ]
    for node in imports:
        for alias in node.names:
            match node:
                case ast.ImportFrom(module=source, level=0) if (source, alias.name) == (
                    module,
                    name,
                ):
                    return alias.asname or name, []
                case ast.Import() if alias.name == module and (alias.asname or "." not in module):
                    return f"{alias.asname or module}.{name}", []
                case ast.Import() if alias.name == module:
                    return f"{module}.{name}", []
    local = _free_name(file, name)
    statement = f"from {module} import {name}" + ("" if local == name else f" as {local}")
    return local, [_insertion(file, imports, statement)]


def _free_name(file: ParsedPython, name: str) -> str:
    """`name`, prefixed with underscores until the file uses it only as an attribute."""
    while re.search(rf"(?<![.\w]){name}\b", file.text.text):
        name = f"_{name}"
    return name


def _insertion(file: ParsedPython, imports: Sequence[ast.stmt], statement: str) -> Edit:
    text, newline = file.text, file.text.newline
    after: ast.stmt | None = imports[-1] if imports else None
    if after is None and file.tree.body and _is_docstring(file.tree.body[0]):
        after = file.tree.body[0]
    if after is None:
        offset = _below_header(file)
        return Edit(Span(offset, offset), statement + newline)
    end = file.span_of(after).end
    line = text.line_span(text.position(end).row)
    blank = newline if _is_docstring(after) else ""
    if text[line].endswith(("\n", "\r")):
        return Edit(Span(line.end, line.end), blank + statement + newline)
    return Edit(Span(line.end, line.end), newline + blank + statement)


def _is_docstring(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _below_header(file: ParsedPython) -> int:
    """The offset below the shebang, the encoding cookie and the comments that follow them."""
    text = file.text
    row = 1
    while row < len(text.line_starts) and text.line(row).startswith("#"):
        row += 1
    return text.line_starts[row - 1]


def remove_name(file: ParsedPython, statement: ast.stmt, alias: ast.alias) -> Edit | None:
    """The edit that removes one name from an import, or the whole statement if it is the only name.

    None if more than the name would be lost: a comment, or the only statement of a block.
    """
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    position = statement.names.index(alias)
    if len(statement.names) == 1:
        span = _lines_of(file, statement)
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


def _start(file: ParsedPython, alias: ast.alias) -> int:
    return file.text.offset_of_utf8(alias.lineno, alias.col_offset)


def _end(file: ParsedPython, alias: ast.alias) -> int:
    assert alias.end_lineno is not None
    assert alias.end_col_offset is not None
    return file.text.offset_of_utf8(alias.end_lineno, alias.end_col_offset)
