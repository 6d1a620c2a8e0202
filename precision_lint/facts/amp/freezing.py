"""Models that are frozen, with the layers that were added to them."""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import syntax_tree


def is_frozen_after(model: str, added: ast.Call, file: PythonFile) -> bool:
    """True if `model.requires_grad_(False)` comes after a call that adds layers to a model.

    Nothing in the same function trains a part of it again.
    """
    syntax = syntax_tree(file)
    scope = syntax.function(added)
    calls = [
        (call, owner)
        for call in syntax.calls("requires_grad_")
        if syntax.function(call) is scope and call.lineno > added.lineno
        if isinstance(call.func, ast.Attribute) and (owner := dotted(call.func.value)) is not None
    ]
    freezing = [call for call, owner in calls if owner == model and _is_off(call)]
    if not freezing:
        return False
    last = max(call.lineno for call in freezing)
    is_of_part = any(
        call.lineno > last and not _is_off(call) and f"{owner}.".startswith(f"{model}.")
        for call, owner in calls
    )
    return not is_of_part and not any(
        isinstance(node, ast.Assign)
        and node.lineno > last
        and any(
            isinstance(each, ast.Attribute) and each.attr == "requires_grad"
            for each in node.targets
        )
        for node in own_nodes(syntax.body(added))
    )


def _is_off(call: ast.Call) -> bool:
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return any(isinstance(each, ast.Constant) and each.value is False for each in given)
