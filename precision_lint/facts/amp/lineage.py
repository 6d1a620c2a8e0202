"""The classes of a project that a class inherits from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.syntax.definitions import Class, Module
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.source.python.syntax import innermost_name, qualified

_MOST_BASES = 12
"""Classes among the bases of one."""

_WITHOUT_STATE = frozenset({"object", "ABC", "Generic", "Protocol"})
"""Bases that add nothing to what the objects of a class do."""


class Lineage:
    """Finds classes by their names, and their bases."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines: dict[Class, tuple[Class, ...]] = {}

    def line(self, owner: Class) -> tuple[Class, ...]:
        """A class and the bases of it that the project has, the nearest first."""
        if owner not in self._lines:
            found = [owner]
            for each in found:
                if len(found) < _MOST_BASES:
                    found += [base for base in self._bases(each) if base not in found]
            self._lines[owner] = tuple(found)
        return self._lines[owner]

    def is_complete(self, owner: Class) -> bool:
        """True if all bases of a class are in the project."""
        return all(
            innermost_name(base) in _WITHOUT_STATE or self.named(base, each.module) is not None
            for each in self.line(owner)
            for base in each.node.bases
        )

    def _bases(self, owner: Class) -> Iterator[Class]:
        for base in owner.node.bases:
            found = self.named(base, owner.module)
            if found is not None:
                yield found

    def named(self, node: ast.expr, module: Module) -> Class | None:
        """The class that an expression of a module names."""
        match node:
            case ast.Subscript(value=value):  # `Callback[T]`
                return self.named(value, module)
            case ast.Name(id=name):
                found = self._program.name(module, name)
            case ast.Attribute():
                found = self._program.find(module, qualified(node, module.imports))
            case ast.Constant(value=str(name)) if name.isidentifier():
                found = self._program.name(module, name)
            case _:
                return None
        if found is not None and isinstance(found.definition, Class):
            return found.definition
        return None
