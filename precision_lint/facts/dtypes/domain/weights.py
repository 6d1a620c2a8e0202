"""What an object is as a module: its weights, and the call that gave them their dtype."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.lattice import join_all, reading
from precision_lint.facts.dtypes.domain.values import Instance, Model, OneOf, Tensor, Value


def as_module(value: Value | None) -> Model | Tensor | None:
    """A module of which the dtype is known; what the flow calls a tensor was a module, too.

    Of one of several objects, what is known of all of them: who casts one casts the others.
    """
    match value if value is None else reading(value):
        case Model() | Tensor() as module:
            return module
        case Instance(parameters=Tensor() as weights, cast=cast):
            return Model(weights, cast=cast)
        case OneOf(members=members):
            modules = [as_module(one) for one in members]
            if all(isinstance(one, Model) for one in modules):
                return as_module(join_all(filter(None, modules)))
    return None
