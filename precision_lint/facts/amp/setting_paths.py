"""The names that lead to a setting, as code reads it: `args.amp_dtype`, `cfg["train"]["dtype"]`."""

from __future__ import annotations

import ast

from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.vocabulary import is_about_precision


def setting_path(node: ast.expr) -> tuple[str, ...] | None:
    """The names that lead to a setting below the object that holds it; None for other things."""
    names: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=owner, attr=name):
                pass
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
                pass
            case ast.Call(
                func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]
            ):
                pass
            case ast.Call(
                func=ast.Attribute(value=owner, attr="get"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                pass
            case _:
                break
        names.insert(0, name)
        node = owner
        if holds_settings(name) and len(names) > 1:
            return tuple(names[1:])
    if not names or not isinstance(node, ast.Name):
        return None
    if holds_settings(node.id):
        return tuple(names)
    # A holder under any other name: `tensor.dtype` is no setting, `run.amp_dtype` is one.
    is_plain = names[-1] == "dtype" or not is_about_precision(names[-1])
    return None if is_plain or node.id in {"torch", "self"} else tuple(names[-1:])
