"""What the fields of the object are that the first word of a run names.

`tyro.extras.overridable_config_cli({"base": ("the base", Config(name="base"))})` (tyro 1.0)
takes the members of the object with that name as the defaults of its options, and not those of the
class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.runs.interpreter.program import Program, calls_in, keyword_of
from precision_lint.facts.settings.given import Declaration, Kind
from precision_lint.source.python.parse import ParsedPython

_NAME = "name"


def objects_with(field: str, given: Declaration, program: Program) -> bool:
    """True if the first word of a run names one of several objects of the class of a field, and
    some have a value of their own in it.
    """
    if given.kind is not Kind.FIELD or not program.calls("overridable_config_cli"):
        return False
    return any(keyword_of(call, field) is not None for _, call in _objects(given.owner, program))


def named_object(
    name: str, given: Declaration, program: Program
) -> tuple[ParsedPython, ast.Call] | None:
    """The one object of the class of a field that has a name."""
    found = [
        (file, call)
        for file, call in _objects(given.owner, program)
        if isinstance(own := keyword_of(call, _NAME), ast.Constant) and own.value == name
        if all(each.arg is not None for each in call.keywords)
    ]
    return found[0] if len(found) == 1 else None


def _objects(owner: str, program: Program) -> tuple[tuple[ParsedPython, ast.Call], ...]:
    return program.fact(("objects of", owner), lambda: tuple(_made(owner, program)))


def _made(owner: str, program: Program) -> Iterator[tuple[ParsedPython, ast.Call]]:
    for file, call in calls_in(program.mentioning(owner), owner):
        if keyword_of(call, _NAME) is not None:
            yield file, call
