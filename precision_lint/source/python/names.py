"""What the names of a Python file hold, where one assignment says it for good."""

from __future__ import annotations

import ast

from precision_lint.model.dtypes import ALIASES, DtypeName
from precision_lint.source.python.scopes import Binding, Reference, Scopes

_REWRITES = frozenset({"exec", "globals"})
"""What can give a module's names other values without assigning them."""


class Names:
    """The names of a file, each looked up in the scope where it is read."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self._reference_of: dict[ast.expr, Reference] = {}
        self._is_rewritten = False
        for reference in self.scopes.references:
            root: ast.expr = reference.node
            while isinstance(root, ast.Attribute):
                root = root.value
            self._reference_of[root] = reference
            self._is_rewritten |= reference.names[0] in _REWRITES

    def bindings(self, name: ast.Name) -> list[Binding]:
        """What binds a name that is read."""
        reference = self._reference_of.get(name)
        return [] if reference is None else reference.scope.lookup(name.id)[1]

    def value(self, name: ast.Name) -> ast.expr | None:
        """What a name was assigned, if it is bound once and nothing rewrites it unseen."""
        reference = self._reference_of.get(name)
        if reference is None:
            return None
        owner, bindings = reference.scope.lookup(name.id)
        if len(bindings) != 1 or (self._is_rewritten and owner is self.scopes.all[0]):
            return None
        value = assigned(bindings[0])
        starred = () if owner is None else owner.bindings.get("*", ())
        if value is not None and any(_is_behind(each, value) for each in starred):
            return None  # `from defaults import *` may bring another
        return value

    def dtype(self, node: ast.Name | ast.Attribute) -> DtypeName | None:
        """`torch.float16` for that dtype of torch, by whichever name it was imported."""
        root = node.value if isinstance(node, ast.Attribute) else node
        reference = self._reference_of.get(root)
        if reference is None or reference.node is not node:
            return None
        package, _, name = (reference.qualified or "").rpartition(".")
        return (
            DtypeName(f"torch.{ALIASES[name]}") if package == "torch" and name in ALIASES else None
        )


def _is_behind(binding: Binding, value: ast.expr) -> bool:
    return binding.statement is not None and binding.statement.lineno > value.lineno


def assigned(binding: Binding) -> ast.expr | None:
    """The value of a plain assignment; None for whatever else binds a name."""
    match binding.at.node:
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value
    return None
