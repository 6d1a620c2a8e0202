"""`x[key] = value`, as far as its syntax says what is written where."""

from __future__ import annotations

import ast

from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_NUMBERS = frozenset({"int", "float", "len", "str", "bool", "round", "range"})
"""Functions of Python that give no tensor."""
_DICTIONARIES = frozenset({"dict", "defaultdict", "OrderedDict"})
_NO_TENSOR = (
    ast.Constant, ast.JoinedStr, ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set,
    ast.SetComp, ast.Tuple, ast.Lambda,
)  # fmt: skip


def may_be_indexed_write(node: ast.Subscript, file: ParsedPython) -> bool:
    """True if a tensor may be written by a mask, a list or a tensor as index.

    Numbers, slices and words as keys, items of dictionaries, values that are no tensors, and those
    that are cast to the dtype of what they are written into, need no dtypes.
    """
    if not _may_be_advanced(node.slice, file):
        return False
    match syntax_tree(file).parent(node):
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            if _is_no_tensor(value) or _is_cast_for(node.value, value):
                return False
    return not is_dictionary(node.value, syntax_tree(file))


def _is_cast_for(owner: ast.expr, value: ast.expr) -> bool:
    """True for `value.to(owner.dtype)`."""
    match value:
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Attribute(attr="dtype") as dtype]):
            path = dotted(owner)
            return path is not None and dotted(dtype) == f"{path}.dtype"
    return False


def is_dictionary(owner: ast.expr, syntax: SyntaxTree) -> bool:
    """True for a variable that its function makes a dictionary of, and nothing else."""
    if not isinstance(owner, ast.Name):
        return False
    stores = syntax.stores(syntax.function(owner) or syntax.tree, owner.id)
    return bool(stores) and all(_stores_dictionary(each, syntax) for each in stores)


def _stores_dictionary(target: ast.Name, syntax: SyntaxTree) -> bool:
    match syntax.parent(target):
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            is_made = isinstance(value, ast.Call) and callee_name(value) in _DICTIONARIES
            return is_made or isinstance(value, ast.Dict | ast.DictComp)
    return False


def _may_be_advanced(key: ast.expr, file: ParsedPython) -> bool:
    match key:
        case ast.Constant() | ast.JoinedStr() | ast.Slice():
            return False
        case ast.UnaryOp(operand=ast.Constant()):
            return False
        case ast.Tuple(elts=keys):
            return any(_may_be_advanced(each, file) for each in keys)
        case ast.BinOp(left=left, right=right):
            return _may_be_advanced(left, file) or _may_be_advanced(right, file)
        case ast.Name(id=name):
            return not _is_counted(key, name, syntax_tree(file))
    return not _is_no_tensor(key) or isinstance(key, ast.List | ast.ListComp)


def _is_counted(node: ast.Name, name: str, syntax: SyntaxTree) -> bool:
    """True for the variable of a loop over `range(n)`, and the first one of `enumerate(xs)`."""
    stores = syntax.stores(syntax.function(node) or syntax.tree, name)
    return bool(stores) and all(_counts(each, syntax) for each in stores)


def _counts(target: ast.Name, syntax: SyntaxTree) -> bool:
    loop = target if (parent := syntax.parent(target)) is None else parent
    match loop:
        case ast.For(iter=ast.Call() as over) if loop.target is target:
            return callee_name(over) == "range"
        case ast.Tuple(elts=[first, *_]) if first is target:
            match syntax.parent(loop):
                case ast.For(iter=ast.Call() as over):
                    return callee_name(over) == "enumerate"
    return False


def _is_no_tensor(value: ast.expr) -> bool:
    return isinstance(value, _NO_TENSOR) or (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in _NUMBERS
    )
