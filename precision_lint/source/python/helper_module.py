"""The module that fixes import a helper from."""

from __future__ import annotations

import ast

from precision_lint.model.frozen import frozen

RUNTIME = "precision_lint.runtime"
"""The package with all helpers."""


@frozen
class HelperModule:
    """Where a file imports a helper from."""

    name: str = RUNTIME
    is_named: bool = False
    """The settings name the module: the project wants its helpers."""
    has_helper: bool = True
    """The helper is defined there."""
    is_here: bool = False
    """The module is the file itself."""


def defines(tree: ast.Module, name: str) -> bool:
    """True if a module binds a name at its top level, by a function or an import."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=bound) if bound == name:
                return True
            case ast.ImportFrom(names=aliases):
                if any((alias.asname or alias.name) == name for alias in aliases):
                    return True
    return False
