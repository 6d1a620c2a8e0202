"""Regular expressions of modules: each can be compiled, and is when it is first used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from precision_lint.model import regex as module
from precision_lint.model.regex import Late, regex
from tests.test_architecture import MODULES, name_of

_OF_EXTRAS = ("precision_lint.cli", "precision_lint.scan", "precision_lint.runtime")
"""What needs packages that need not be installed."""


def _late(value: object) -> Iterator[Late]:
    """The expressions that a value is or holds."""
    if isinstance(value, Late):
        yield value
    elif isinstance(value, dict):
        yield from _late([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _late(each)


def test_each_expression_of_a_module_can_be_compiled() -> None:
    found = 0
    for package, path in MODULES:
        name = name_of(package, path)
        if name.startswith(_OF_EXTRAS):
            continue
        # `__builtins__` is none of the module's own: others keep what they like in there.
        own = {key: value for key, value in vars(import_module(name)).items() if key[:2] != "__"}
        for value in own.values():
            for each in _late(value):
                assert re.compile(each.pattern, each._flags).flags == each.flags
                found += 1
    assert found > 300


def test_it_does_what_the_compiled_one_does() -> None:
    one, other = regex(r"(?P<word>\w+)", re.ASCII), re.compile(r"(?P<word>\w+)", re.ASCII)
    assert one.findall("a b") == other.findall("a b")
    assert one.sub("x", "a b") == "x x"
    assert (one.pattern, one.flags, one.groups) == (other.pattern, other.flags, other.groups)
    assert regex(rb"\d").search(b"a1") is not None
    with pytest.raises(AttributeError):
        one.missing  # type: ignore[attr-defined]  # noqa: B018


def test_it_is_compiled_once_and_late(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    compile_one = re.compile

    def counted(pattern: str, flags: int) -> object:
        compiled.append(pattern)
        return compile_one(pattern, flags)

    monkeypatch.setattr(module.re, "compile", counted)
    one = regex("a+")
    assert compiled == []
    assert one.search("aa") is not None
    assert one.match("b") is None
    assert one.search("b") is None
    assert compiled == ["a+"]
