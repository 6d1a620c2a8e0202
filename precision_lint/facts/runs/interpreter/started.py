"""The functions of a file that a command line calls by itself, whose parameters are its options.

Fire (0.7) calls a function, a method of a class or an object, an entry of a table, or, without an
argument, whatever the file defines and the first word names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition, FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_STARTERS = ("Fire", "run", "cli", "CLI", "auto_cli")


@fact
def started(file: ParsedPython) -> frozenset[str]:
    """The names of the functions and classes that a file gives to a command line."""
    return frozenset(name for name in _given(file) if name)


@fact
def offered(file: ParsedPython) -> frozenset[str]:
    """The names of all that the words of a command line may choose: those, methods of the classes
    among them, and what a file defines that calls `Fire()`.
    """
    names = started(file)
    tree = syntax_tree(file).tree
    defined = [each for each in tree.body if isinstance(each, Definition)]
    if any(not call.args and not call.keywords for call in syntax_tree(file).calls("Fire")):
        names |= {each.name for each in defined}
    methods = {
        method.name
        for each in defined
        if isinstance(each, ast.ClassDef) and each.name in names
        for method in each.body
        if isinstance(method, FunctionDefinition) and not method.name.startswith("_")
    }
    return names | methods


def _given(file: ParsedPython) -> Iterator[str]:
    for name in _STARTERS:
        for call in syntax_tree(file).calls(name):
            for argument in call.args:
                values = argument.values if isinstance(argument, ast.Dict) else (argument,)
                for value in values:
                    # `asyncio.run(main(config))` gives the arguments itself.
                    if isinstance(value, ast.Call) and name == "Fire":
                        value = value.func
                    yield last_name(value)
