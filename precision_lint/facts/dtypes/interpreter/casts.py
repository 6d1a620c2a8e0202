"""Casts of modules, which change the object in place wherever the call stands."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.environment import Environment, bind, replace_everywhere
from precision_lint.facts.dtypes.domain.kin import copied, forget_kin, kin_of, made, recast, related
from precision_lint.facts.dtypes.domain.lattice import join
from precision_lint.facts.dtypes.domain.terms import Parameter
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    ClassObject,
    Dictionary,
    FunctionValue,
    Instance,
    Model,
    OneOf,
    Sequence,
    Site,
    Symbol,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.syntax.mutations import CASTING, changed

_NONE: frozenset[Site] = frozenset()
_COPYING = Symbol("copy.deepcopy")


def with_kin(
    node: ast.Call, receiver: Value, function: Value, given: CallSite, result: Value
) -> Value:
    """What a call gives; of a module, that it may have parts of those that the call was given."""
    if function == _COPYING:
        return copied(result, _site(given))
    if not isinstance(result, Model | Instance) or result is receiver:
        return result
    if isinstance(node.func, ast.Attribute) and node.func.attr in CASTING:
        return result
    values = [*given.values, *(one.value for one in given.keywords.values())]
    if any(result is value for value in values):
        return result
    others = kin_of(receiver).union(*map(kin_of, values))
    if isinstance(result, Instance) and _makes(function, result):
        result = made(result, others, _site(given))
    return related(result, _site(given) | others)


def _makes(function: Value, result: Instance) -> bool:
    """True for a class, and for a function with the call that makes the object."""
    match function:
        case ClassObject():
            return True
        case FunctionValue(definition=definition):
            file = definition.module.file
            body = file.span_of(definition.node)
            return any(
                path == file.text.path and body.start <= span.start < body.end
                for path, span in result.kin
            )
    return False


def _site(given: CallSite) -> frozenset[Site]:
    return frozenset({(given.source.path, given.span)})


def cast_in_place(
    evaluate: Evaluate,
    node: ast.Call,
    receiver: Value,
    function: Value,
    result: Value,
    env: Environment,
) -> None:
    """`model.half()`: whoever holds the module, or a part of it, sees the change."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr in CASTING):
        return
    if isinstance(function, FunctionValue) or result is receiver:
        return
    evaluate.analysis.records.module_cast(evaluate.frame, node, result)
    match receiver, result:
        case (
            (Model(), Model())
            | (Instance(), Instance())
            | (OneOf(), OneOf())
            | (Sequence(), Sequence())  # a ModuleList
            | (Dictionary(), Dictionary())
        ):
            module, _ = changed(node)
            change(evaluate, module, receiver, result, env)
        case Sequence() | Dictionary(), _:
            forget_kin(kin_of(receiver), (), env)
        case Variable(), _ if _is_given_elsewhere(receiver, evaluate.frame):
            # It can be any module that an object was made of, as far as its class says.
            forget_kin(_NONE.union(*map(kin_of, env.values())), (), env)


def _is_given_elsewhere(value: Variable, frame: Frame) -> bool:
    """True for what another function was given: what an object keeps of its constructor's call."""
    roots = (term.root for term in value.terms)
    return any(isinstance(one, Parameter) and one.definition is not frame.function for one in roots)


def change(
    evaluate: Evaluate, module: ast.expr, before: Value, after: Value, env: Environment
) -> None:
    """A module that an expression names became another value."""
    known = [after]
    replace_everywhere(before, after, env)
    kept = join(before, after) if evaluate.frame.guards else after
    for given in evaluate.frame.constructions:  # what objects keep of it is cast as well
        replace_everywhere(before, kept, given)
    for part, became in recast(before, after):
        replace_everywhere(part, became, env)
        known.append(became)
    if isinstance(module, ast.Name | ast.Attribute):
        bind(module, after, env)
    kin = kin_of(before)
    while isinstance(module, ast.Attribute | ast.Subscript):
        module = module.value
        owner = evaluate(module, env)
        known.append(owner)
        kin |= kin_of(owner)
    forget_kin(kin, known, env)


def take_in(holder: Value, parts: Iterable[Value], env: Environment) -> None:
    """A module that others become parts of: a cast of it casts them."""
    kin = _NONE.union(*map(kin_of, parts))
    if kin and isinstance(holder, Model | Instance):
        replace_everywhere(holder, related(holder, kin), env)


def cast_by(
    routine: FunctionValue,
    given: Environment,
    env: Environment,
    taken: frozenset[str] = frozenset(),
) -> None:
    """A function that casts what it is given: what is known of those modules is out of date.

    But of those that some parameters have got, it is known what became of them.
    """
    kin = {name: kin_of(value) for name, value in given.items()}
    kin["self"] = kin_of(routine.receiver or UNKNOWN)
    if any(kin.values()):
        cast = (kin.get(name, _NONE) for name in routine.definition.casts_given - taken)
        forget_kin(_NONE.union(*cast), (), env)


def take(inner: Environment, env: Environment) -> None:
    """Modules that an expression with variables of its own may have cast."""
    for name, value in [*env.items()]:
        now = inner.get(name)
        if now is not None and now is not value and isinstance(value, Model | Instance):
            env[name] = join(value, now)
