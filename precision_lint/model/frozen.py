"""Frozen dataclasses that are cheap to make, the objects as well as the classes.

`dataclass(frozen=True)` guards each assignment while a program runs, those of `__init__` included,
which makes it three times as slow. Here the type checker guards them. And `dataclass` compiles six
methods for each class when its module is imported, which takes 0.4 ms. A run imports up to 280
such classes and uses a few, so here a method is compiled when it is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, make_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object):
        return lambda function: function


T = TypeVar("T")


@overload
def frozen(of: type[T]) -> type[T]: ...
@overload
def frozen(*, eq: bool = ..., slots: bool = ...) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    of: type[T] | None = None, *, eq: bool = True, slots: bool = True
) -> type[T] | Callable[[type[T]], type[T]]:
    """A class whose objects are equal and hashed by their fields, which nobody assigns.

    Without `eq`, each object is equal to itself alone. Without `slots`, an object may keep what is
    worked out about it (`cached_property`).
    """

    def made(of: type[T]) -> type[T]:
        own = vars(of).keys()
        done = dataclass(init=False, repr=False, eq=False, slots=slots)(of)
        for name in ("__init__", "__repr__", *(("__eq__", "__hash__") if eq else ())):
            if name not in own:
                setattr(done, name, _late(done, name))
        return done

    return made if of is None else made(of)


def _late(of: type, name: str) -> Callable[..., Any]:
    """A method that is compiled, and replaced by what comes of it, when it is first called."""

    def method(self: object, *args: object, **kwargs: object) -> Any:
        compiled = _compiled(of, name)
        setattr(of, name, compiled)
        return compiled(self, *args, **kwargs)

    return method


def _compiled(of: type, name: str) -> Callable[..., Any]:
    """One method of a dataclass: that of another one with the same fields."""
    own = {"__doc__": of.__doc__}  # else it would be made of the signature
    if hasattr(of, "__post_init__"):
        own["__post_init__"] = of.__post_init__
    other = make_dataclass(
        of.__name__,
        [(each.name, each.type, each) for each in fields(of)],
        namespace=own,
        init=name == "__init__",
        repr=name == "__repr__",
        eq=name == "__eq__",
        unsafe_hash=name == "__hash__",
    )
    method: Callable[..., Any] = vars(other)[name]
    method.__qualname__ = f"{of.__qualname__}.{name}"
    return method
