"""Tables that a function builds by itself: what they hold is all in sight.

`load_args = {}` and `load_args.update(dict(device_map="auto"))` make a table with one key, whatever
its name says of arguments.
"""

from __future__ import annotations

import ast

from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import parameters
from precision_lint.source.python.syntax_tree import syntax_tree


def keys_built(holder: ast.expr, file: ParsedPython) -> frozenset[str] | None:
    """The keys of a table that its function builds; None if something else may be in it."""
    if not isinstance(holder, ast.Name):
        return None
    syntax = syntax_tree(file)
    function = syntax.function(holder)
    if function is not None and any(each.arg == holder.id for each in parameters(function.args)):
        return None
    scope = function or syntax.tree
    stores = [*syntax.stores(scope, holder.id)]
    assigned = [syntax.parent(store) for store in stores]
    if not stores or any(not isinstance(each, ast.Assign | ast.AnnAssign) for each in assigned):
        return None
    values = [each.value for each in assigned if isinstance(each, ast.Assign | ast.AnnAssign)]
    parts = [
        *(keys_of_display(value) for value in values),
        *(_added(read, file) for read in syntax.reads(scope, holder.id)),
    ]
    known = [each for each in parts if each is not None]
    return frozenset[str]().union(*known) if len(known) == len(parts) else None


def keys_of_display(value: ast.expr | None) -> frozenset[str] | None:
    """The keys of `{"a": 1}`, of `dict(a=1)`, and of a choice between two of these."""
    match value:
        case ast.Dict(keys=keys):
            texts = [each.value for each in keys if isinstance(each, ast.Constant)]
            return frozenset(map(str, texts)) if len(texts) == len(keys) else None
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            names = [each.arg for each in keywords if each.arg is not None]
            return frozenset(names) if len(names) == len(keywords) else None
        case ast.IfExp(body=body, orelse=orelse):
            both = keys_of_display(body), keys_of_display(orelse)
            return both[0] | both[1] if both[0] is not None and both[1] is not None else None
    return None


def _added(read: ast.AST, file: ParsedPython) -> frozenset[str] | None:
    """The keys that a mention of a table adds to it; None if others may be added."""
    syntax = syntax_tree(file)
    parent = syntax.parent(read)
    match parent:
        case ast.keyword(arg=None) | ast.Compare() | ast.If():
            return frozenset()
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return frozenset({key})
        case ast.Attribute(attr="get" | "pop" | "keys" | "items"):
            return frozenset()
        case ast.Attribute(attr="update"):
            match syntax.parent(parent):
                case ast.Call(args=[given], keywords=[]):
                    return keys_of_display(given)
                case ast.Call(args=[], keywords=keywords) if all(each.arg for each in keywords):
                    return frozenset(each.arg for each in keywords if each.arg)
    return None
