"""Autocast regions that run in bfloat16 on other ways through the code than those of a scaler.

if device == "cpu":
    dtype, scaler = torch.bfloat16, GradScaler(enabled=False)
else:
    dtype, scaler = torch.float16, GradScaler()
with torch.autocast(device, dtype=dtype): ...
"""

from __future__ import annotations

import ast

from precision_lint.facts.amp.scalers import AutocastRegion, node_at
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.calls import Call
from precision_lint.model.dtypes import BFLOAT16
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree


def is_of_another_branch(
    region: AutocastRegion, call: Call, node: ast.Call, file: PythonFile
) -> bool:
    """True if the variable with the dtype of a region is not bfloat16 where a scaler is made, and
    nothing on the way from there changes it.
    """
    if region.given is None or region.giver is None or region.file is not file:
        return False
    name = file.text[region.given.span]
    held = call.dtypes.get(name)
    if held is None or held.caller_chosen or held.may_be_other or not held.dtypes:
        return False
    given = node_at(file, region.giver.span)
    if BFLOAT16 in held.dtypes or given is None:
        return False
    syntax = syntax_tree(file)
    scope = syntax.function(node) or syntax.tree
    if not _is_seen(name, given, scope, syntax):
        return False
    later = (one for one in syntax.stores(scope, name) if one.lineno > node.lineno)
    return all(_are_alternatives(node, one, syntax) for one in later)


def _is_seen(name: str, given: ast.AST, scope: Scope, syntax: SyntaxTree) -> bool:
    """True if a name that is read somewhere is the variable of a scope."""
    inner: Scope | None = syntax.function(given) or syntax.tree
    while inner is not None and inner is not scope:
        if isinstance(inner, ast.Module) or syntax.stores(inner, name):
            return False
        inner = syntax.function(inner) or syntax.tree
    return inner is scope


def _are_alternatives(one: ast.AST, other: ast.AST, syntax: SyntaxTree) -> bool:
    """True if two nodes are in branches of one statement of which only one runs."""
    of_one = _branches(one, syntax)
    return any(
        of_one.get(statement, branch) != branch
        for statement, branch in _branches(other, syntax).items()
    )


def _branches(node: ast.AST, syntax: SyntaxTree) -> dict[ast.AST, object]:
    """The statements around a node that run one of their branches, and which one it is in."""
    found: dict[ast.AST, object] = {}
    inner = node
    for parent in syntax.around(node):
        match parent:
            case ast.If(test=test, body=body) if inner is not test:
                found[parent] = inner in body
            case ast.Match(subject=subject) if inner is not subject:
                found[parent] = inner
        inner = parent
    return found
