"""Classes of settings that only code makes, with the values of its calls: no parser fills them."""

from __future__ import annotations

import ast
from itertools import islice

from precision_lint.facts.context import PythonFile
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_FILES = 12
"""Files that use a class; of more, nothing is known."""


def no_run_sets(field: str, node: ast.ClassDef, file: PythonFile) -> bool:
    """True if calls make a class, and neither these nor anything else can give it a field.

    A parser that is given the class, a class that extends it, and a call with `**` can.
    """
    paths = [*islice(file.project.importing(file.text.path, node.name), _MOST_FILES + 1)]
    others = [*map(file.project.module, paths)]
    if len(paths) > _MOST_FILES or None in others or file.project.is_alone:
        return False
    modules: list[ParsedPython] = [file, *(each for each in others if each is not None)]
    bases = {qualified(base, syntax_tree(file).names) for base in node.bases}
    calls = 0
    for module in modules:
        syntax = syntax_tree(module)
        for use in module.nodes:
            if isinstance(use, ast.Name | ast.Attribute) and last_name(use) == node.name:
                if qualified(use, syntax.names) in bases:
                    continue  # a class of the same name, which this one extends
                call = syntax.parent(use)
                if isinstance(call, ast.Call) and use is call.func:
                    if any(each.arg in (None, field) for each in call.keywords):
                        return False
                    calls += 1
                elif not _is_annotation(use, syntax):
                    return False
            elif isinstance(use, ast.Attribute) and use.attr == field and _is_set(use):
                return False
    return calls > 0


def _is_set(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_annotation(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for the annotation of a variable, a parameter or a result, also in `A | None`."""
    part: ast.AST = node
    above = syntax.parent(part)
    while isinstance(above, ast.BinOp | ast.Subscript | ast.Tuple):
        part, above = above, syntax.parent(above)
    match above:
        case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
            return annotation is part
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            return returns is part
    return False
