"""Who makes objects of the classes whose fields are settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.mentioned import is_mentioned
from precision_lint.facts.runs.entries import programs_having
from precision_lint.facts.runs.interpreter.program import keyword_of
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

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


def is_always_given(owner: str, field: str, project: Recording) -> bool:
    """True if each call of a class, and of those that extend it, gives a field, but for calls in
    functions that nothing names, and nothing else makes an object: its default is never in force.
    """
    names = frozenset((owner, *extending(owner, project)))
    word = rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b".encode()
    count = 0
    for path in project.python_sources_matching(word):
        file = project.module(path)
        for node in file.nodes if file is not None else ():
            match node:
                case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) if name in names:
                    pass
                case ast.ClassDef(name=name) if name in names and _copies(node):
                    return False
                case _:
                    continue
            assert file is not None
            if isinstance(node, ast.ClassDef) or _is_type(node, syntax_tree(file)):
                continue
            call = syntax_tree(file).parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                return False  # who gets the class may make objects of it
            if keyword_of(call, field) is not None:
                count += 1
                continue
            function = syntax_tree(file).function(call)
            is_idle = isinstance(function, FunctionDefinition) and not is_mentioned(
                function, file, project
            )
            if not is_idle:
                return False
    return count > 0


def _copies(owner: ast.ClassDef) -> bool:
    """True for a class whose methods make objects of it: `cls(**values)`, `type(self)(…)`."""
    return any(
        (isinstance(each, ast.Name) and each.id == "cls")
        or (isinstance(each, ast.Call) and last_name(each.func) in ("type", "replace"))
        or (isinstance(each, ast.Attribute) and each.attr == "__class__")
        for each in walk(owner)
    )


def _is_type(node: ast.AST, syntax: SyntaxTree) -> bool:
    """True for a mention of a class that makes nothing: an annotation, a base, `isinstance`."""
    inner: ast.AST = node
    outer = syntax.parent(node)
    while isinstance(outer, ast.Subscript | ast.BinOp | ast.Tuple | ast.List):
        inner, outer = outer, syntax.parent(outer)
    match outer:
        case ast.arg() | ast.ClassDef():
            return True
        case ast.AnnAssign(annotation=annotation):
            return annotation is inner
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            return returns is inner
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return kinds is inner
    return False
