"""Frozen dataclasses: what they do, and when their methods are compiled."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, fields, replace

import pytest

from precision_lint.model import frozen as module
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property


@frozen
class Point:
    x: int
    y: int = 0
    labels: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)


@dataclass(frozen=True, slots=True)
class Usual:
    x: int
    y: int = 0
    labels: list[str] = field(default_factory=list, compare=False)


@frozen(slots=False)
class Named(Point):
    name: str = "p"

    @cached_property
    def length(self) -> int:
        return len(self.name)


@frozen(eq=False)
class Single:
    x: int

    def __repr__(self) -> str:
        return "single"


def test_objects_are_equal_by_their_fields() -> None:
    assert Point(1, labels=["a"]) == Point(1) != Point(1, 2)
    assert Point(1) != Usual(1)
    assert hash(Point(1, labels=["a"])) == hash(Usual(1))
    assert {Point(1): 1}[Point(1, 0)] == 1
    one = Single(1)
    assert one == one != Single(1)
    assert len({one, Single(1)}) == 2


def test_they_are_dataclasses() -> None:
    assert [each.name for each in fields(Named)] == ["x", "y", "labels", "name"]
    assert replace(Point(1), y=5) == Point(1, 5)
    assert repr(Point(1)) == "Point(x=1, y=0, labels=[])"
    assert (repr(Named(1)), repr(Single(1))) == ("Named(x=1, y=0, labels=[], name='p')", "single")
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)


def test_each_object_has_its_own_defaults() -> None:
    assert Point(1).labels is not Point(1).labels


def test_what_follows_construction_is_called() -> None:
    with pytest.raises(ValueError, match="-1"):
        Named(-1)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required .* 'x'"):
        Point()  # type: ignore[call-arg]


def test_who_has_slots() -> None:
    assert not hasattr(Point(1), "__dict__")
    assert Named(1).length == 1


def test_copies() -> None:
    for each in (Point(1, 2), Named(1, name="n")):
        assert pickle.loads(pickle.dumps(each)) == copy.deepcopy(each) == copy.copy(each) == each


def test_methods_are_compiled_once_and_late(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_one = module._compiled

    def counted(of: type, name: str) -> object:
        compiled.append(f"{of.__name__}.{name}")
        return compile_one(of, name)

    monkeypatch.setattr(module, "_compiled", counted)

    @frozen
    class Late:
        x: int

    assert compiled == []
    assert [Late(1), Late(2)] != [Late(1), Late(3)]
    assert compiled == ["Late.__init__", "Late.__eq__"]
    assert len({Late(1), Late(1)}) == 1
    assert compiled == ["Late.__init__", "Late.__eq__", "Late.__hash__"]
