"""Methods of objects whose classes are not in the project: of modules, outputs, records."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.containers import in_containers
from precision_lint.facts.dtypes.domain.kin import kin_of
from precision_lint.facts.dtypes.domain.lattice import join_all, reading
from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    UNKNOWN,
    Constant,
    Instance,
    Model,
    ModelOutput,
    NonTensor,
    OneOf,
    Sequence,
    Tensor,
    Unknown,
    Value,
    Variable,
    caller_chosen,
)
from precision_lint.facts.dtypes.interpreter import models
from precision_lint.facts.dtypes.operators import functions
from precision_lint.facts.dtypes.syntax import sources


def of_output(receiver: ModelOutput, tensor: Tensor, name: str, given: CallSite) -> Value:
    """A method of what a model returned: of a tensor, or of a mapping or object that holds some."""
    match name:
        case "items":
            return Sequence(Sequence(UNKNOWN, (NON_TENSOR, models.as_weights(receiver))))
        case "values" | "to_tuple":
            return Sequence(models.as_weights(receiver))
        case "keys":
            return Sequence(NON_TENSOR)
        case "get" | "pop":
            key = given.first
            return (
                models.of_output(receiver, key.value)
                if isinstance(key, Constant) and isinstance(key.value, str)
                else models.as_weights(receiver)
            )
        case "copy" | "mode" | "sample" | "rsample":  # of what holds some, or of a distribution
            return receiver
    result = functions.method(name, tensor, given)
    is_known = isinstance(result, Tensor) and not (
        result.may_be_other and not result.dtypes and not result.clauses
    )
    if is_known or isinstance(result, NonTensor | Sequence):
        return result
    return receiver


def of_instance(receiver: Instance, name: str, given: CallSite, *, is_seen: bool = False) -> Value:
    """A method that an instance has from outside the project: of `nn.Module`, or of a record.

    `is_seen` says that the modules inside return what they compute in the dtype of their weights.
    """
    parameters = receiver.parameters or caller_chosen(given.origin(models.OF_THE_WEIGHTS))
    match name:
        case "_replace":
            return with_fields(receiver, given)
        case "get":
            return (
                receiver.field(str(given.first.value)) or UNKNOWN
                if isinstance(given.first, Constant)
                else UNKNOWN
            )
    seen = models.SEEN if is_seen else None
    whole = Model(parameters, seen, is_known=is_seen, kin=kin_of(receiver))
    result = models.method(whole, name, given)
    if isinstance(result, Model) and name not in models.INSIDE:
        moved = result.parameters
        if moved is not parameters:
            weights = None if moved.caller_chosen and not moved.clauses else moved
            held = tuple((key, _cast_with(field, weights)) for key, field in receiver.fields)
            return replace(receiver, fields=held, parameters=weights, cast=result.cast)
        return receiver
    if isinstance(result, Unknown):
        return functions.method(name, UNKNOWN, given)
    return result


def with_fields(record: Value, given: CallSite) -> Value:
    """A copy of a record, with other values in the fields that a call names."""
    if not isinstance(record, Instance):
        return UNKNOWN
    fields = dict(record.fields)
    fields.update({key: keyword.value for key, keyword in given.keywords.items()})
    return replace(record, fields=tuple(fields.items()))


def members_of(model: Model) -> tuple[Model | Instance, ...]:
    """The modules of a `Sequential`, after the casts of the whole."""
    weights = model.parameters
    given = [one.parameters for one in model.members]
    if model.cast is None and join_all([each for each in given if each is not None]) == weights:
        return model.members
    cast = (_cast_with(one, weights) for one in model.members)
    return tuple(one for one in cast if isinstance(one, Model | Instance))


def _cast_with(field: Value, weights: Tensor | None) -> Value:
    """A module that an object holds, after a cast of the object."""
    match field:
        case Model():
            return replace(field, parameters=weights or caller_chosen(field.parameters.origin))
        case Instance(parameters=Tensor(), fields=fields):
            held = tuple((key, _cast_with(inner, weights)) for key, inner in fields)
            return replace(field, fields=held, parameters=weights)
        case Instance():  # perhaps a module of several dtypes
            return replace(field, fields=())
    return in_containers(lambda one: _cast_with(one, weights), field)  # of a `ModuleList`


def of_module(instance: Instance, given: CallSite) -> Value:
    """A module of the project whose `forward` is inherited from outside of it."""
    parameters = instance.parameters or caller_chosen(given.origin(models.OF_THE_OUTPUT))
    return models.output(Model(parameters), given)


def of_named_model(name: str, given: CallSite) -> Value:
    """What a call gives whose name ends like a model: the model's output, or a model.

    `get_peft_model(model)` wraps the model that it is given, `load_model(path)` makes one.
    """
    if not sources.MAKING_NAME.search(name):
        return models.unknown(given)
    match reading(given.first):
        case Model() | Instance() | OneOf() | Variable() as model:
            return model
    return Model(caller_chosen())


def owner_is_module(node: ast.expr) -> bool:
    """True for `scheduler.alphas_cumprod`: an attribute of what is named like a module."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
            return bool(sources.MODULE_NAME.search(owner)) and not sources.INTEGRAL_NAME.search(
                name
            )
    return False
