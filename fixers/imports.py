"""Importing a name: the edit that adds the import, and what the name is called here."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from precision_lint.finding import Edit, Span
from precision_lint.source.python import PythonFile


def import_name(file: PythonFile, module: str, name: str, before: int) -> tuple[str, list[Edit]]:
    """What `module.name` is called in this file, and the edits that import it if nothing does.

    The import goes below the last plain import at the top level that ends before the offset
    `before`, so that what those imports need to happen first still happens first; else below the
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


def _free_name(file: PythonFile, name: str) -> str:
    """`name`, or with underscores in front until the file has no such word."""
    while re.search(rf"\b{name}\b", file.text.text):
        name = f"_{name}"
    return name


def _insertion(file: PythonFile, imports: Sequence[ast.stmt], statement: str) -> Edit:
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


def _below_header(file: PythonFile) -> int:
    """The offset below the shebang, the encoding cookie and the comments that follow them."""
    text = file.text
    row = 1
    while row < len(text.line_starts) and text.line(row).startswith("#"):
        row += 1
    return text.line_starts[row - 1]
