"""Loss scaling by apex, whose `apex.amp` was removed in 2025 and is still in old code."""

from __future__ import annotations

import ast

from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Instance, Model, Tensor
from precision_lint.model.dtypes import BFLOAT16

OPTIMIZERS = frozenset(
    {
        "apex.fp16_utils.FP16_Optimizer",
        "apex.fp16_utils.fp16_optimizer.FP16_Optimizer",
        "apex.contrib.optimizers.FP16_Optimizer",
        "apex.optimizers.FP16_Optimizer",
    }
)
INITIALIZE = frozenset({"apex.amp.initialize", "apex.amp.frontend.initialize"})

REFUSED = (
    "TypeError: Optimizer's parameters must be either torch.cuda.FloatTensor or "
    "torch.cuda.HalfTensor. Received torch.cuda.BFloat16Tensor"
)
"""What the first `amp.scale_loss` raises where parameters are bfloat16."""


def scales(call: ast.Call, function: str) -> bool:
    """True for a call of apex that certainly scales the loss from there on."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given:
        return False
    if function in OPTIMIZERS:
        return _is(given.get("dynamic_loss_scale"), True) or _is_scale(
            call.args[1] if len(call.args) > 1 else given.get("static_loss_scale")
        )
    has_optimizer = len(call.args) == 2 or "optimizers" in given
    if function not in INITIALIZE or not has_optimizer or "enabled" in given:
        return False
    level = given.get("opt_level", ast.Constant("O1"))
    scale = given.get("loss_scale")
    if scale is None or _is(scale, None):
        return _is(level, "O1") or _is(level, "O2")
    return _is(scale, "dynamic") or _is_scale(scale)


def refuses(call: Call, node: ast.Call) -> Tensor | None:
    """The bfloat16 parameters of a model that is given to `amp.initialize`, which refuses them.

    It does where it scales and leaves the model as it is, with `opt_level="O1"`.
    """
    level = {keyword.arg: keyword.value for keyword in node.keywords}.get("opt_level")
    if not scales(node, call.function or "") or not (level is None or _is(level, "O1")):
        return None
    match call.value(0, "models"):
        case Model(parameters=Tensor() as weights) | Instance(parameters=Tensor() as weights):
            return weights if weights.must_be(frozenset({BFLOAT16})) else None
    return None


def _is(node: ast.expr | None, value: str | bool | None) -> bool:
    return (
        isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value
    )


def _is_scale(node: ast.expr | None) -> bool:
    """True for a number that a loss is multiplied by."""
    match node:
        case ast.Constant(value=int() | float() as scale):
            return scale not in (0, 1)
    return False
