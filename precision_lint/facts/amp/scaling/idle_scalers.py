"""Scalers that scale nothing: nothing reads them, or code only asks whether there is one."""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_FILES = 12
"""Files that use an attribute of one name; of more, nothing is known."""


def is_idle(made: ast.Call, file: PythonFile) -> bool:
    """True for a scaler in a variable or an attribute that no code of the project scales with."""
    syntax = syntax_tree(file)
    match syntax.parent(made):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return _is_unread(name, made, syntax, file)
        case ast.Assign(targets=[ast.Attribute(attr=name)]):
            return _is_only_tested(name, file)
    return False


def _is_unread(name: str, made: ast.Call, syntax: SyntaxTree, file: PythonFile) -> bool:
    """True for a variable that nothing reads, in other files neither."""
    function = syntax.function(made)
    if function is not None:
        return not syntax.reads(function, name)
    attributes = (each.attr for each in syntax.nodes if isinstance(each, ast.Attribute))
    is_read = syntax.reads(syntax.tree, name) or name in attributes
    return not is_read and next(file.project.importing(file.text.path, name), None) is None


def _is_only_tested(name: str, file: PythonFile) -> bool:
    """True if the project reads an attribute, and only to ask whether it is there."""
    paths = file.project.python_sources_matching(rf"\b{name}\b".encode())
    modules = [*map(file.project.module, paths[:_MOST_FILES])]
    if len(modules) < len(paths) or file.project.is_alone:
        return False
    tests = 0
    for module in modules:
        for node in () if module is None else module.nodes:
            match node:
                case ast.Constant(value=str(text)) if name in text.split():
                    return False  # it may be the name of the attribute: `getattr(self, "scaler")`
                case ast.Attribute(attr=attr, ctx=ast.Load()) if attr == name:
                    if module is None or not is_tested(node, syntax_tree(module)):
                        return False
                    tests += 1
    return tests > 0 and None not in modules


def is_tested(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for `if self.scaler:` and `self.scaler is not None`."""
    match syntax.parent(node):
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.If(test=test) | ast.IfExp(test=test):
            return test is node
    return False
