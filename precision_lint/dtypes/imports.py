"""The names that a module's imports bind, as qualified names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping


def imported_names(tree: ast.Module) -> Mapping[str, str]:
    """Local name to qualified name for every import in a module; relative ones keep their dots.

    Imports inside functions count for the whole module: a name rarely means two things in a file.
    """
    names: dict[str, str] = {}
    for node in statements(tree.body):
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
        blocks: list[list[ast.stmt]] = [
            getattr(node, field, []) for field in ("body", "orelse", "finalbody")
        ]
        blocks += [handler.body for handler in getattr(node, "handlers", [])]
        blocks += [case.body for case in getattr(node, "cases", [])]
        for block in reversed(blocks):
            pending += block[::-1]
