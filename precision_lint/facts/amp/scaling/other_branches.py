"""Autocast regions that run in bfloat16 on other ways through the code than those of a scaler.

if device == "cpu":
    dtype, scaler = torch.bfloat16, GradScaler(enabled=False)
else:
    dtype, scaler = torch.float16, GradScaler()
with torch.autocast(device, dtype=dtype): ...

self.context = torch.autocast("cuda", dtype=torch.float16 if self.is_fp16 else torch.bfloat16)
if self.is_fp16:
    self.scaler = GradScaler()

dtype = torch.float16 if device.type == "cuda" else torch.bfloat16
scaler = GradScaler("cuda")  # off where there is no GPU
"""

from __future__ import annotations

import ast

from precision_lint.facts.amp.scaling.scalers import AutocastRegion, Conditions, node_at
from precision_lint.facts.amp.training_step.conditions import PathConditions, assuming, truth
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.hardware.on_cuda import holds_on_cuda
from precision_lint.model.dtypes import ALIASES, BFLOAT16
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.branches import are_alternatives
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, argument_at, syntax_tree

_HOPS = 3
"""Variables and attributes that are followed from the argument of a region to a dtype."""


def is_of_another_branch(
    region: AutocastRegion, call: Call, node: ast.Call, conditions: Conditions, file: PythonFile
) -> bool:
    """True if a region does not run in bfloat16 with a scaler that is made under conditions."""
    return _holds_another_dtype(region, call, node, file) or _contradicts(
        region, node, conditions, file
    )


def _contradicts(
    region: AutocastRegion, node: ast.Call, conditions: Conditions, file: PythonFile
) -> bool:
    """True if the conditions of a scaler choose another dtype for a region than bfloat16."""
    if region.given is None or region.giver is None or region.file is not file:
        return False
    given = node_at(file, region.giver.span)
    dtype = None if given is None else argument_at(region.given.span, given, file)
    if dtype is None:
        return False
    assumed: PathConditions = {}
    for test, holds in conditions:
        assumed = assuming(test, holds, assumed)
    syntax = syntax_tree(file)
    arguments = (*node.args, *(each.value for each in node.keywords))
    is_of_cuda = not any(
        isinstance(each, ast.Constant) and each.value == "cpu" for each in arguments
    )
    choice = _Choice(assumed, syntax.function(node), syntax, is_of_cuda)
    return not choice.may_be_bfloat16(dtype, _HOPS)


@frozen
class _Choice:
    """What conditions that hold at one place of a function choose, there and elsewhere."""

    assumed: PathConditions
    function: Scope | None
    syntax: SyntaxTree
    is_of_cuda: bool
    """Whether that place has an effect on a GPU only: torch turns such a scaler off elsewhere."""

    def may_be_bfloat16(self, node: ast.expr, hops: int) -> bool:
        """True unless a dtype is certainly another one."""
        values: list[ast.expr] | ast.arg | None = None
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                holds = self._truth(test)
                chosen = [body, orelse] if holds is None else [body if holds else orelse]
                return any(self.may_be_bfloat16(each, hops) for each in chosen)
            case ast.Constant(value=None):
                return False  # the default of CUDA, where a scaler scales, is float16
            case ast.Name() if hops and node.id not in self.syntax.names:
                values = binding(node, self.syntax)
            case ast.Attribute(value=ast.Name(id="self")) if hops:
                owner = enclosing_class(node, self.syntax)
                values = attribute(node, owner, self.syntax) if owner is not None else None
        if isinstance(values, list) and values:
            reached = filter(self._is_reached, values)
            return any(self.may_be_bfloat16(each, hops - 1) for each in reached)
        module, _, name = qualified(node, self.syntax.names).rpartition(".")
        return not (module == "torch" and ALIASES.get(name, BFLOAT16) != BFLOAT16)

    def _is_reached(self, node: ast.expr) -> bool:
        """True unless a branch that an expression is in is not taken."""
        inner: ast.AST = node
        for parent in self.syntax.within_function(node):
            if isinstance(parent, ast.If) and inner is not parent.test:
                is_taken = self._truth(parent.test)
                if is_taken is not None and is_taken is not (inner in parent.body):
                    return False
            inner = parent
        return True

    def _truth(self, test: ast.expr) -> bool | None:
        """Whether a condition holds. In another function, only attributes are the same."""
        assumed = self.assumed
        if self.syntax.function(test) is not self.function:
            assumed = {text: holds for text, holds in assumed.items() if text.startswith("self.")}
        holds = truth(test, assumed)
        return holds_on_cuda(test, self.syntax) if holds is None and self.is_of_cuda else holds


def _holds_another_dtype(
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
    return all(are_alternatives(node, one, syntax) for one in later)


def _is_seen(name: str, given: ast.AST, scope: Scope, syntax: SyntaxTree) -> bool:
    """True if a name that is read somewhere is the variable of a scope."""
    inner: Scope | None = syntax.function(given) or syntax.tree
    while inner is not None and inner is not scope:
        if isinstance(inner, ast.Module) or syntax.stores(inner, name):
            return False
        inner = syntax.function(inner) or syntax.tree
    return inner is scope
