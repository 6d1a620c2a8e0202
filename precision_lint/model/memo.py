"""What is worked out once about an object, and lives as long as it does.

An object may be shared by many files that are checked. So the questions that were asked for what is
known of it are kept as well, and are repeated for everybody who uses it: see `trace`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Generic, TypeVar, overload

from precision_lint.model.trace import repeat, traced

T = TypeVar("T")
M = TypeVar("M", bound="Memo")
Owner = TypeVar("Owner")


class Memo:
    """An object that keeps facts about itself: `functools.cached_property` for other modules."""

    def fact(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The fact with this key, computed when it is first needed."""
        facts: dict[Hashable, Any] = self.__dict__.setdefault("_facts", {})
        if key not in facts:
            facts[key], asked = traced(compute)
            if asked:
                self.__dict__.setdefault("_asked", {})[key] = asked
        elif "_asked" in self.__dict__:
            repeat(self.__dict__["_asked"].get(key, ()))
        found: T = facts[key]
        return found

    def forget(self) -> None:
        """Let go of the facts, which may refer to the object: nobody will ask for them again.

        Without cycles, counting references frees trees at once. The garbage collector would have
        to visit their millions of nodes to find out.
        """
        self.__dict__.pop("_asked", None)
        for known in self.__dict__.pop("_facts", {}).values():
            if isinstance(known, Memo):
                known.forget()


def fact(compute: Callable[[M], T]) -> Callable[[M], T]:
    """A function of one object that is computed once for each object."""

    @wraps(compute)
    def kept(of: M) -> T:
        return of.fact(compute, lambda: compute(of))

    return kept


class cached_property(Generic[Owner, T]):
    """`functools.cached_property` for what may ask the project a question."""

    def __init__(self, compute: Callable[[Owner], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, of: None, owner: type) -> cached_property[Owner, T]: ...
    @overload
    def __get__(self, of: Owner, owner: type) -> T: ...
    def __get__(self, of: Owner | None, owner: type) -> cached_property[Owner, T] | T:
        if of is None:
            return self
        key = f"_asking {self._name}"
        if (known := of.__dict__.get(key)) is not None:
            found: T
            found, asked = known
            repeat(asked)
            return found
        found, asked = traced(lambda: self._compute(of))
        # Without questions, the object has it as an attribute, and this is not called again.
        of.__dict__[key if asked else self._name] = (found, asked) if asked else found
        return found
