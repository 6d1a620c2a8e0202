"""Gradient penalties on gradients that a scaler has scaled.

`torch.autograd.grad(scaler.scale(loss), …)` gives gradients that nobody unscales. They harm where
they become a part of a loss that is scaled again, in the same function or in one that calls it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import dotted, qualified
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree

_SCALER = regex(r"(?i)scaler$")
_SCALE = regex(r"(?i)(?:^|_)(?:get_|inv_?)?scales?$")


@frozen
class ScaledPenalty:
    """Gradients that a loss depends on, and the two calls that scale one after the other."""

    gradients: ast.Call
    scaled: ast.Call
    again: ast.Call


def scaled_penalties(file: ParsedPython) -> Iterator[ScaledPenalty]:
    """The gradients of a file that are scaled and come to a loss that is scaled as well."""
    syntax = syntax_tree(file)
    for node in file.nodes:
        if not isinstance(node, ast.Call) or not _is_penalty(node, syntax):
            continue
        outputs = _given(node, "outputs") or (node.args[0] if node.args else None)
        if outputs is None or isinstance(outputs, ast.Starred):
            continue
        scaled = _scaled(outputs, syntax)
        if scaled is None:
            continue
        scope: Scope = syntax.function(node) or syntax.tree
        again = _again(scope, scaled) or _in_caller(scope, node, syntax)
        if again is not None and not _names_scale(scope):
            yield ScaledPenalty(node, scaled, again)


def _is_penalty(node: ast.Call, syntax: SyntaxTree) -> bool:
    """`torch.autograd.grad(…, create_graph=True)`: the gradients become a part of a loss."""
    match _given(node, "create_graph"):
        case ast.Constant(value=True):
            return qualified(node.func, syntax.names) == "torch.autograd.grad"
    return False


def _given(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _names_scale(scope: Scope) -> bool:
    """True if a body reads the scale: `scaler.get_scale()`, `scaler._scale`, `g * inv_scale`."""
    for node in own_nodes(scope):
        match node:
            case ast.Attribute(attr="get_scale" | "_scale"):
                return True
            case ast.Name(id=name) if _SCALE.search(name) is not None:
                return True
    return False


def _scaled(outputs: ast.expr, syntax: SyntaxTree) -> ast.Call | None:
    """The call of `scaler.scale` that outputs come from, by one variable at most."""
    if isinstance(outputs, ast.List | ast.Tuple) and len(outputs.elts) == 1:
        outputs = outputs.elts[0]
    if isinstance(outputs, ast.Name):
        values = binding(outputs, syntax)
        if not isinstance(values, list) or len(values) != 1:
            return None
        outputs = values[0]
    return outputs if isinstance(outputs, ast.Call) and _is_scaled(outputs) else None


def _is_scaled(node: ast.AST) -> bool:
    """`scaler.scale(loss)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="scale"), args=[_]):
            return _SCALER.search(dotted(owner) or "") is not None
    return False


def _again(scope: Scope, scaled: ast.Call) -> ast.Call | None:
    """Another call that scales, in the same body."""
    every = (node for node in own_nodes(scope) if isinstance(node, ast.Call))
    return next((each for each in every if each is not scaled and _is_scaled(each)), None)


def _in_caller(scope: Scope, gradients: ast.Call, syntax: SyntaxTree) -> ast.Call | None:
    """The call that scales what a function computes from its gradients, in a caller of it."""
    if not isinstance(scope, FunctionDefinition):
        return None
    returned = [node.value for node in own_nodes(scope) if isinstance(node, ast.Return)]
    if not any(each is not None and _depends(each, gradients, scope) for each in returned):
        return None
    for call in syntax.calls(scope.name):
        caller: Scope = syntax.function(call) or syntax.tree
        if caller is scope or _names_scale(caller):
            continue
        scaling = (each for each in own_nodes(caller) if isinstance(each, ast.Call))
        for each in filter(_is_scaled, scaling):
            if _depends(each.args[0], call, caller):
                return each
    return None


def _depends(value: ast.expr, source: ast.expr, scope: Scope) -> bool:
    """True if a value of a body is computed from an expression of it, by variables."""
    names: set[str] = set()

    def reads(node: ast.AST) -> bool:
        return any(
            inner is source or (isinstance(inner, ast.Name) and inner.id in names)
            for inner in walk(node)
        )

    assigned = [
        (targets, node.value)
        for node in own_nodes(scope)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None
        for targets in [node.targets if isinstance(node, ast.Assign) else [node.target]]
    ]
    before = -1
    while len(names) > before:
        before = len(names)
        for targets, given in assigned:
            if reads(given):
                names |= {
                    each.id for one in targets for each in walk(one) if isinstance(each, ast.Name)
                }
    return reads(value)
