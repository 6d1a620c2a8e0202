"""Hooks: functions that torch calls with a module, what it was given, what it returned."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Constant,
    Dictionary,
    Instance,
    Model,
    Sequence,
    Tensor,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.interpreter import methods, models
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate

HOOKS: Mapping[str, tuple[str, ...]] = {
    "register_forward_hook": ("module", "inputs", "output"),
    "register_forward_pre_hook": ("module", "inputs"),
    "register_full_backward_hook": ("module", "gradients", "gradients"),
    "register_full_backward_pre_hook": ("module", "gradients"),
}
"""Methods of modules, and what the hook is given. Gradients have the dtype of the outputs."""


def handed(
    evaluate: Evaluate, name: str, module: Value, given: CallSite, node: ast.Call
) -> tuple[Argument, ...] | None:
    """What a hook of a module is called with; None if it is no module that it is registered on."""
    output = _output(evaluate, module, given, node)
    if output is None:
        return None
    values: dict[str, Value] = {
        "module": Model(module) if isinstance(module, Tensor) else module,
        "inputs": Sequence(UNKNOWN),
        "output": output,
        "gradients": Sequence(output, (output,)),
    }
    names = [*HOOKS[name]]
    has_keywords = given.keywords.get("with_kwargs")
    if has_keywords is not None and has_keywords.value == Constant(True):
        values["keywords"] = Dictionary(UNKNOWN)
        names.insert(2, "keywords")
    return tuple(Argument(values[each], given.span) for each in names)


def _output(evaluate: Evaluate, module: Value, given: CallSite, node: ast.Call) -> Value | None:
    """What a module returns, whatever it is given."""
    match module:
        case Model():
            return models.output(module, given)
        case Tensor():  # a module that was moved
            return models.output(Model(module), given)
        case Instance():
            return methods.of_module(module, given)
        case Variable():
            assert isinstance(node.func, ast.Attribute)
            owner = node.func.value
            within = evaluate.frame.module
            called = within.fact(
                (handed, node), lambda: ast.copy_location(ast.Call(owner, [], []), node)
            )
            operand = CallSite(given.source, given.span, (), {}, given.autocast)
            return module.then(Step("call", called, operand=operand, module=within))
    return None
