"""Which section of the settings an expression of a program stands for, as far as its words say.

`config.model.get("dtype")` reads a key of the section `model`, and no key at the top with the same
name. So does `given.get("dtype")` after `given = args.model_init_kwargs or {}`.
"""

from __future__ import annotations

import ast

from precision_lint.facts.runs.code.ways import key_of_holder
from precision_lint.facts.settings import holds_settings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 3
_SAME = frozenset({"dict", "vars", "copy", "deepcopy", "to_container", "asdict"})
"""Functions that give the section that they get, in another form."""


def section_of(holder: ast.expr, file: ParsedPython, hops: int = _MOST_HOPS) -> str:
    """The section that something stands for; empty if it may be all settings, or anything."""
    match holder:
        case ast.BoolOp(op=ast.Or(), values=[first, *_]):
            return section_of(first, file, hops)
        case ast.Call(args=[only, *_]) if callee_name(holder) in _SAME:
            return section_of(only, file, hops)
        case ast.Name(id=name):
            return _of_name(name, holder, file, hops) if hops else ""
        case (
            ast.Attribute(value=whole)
            | ast.Subscript(value=whole, slice=ast.Constant(value=str()))
            | ast.Call(
                func=ast.Attribute(value=whole, attr="get"), args=[ast.Constant(value=str()), *_]
            )
        ):
            is_of_settings = holds_settings(key_of_holder(whole)) or section_of(whole, file, hops)
            return key_of_holder(holder) if is_of_settings else ""
    return ""


def _of_name(name: str, read: ast.Name, file: ParsedPython, hops: int) -> str:
    """The section that a variable holds, if all that its function assigns to it agrees."""
    syntax = syntax_tree(file)
    stores = syntax.stores(syntax.function(read) or syntax.tree, name)
    found = set()
    for store in stores:
        match syntax.parent(store):
            case ast.Assign(targets=[target], value=value) if target is store:
                found.add(section_of(value, file, hops - 1))
            case _:
                return ""
    return found.pop() if len(found) == 1 else ""
