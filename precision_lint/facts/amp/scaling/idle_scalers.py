"""Scalers that scale nothing: code does not read them, or only saves, loads or asks for them."""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_FILES = 12
"""Files that use an attribute of one name; of more, nothing is known."""
_SAVING = frozenset({"state_dict", "load_state_dict"})


def is_idle(made: ast.Call, file: PythonFile) -> bool:
    """True for a scaler in a variable or an attribute that no code of the project scales with."""
    syntax = syntax_tree(file)
    match syntax.parent(made):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return _is_unread(name, made, syntax, file)
        case ast.Assign(targets=[ast.Attribute(attr=name)]):
            return _is_only_kept(name, file)
    return False


def _is_unread(name: str, made: ast.Call, syntax: SyntaxTree, file: PythonFile) -> bool:
    """True for a variable that nothing reads, but to save or load it; in other files neither."""
    function = syntax.function(made)
    if function is not None:
        reads = syntax.reads(function, name)
        return all(isinstance(each, ast.expr) and keeps(each, syntax) for each in reads)
    attributes = (each.attr for each in syntax.nodes if isinstance(each, ast.Attribute))
    is_read = syntax.reads(syntax.tree, name) or name in attributes
    return not is_read and next(file.project.importing(file.text.path, name), None) is None


def _is_only_kept(name: str, file: PythonFile) -> bool:
    """True if the project reads an attribute, and only to save it or to ask whether it is there."""
    paths = file.project.python_sources_matching(rf"\b{name}\b".encode())
    modules = [*map(file.project.module, paths[:_MOST_FILES])]
    if len(modules) < len(paths) or file.project.is_alone:
        return False
    reads = 0
    for module in modules:
        for node in () if module is None else module.nodes:
            match node:
                case ast.Constant(value=str(text)) if name in text.split():
                    if module is None or not _is_asked_for(node, syntax_tree(module)):
                        return False  # it may name the attribute: `getattr(self, "scaler")`
                case ast.Attribute(attr=attr, ctx=ast.Load()) if attr == name:
                    if module is None or not keeps(node, syntax_tree(module)):
                        return False
                    reads += 1
    return reads > 0 and None not in modules


def keeps(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True where a scaler is tested, saved, loaded, or given to `accelerator.prepare`.

    accelerate 1.15 returns what is no model, optimizer, scheduler or loader as it is.
    """
    match syntax.parent(node):
        case ast.Attribute(attr=method):
            return method in _SAVING
        case ast.Call(func=ast.Attribute(attr="prepare"), args=given):
            return node in given
    return is_tested(node, syntax)


def _is_asked_for(node: ast.AST, syntax: SyntaxTree) -> bool:
    """True for `hasattr(self, "scaler")`, and for the name of an entry, which is no attribute."""
    match syntax.parent(node):
        case ast.Call(func=ast.Name(id="hasattr")):
            return True
        case ast.Dict(keys=keys):
            return node in keys
        case ast.Subscript(slice=key):
            return node is key
    return False


def is_tested(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for `if self.scaler:` and `self.scaler is not None`."""
    match syntax.parent(node):
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.If(test=test) | ast.IfExp(test=test):
            return test is node
    return False
