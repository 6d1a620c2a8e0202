"""Where a program reads a constant of a module: `from config import USE_AMP`, `config.USE_AMP`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree


def reads_of_constant(
    name: str, module: Path, program: Program
) -> Iterator[tuple[ast.expr, ParsedPython]]:
    """The reads of a name that a module assigns: in the module, and where others import it."""
    for file in program.mentioning(name):
        for local in _names_of(name, module, file, program):
            for node in syntax_tree(file).reads(file.tree, local):
                if isinstance(node, ast.Name):
                    yield node, file
        for node in file.nodes_of(ast.Attribute):
            if node.attr == name and isinstance(node.ctx, ast.Load):
                whole = qualified(node.value, syntax_tree(file).names)
                if whole and program.project.locate(file.text.path, whole) == module:
                    yield node, file


def _names_of(name: str, module: Path, file: ParsedPython, program: Program) -> Iterator[str]:
    """What a file calls a constant of a module."""
    path, locate = file.text.path, program.project.locate
    if path == module:
        yield name
        return
    for local, whole in syntax_tree(file).names.items():
        home, _, last = whole.rpartition(".")
        if last == name and home and locate(path, home) == module:
            yield local
    for node in file.nodes_of(ast.ImportFrom):
        if node.names[0].name == "*":
            home = "." * node.level + (node.module or "")
            if locate(path, home) == module:
                yield name
