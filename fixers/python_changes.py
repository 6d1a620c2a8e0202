"""Python code with some settings changed, for the check that a fix changes nothing else."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from types import MappingProxyType

from precision_lint.fixers.spelling import Written
from precision_lint.source.python.parse import ParsedPython

_NOTHING: Mapping[int, Written] = MappingProxyType({})


def changed_code(
    file: ParsedPython,
    removed: Collection[int] = (),
    replaced: Mapping[int, Written] = _NOTHING,
) -> str:
    """The syntax tree without the members whose keys start at some offsets, and with other
    constants at some. The tree of the file is modified and must not be used again.

    Raises:
        RecursionError: it is nested too deeply.
    """
    return ast.dump(_Changed(file, removed, replaced).visit(file.tree))


class _Changed(ast.NodeTransformer):
    def __init__(
        self, file: ParsedPython, removed: Collection[int], replaced: Mapping[int, Written]
    ) -> None:
        self._file = file
        self._removed = removed
        self._replaced = replaced

    def _stays(self, node: ast.expr | ast.keyword | None) -> bool:
        return node is None or self._file.span_of(node).start not in self._removed

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        pairs = zip(node.keys, node.values, strict=True)
        kept = [(key, value) for key, value in pairs if self._stays(key)]
        node.keys = [key for key, _ in kept]
        node.values = [value for _, value in kept]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = [keyword for keyword in node.keywords if self._stays(keyword)]
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        match node.targets:
            case [ast.Name() as name] if not self._stays(name):
                return None
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        node.value = self._replaced.get(self._file.span_of(node).start, node.value)
        return node
