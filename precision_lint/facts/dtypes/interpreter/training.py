"""What programs do to the parameters of a module that they train, apart from all the others.

Layers that are added to a module (LoRA) take on its dtype. A scaler needs their gradients in
float32, so programs cast the parameters that require gradients: with a helper, or one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.environment import Environment, bind, replace_everywhere
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    Constant,
    FunctionValue,
    Model,
    Sequence,
    Tensor,
    Value,
    tensor,
)
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.syntax.relevance import casts_by_name
from precision_lint.model.dtypes import FLOAT32
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import callee_name, dotted

_WRAPPING = "get_peft_model"
_PREPARING = regex(r"prepare_model_for_(?:kbit|int8)_training")
"""Helpers of PEFT, which cast all parameters that are not quantized to float32."""

_ADDED = "layers in the dtype of the model are added here"
_FLOAT32 = frozenset({FLOAT32})


def with_adapter(model: Model, given: CallSite) -> Model:
    """A module after layers of its dtype were added to it."""
    return replace(model, adapter=given.origin(_ADDED), is_widened=False)


def wrapped(name: str, given: CallSite, keeps_float32: Callable[[], bool]) -> Value | None:
    """What `get_peft_model(model, config)` gives: the model with adapters; None for other calls.

    `keeps_float32` says that PEFT casts adapters to float32, unless an argument turns that off.
    """
    if name != _WRAPPING:
        return None
    model = given.argument(0, "model")
    if not isinstance(model, Model):
        return model
    asked = given.keywords.get("autocast_adapter_dtype")
    is_off = asked is not None and asked.value == Constant(False)
    return model if keeps_float32() and not is_off else with_adapter(model, given)


def apply_casts(evaluate: Evaluate, node: ast.Call, function: Value, env: Environment) -> None:
    """A call may cast parameters of the modules that it is given, in place."""
    name = callee_name(node)
    if _prepares(name):
        for held in _mentioned(evaluate, node, env):
            _change(evaluate, held, replace(held, parameters=tensor(FLOAT32)), env)
    elif casts_by_name(name) or (
        isinstance(function, FunctionValue) and function.definition.casts_parameters
    ):
        for held in _mentioned(evaluate, node, env):
            _change(evaluate, held, replace(held, is_widened=True), env)


def cast_one_by_one(evaluate: Evaluate, value: Tensor, env: Environment) -> None:
    """`parameter.data = value` in a loop over the parameters of modules."""
    if value.must_be(_FLOAT32):
        iterated = evaluate.frame.iterated
        models = [held for each in iterated for held in _mentioned(evaluate, each, env)]
        for held in models or _models(env):
            _change(evaluate, held, replace(held, is_widened=True), env)


def widen(evaluate: Evaluate, module: ast.expr, env: Environment) -> None:
    """A part of a module is cast to float32: that which is trained, as far as anybody knows."""
    held = evaluate.read(module, env)
    if isinstance(held, Model):
        bind(module, held, env)
        _change(evaluate, held, replace(held, is_widened=True), env)


@lru_cache(maxsize=4096)
def _prepares(name: str) -> bool:
    return _PREPARING.search(name) is not None


def _mentioned(evaluate: Evaluate, node: ast.expr, env: Environment) -> list[Model]:
    """The modules that an expression names; of a list of modules, all that are known here."""
    for inner in walk(node):
        match inner:
            case ast.Attribute(value=ast.Name(id="self")) if dotted(inner) not in env:
                held = evaluate.read(inner, env)
                if isinstance(held, Model):
                    bind(inner, held, env)
    paths = (dotted(each) for each in walk(node) if isinstance(each, ast.Name | ast.Attribute))
    values = [reading(env[path]) for path in paths if path is not None and path in env]
    if any(isinstance(value, Sequence) for value in values):
        return _models(env)
    return [value for value in values if isinstance(value, Model)]


def _models(env: Environment) -> list[Model]:
    return [value for value in env.values() if isinstance(value, Model)]


def _change(evaluate: Evaluate, held: Model, changed: Model, env: Environment) -> None:
    """A module changed in place: every name that holds it sees the change."""
    if held == changed:
        return
    names = [name for name, value in env.items() if value is held]
    replace_everywhere(held, changed, env)
    for name in names:
        owner, _, attribute = name.rpartition(".")
        if owner == "self" and evaluate.frame.owner is not None:
            evaluate.analysis.records.attribute(evaluate.frame, attribute, changed)
