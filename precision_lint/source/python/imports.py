"""The names that import statements bind, and what those names stand for."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import blocks

Import = ast.Import | ast.ImportFrom

_INDENTED = regex(r"[\r\n][ \t]+(?:from|import)\b")


@frozen
class Imported:
    """A name that an import binds; `*` for what `import *` brings."""

    name: str
    qualified: str
    """What it stands for: `torch.nn.functional`; a relative import keeps its dots."""

    alias: ast.alias


def imported(node: Import) -> Iterator[Imported]:
    """The names that an import binds."""
    if isinstance(node, ast.ImportFrom):
        base = base_of(node)
        joiner = "" if base.endswith(".") else "."
        for alias in node.names:
            yield Imported(alias.asname or alias.name, f"{base}{joiner}{alias.name}", alias)
        return
    for alias in node.names:
        # `import a.b` binds `a`, `import a.b as c` binds `a.b`
        root = alias.name.partition(".")[0]
        yield Imported(alias.asname or root, alias.name if alias.asname else root, alias)


def base_of(node: ast.ImportFrom) -> str:
    """The module that an import takes names from; a relative one keeps its dots."""
    return "." * node.level + (node.module or "")


@fact
def imported_names(file: ParsedPython) -> Mapping[str, str]:
    """Local name to qualified name for every import in a module; relative ones keep their dots.

    Imports inside functions count for the whole module: a name rarely means two things in a file.
    """
    return {
        each.name: each.qualified
        for node in _imports(file)
        if isinstance(node, Import)
        for each in imported(node)
        if each.name != "*"
    }


def _imports(file: ParsedPython) -> Iterator[ast.stmt]:
    """The statements among which the imports are: below the top level only where there are any."""
    rows = [file.text.row(match.end()) for match in _INDENTED.finditer(file.text.text)]
    pending: list[ast.stmt] = file.tree.body[::-1]
    while pending:
        node = pending.pop()
        yield node
        first = bisect_left(rows, node.lineno)
        if first < len(rows) and rows[first] <= (node.end_lineno or node.lineno):
            for block in reversed(blocks(node)):
                pending += reversed(block.body)


def starred_imports(file: ParsedPython) -> tuple[str, ...]:
    """The modules of `from … import *`; relative ones keep their dots."""
    return tuple(
        base_of(node)
        for node in _imports(file)
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    )
