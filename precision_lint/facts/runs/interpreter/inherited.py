"""What a class has of the classes that it extends: members of `self`, and calls of `__init__`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.runs.interpreter.program import Program, other_names
from precision_lint.source.python.bindings import attribute, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_LEVELS = 4
_Class = tuple[ParsedPython, ast.ClassDef]


def inherited(
    node: ast.Attribute, owner: ast.ClassDef, program: Program
) -> list[tuple[ParsedPython, ast.expr]]:
    """The values that the nearest class above one assigns to `self.name`; none if a class below
    assigns it as well, or if not all are seen.
    """
    if any(_assigns(node.attr, *each) for each in _below(owner.name, program)):
        return []
    for file, above in _above(owner, program):
        if _assigns(node.attr, file, above):
            values = attribute(node, above, syntax_tree(file))
            return [(file, value) for value in values or ()]
    return []


def calls_by_extending(
    owner: ast.ClassDef, program: Program, levels: int = _MOST_LEVELS
) -> list[tuple[ParsedPython, ast.Call]]:
    """Where classes that extend one call its `__init__`: `super().__init__(args)`. One without an
    `__init__` of its own is called in its place.
    """
    found: list[tuple[ParsedPython, ast.Call]] = []
    for file, below in _extending(owner.name, program) if levels else ():
        own = _init(below)
        if own is not None:
            found += [(file, call) for call in _calls_above(own)]
        else:
            calls = program.calls_of(below.name, file)
            found += calls or calls_by_extending(below, program, levels - 1)
    return found


def initializers(
    call: ast.Call, file: ParsedPython, program: Program
) -> list[tuple[ParsedPython, FunctionDefinition]]:
    """The `__init__` of a class above that a call comes to: of `super().__init__(args)`, of a class
    without one of its own, and of one under another name, `Kind = Task`.
    """
    if _is_call_above(call):
        return initializers_above(call, file, program)
    called = last_name(call.func)
    known = (name for name, others in other_names(file).items() if called in others)
    name = next(known, called)
    return initializers_of(name, program) if name[:1].isupper() else []


def initializers_above(
    call: ast.Call, file: ParsedPython, program: Program
) -> list[tuple[ParsedPython, FunctionDefinition]]:
    """The `__init__` that `super().__init__(args)` comes to; none for any other call."""
    owner = enclosing_class(call, syntax_tree(file)) if _is_call_above(call) else None
    return _init_above(owner, program) if owner is not None else []


def initializers_of(name: str, program: Program) -> list[tuple[ParsedPython, FunctionDefinition]]:
    """The `__init__` of the only class of a name: its own, or that of the nearest one above."""
    found = _classes(name, program)
    if len(found) != 1:
        return []
    ((home, owner),) = found
    own = _init(owner)
    return [(home, own)] if own is not None else _init_above(owner, program)


def _init_above(
    owner: ast.ClassDef, program: Program
) -> list[tuple[ParsedPython, FunctionDefinition]]:
    above = ((file, _init(each)) for file, each in _above(owner, program))
    return [(file, init) for file, init in above if init is not None][:1]


def _above(owner: ast.ClassDef, program: Program, levels: int = _MOST_LEVELS) -> Iterator[_Class]:
    """The classes of the program that one extends, the nearest first, as far as each is known."""
    for base in owner.bases if levels else ():
        found = _classes(last_name(base), program)
        if len(found) == 1 and found[0][1] is not owner:
            yield found[0]
            yield from _above(found[0][1], program, levels - 1)


def _classes(name: str, program: Program) -> tuple[_Class, ...]:
    """The classes of a name, also in files that say nothing of settings themselves."""

    def compute() -> tuple[_Class, ...]:
        return tuple(
            (file, node)
            for file in program.mentioning(name)
            for node in file.nodes
            if isinstance(node, ast.ClassDef) and node.name == name
        )

    return program.fact(("classes", name), compute)


def _below(name: str, program: Program, levels: int = _MOST_LEVELS) -> Iterator[_Class]:
    """The classes that extend one, and those that extend them."""
    for file, each in _extending(name, program) if levels else ():
        yield file, each
        yield from _below(each.name, program, levels - 1)


def _extending(name: str, program: Program) -> tuple[_Class, ...]:
    """The classes that extend one of a name."""
    return program.fact(("extending", name), lambda: tuple(_found(name, program)))


def _found(name: str, program: Program) -> Iterator[_Class]:
    for file in program.mentioning(name):
        for node in file.nodes:
            if isinstance(node, ast.ClassDef) and name in map(last_name, node.bases):
                yield file, node


def _assigns(name: str, file: ParsedPython, owner: ast.ClassDef) -> bool:
    return bool(syntax_tree(file).attribute_stores(owner).get(name))


def _init(owner: ast.ClassDef) -> FunctionDefinition | None:
    own = (each for each in owner.body if isinstance(each, FunctionDefinition))
    return next((each for each in own if each.name == "__init__"), None)


def _calls_above(init: FunctionDefinition) -> Iterator[ast.Call]:
    """The calls of `super().__init__` in an `__init__`."""
    yield from (each for each in walk(init) if isinstance(each, ast.Call) and _is_call_above(each))


def _is_call_above(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return True
    return False
