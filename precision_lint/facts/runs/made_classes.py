"""Who makes objects of the classes whose fields are settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.entries import programs_having
from precision_lint.facts.runs.interpreter.program import keyword_of
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition

_BASES = regex(r"class[ \t]+(\w+)[ \t]*\(([^()]*)")
_PARAMETERS = regex(r"\[[^\[\]]*\]")
"""What a generic base is filled with: `Output[Config]` extends no `Config`."""


def is_made(owner: str, path: Path, project: Recording) -> bool:
    """True if a program makes an object of a class or of one that extends it, or gives the class
    to what fills it.
    """
    return any(makes(program, owner, project) for program in programs_having(path, project))


def makes(program: Path, owner: str, project: Recording) -> bool:
    """True for a program that makes an object of a class, or gives the class to what fills it."""
    name = rf"(?:{'|'.join(map(re.escape, (owner, *extending(owner, project))))})"
    made = (
        rf"(?<!class )\b{name}\(|(?:default_factory\s*=|\bstructured\()\s*{name}\b"
        rf"|(?:cli|Parser|parse|wrap)\([^)\n]*\b{name}\b"
    )
    return project.reaches(program, made)


def extending(owner: str, project: Recording) -> tuple[str, ...]:
    """The names of the classes that extend a class of settings."""

    def compute() -> tuple[str, ...]:
        found: dict[str, None] = {}
        pending = [owner]
        for name in pending:  # it grows
            word = re.compile(rf"\b{re.escape(name)}\b")
            below = rf"class[ \t]+\w+[ \t]*\([^()]*\b{re.escape(name)}\b"
            for path in project.python_sources_matching(below.encode()):
                rows = _BASES.findall(project.config_files.text(path))
                new = [each for each, bases in rows if word.search(_PARAMETERS.sub("", bases))]
                pending += [each for each in new if each not in found and each != owner]
                found |= dict.fromkeys(new)
        return tuple(each for each in found if each != owner)

    return project.config_files.once(("extending", owner), compute)


def making_method(owner: ast.ClassDef, project: Recording) -> FunctionDefinition | None:
    """The method of a class that makes an object of it (`return cls(**values)`), if code that is
    no test calls that method.
    """
    for method in owner.body:
        if isinstance(method, FunctionDefinition) and next(_own_calls(method), None) is not None:
            called = rf"\b{re.escape(owner.name)}\.{re.escape(method.name)}\(".encode()
            paths = project.python_sources_matching(called)
            if not all(project.is_secondary(path) for path in paths):
                return method
    return None


def gives(method: FunctionDefinition, field: str) -> bool:
    """True for a method that makes an object of its class with a value of its own for a field."""
    return any(keyword_of(call, field) is not None for call in _own_calls(method))


def _own_calls(method: FunctionDefinition) -> Iterator[ast.Call]:
    """The calls of the class by a method of it."""
    for each in walk(method):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "cls":
            yield each
