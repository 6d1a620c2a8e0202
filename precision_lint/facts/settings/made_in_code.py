"""Classes of settings that only code makes, with the values of its calls: no parser fills them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import islice

from precision_lint.facts.context import PythonFile
from precision_lint.facts.project.facts import Recording
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_FILES = 12
"""Files that use a class; of more, nothing is known."""


def no_run_sets(field: str, node: ast.ClassDef, file: PythonFile) -> bool:
    """True if calls make a class, and neither these nor anything else can give it a field.

    A parser that is given the class, a class that extends it, and a call with `**` can.
    """
    modules = _modules_using(node, file, file.project)
    calls = _calls_making(node, modules)
    are_silent = all(field not in _given(each) for each in calls)
    return bool(calls) and are_silent and not any(_sets(field, each) for each in modules)


def every_call_gives(
    field: str, node: ast.ClassDef, declaring: ParsedPython, project: Recording
) -> bool:
    """True if calls make a class, and nothing else, and each gives the field by its name."""
    calls = _calls_making(node, _modules_using(node, declaring, project))
    return bool(calls) and all(field in _given(each) for each in calls)


def _given(call: ast.Call) -> set[str]:
    return {each.arg for each in call.keywords if each.arg is not None}


def _modules_using(
    node: ast.ClassDef, declaring: ParsedPython, project: Recording
) -> tuple[ParsedPython, ...]:
    """The files that may use a class; none if not all are known."""
    own = declaring.text.path
    paths = [*islice(project.importing(own, node.name), _MOST_FILES + 1)]
    others = [*map(project.module, paths)]
    if len(paths) > _MOST_FILES or None in others or project.is_alone:
        return ()
    return (declaring, *(each for each in others if each is not None))


def _calls_making(node: ast.ClassDef, modules: Iterable[ParsedPython]) -> list[ast.Call]:
    """The calls that make a class; none if something else may make it, or a call with `**`."""
    found: list[ast.Call] = []
    bases: set[str] = set()
    for module in modules:  # the one that declares the class is the first
        syntax = syntax_tree(module)
        bases = bases or {qualified(base, syntax.names) for base in node.bases}
        for use in module.nodes:
            if not isinstance(use, ast.Name | ast.Attribute) or last_name(use) != node.name:
                continue
            call = syntax.parent(use)
            if isinstance(call, ast.Call) and use is call.func:
                if any(each.arg is None for each in call.keywords):
                    return []
                found.append(call)
            elif not (_is_annotation(use, syntax) or qualified(use, syntax.names) in bases):
                return []  # but for a class of the same name, which this one extends
    return found


def _sets(field: str, module: ParsedPython) -> bool:
    return any(
        isinstance(each, ast.Attribute) and each.attr == field and isinstance(each.ctx, ast.Store)
        for each in module.nodes
    )


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
