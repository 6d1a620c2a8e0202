"""The names that a module's imports bind, as qualified names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping


def imported_names(nodes: Iterable[ast.AST]) -> Mapping[str, str]:
    """Local name to qualified name for every import among `nodes`; relative ones keep their dots.

    Imports inside functions count for the whole module: a name rarely means two things in a file.
    """
    names: dict[str, str] = {}
    for node in nodes:
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
