"""The names that a module's imports bind, as qualified names."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from precision_lint.source.python import ParsedPython

_COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip


_INDENTED = re.compile(r"^[ \t]+(?:from|import)\b", re.MULTILINE)


def imported_names(file: ParsedPython) -> Mapping[str, str]:
    """Local name to qualified name for every import in a module; relative ones keep their dots.

    Imports inside functions count for the whole module: a name rarely means two things in a file.
    """
    names: dict[str, str] = {}
    for node in _imports(file):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    # `import a.b` binds `a`, `import a.b as c` binds `a.b`
                    local = alias.asname or alias.name.partition(".")[0]
                    names[local] = alias.name if alias.asname else local
            case ast.ImportFrom(module=module, names=aliases, level=level):
                base = "." * level + (module or "")
                for alias in aliases:
                    if alias.name != "*":
                        joiner = "" if base.endswith(".") else "."
                        names[alias.asname or alias.name] = f"{base}{joiner}{alias.name}"
    return names


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
                pending += block[::-1]


def starred_imports(tree: ast.Module) -> tuple[str, ...]:
    """The modules of `from … import *`; relative ones keep their dots."""
    return tuple(
        "." * node.level + (node.module or "")
        for node in statements(tree.body)
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    )


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement at or below a body; `ast.walk` would visit every expression too."""
    pending: list[ast.stmt] = body[::-1]
    while pending:
        node = pending.pop()
        yield node
        for block in reversed(blocks(node)):
            pending += block[::-1]


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in the order of the source; none of a simple one."""
    found: list[list[ast.stmt]] = []
    if not isinstance(node, _COMPOUND):
        return found
    found.append(getattr(node, "body", []))
    found += [handler.body for handler in getattr(node, "handlers", [])]
    found += [case.body for case in getattr(node, "cases", [])]
    found += [getattr(node, field, []) for field in ("orelse", "finalbody")]
    return found
