"""The functions that get the entries of a table which a call hands on: `sample(net, kwargs=table)`.

Somewhere a program unpacks what has the name of the argument, `net(x, **kwargs)`, and only few
functions have a parameter for each of the keys.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.runs.code.built_tables import keys_of_display
from precision_lint.facts.runs.code.table_uses import is_of_library
from precision_lint.facts.runs.code.taking_calls import takes_settings
from precision_lint.facts.runs.code.ways import definitions
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import named_parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_LEAST_KEYS = 2
"""One name alone may be that of a parameter of anything."""
_MOST_FUNCTIONS = 4


def unpacked_later(
    table: ast.expr, given: ast.keyword, file: ParsedPython, program: Program
) -> list[tuple[ParsedPython, FunctionDefinition]]:
    """The functions to which a table goes that a call of the program gets as an argument; none if
    a library gets it, or if many functions take such entries.
    """
    keys = keys_of_display(table) or frozenset()
    call = syntax_tree(file).parent(given)
    if len(keys) < _LEAST_KEYS or not given.arg or not isinstance(call, ast.Call):
        return []
    if takes_settings(call, file) or is_of_library(call, file, program.project):
        return []
    unpacks = re.compile(rf"\*\*{re.escape(given.arg)}\b")
    text = program.project.config_files.text
    if not any(unpacks.search(text(path)) for path in program.paths):
        return []
    found = [*islice(_taking(keys, program), _MOST_FUNCTIONS + 1)]
    return found if len(found) <= _MOST_FUNCTIONS else []


def _taking(
    keys: frozenset[str], program: Program
) -> Iterator[tuple[ParsedPython, FunctionDefinition]]:
    """The functions that have a parameter for each of some keys."""
    key = min(keys, key=lambda one: (-len(one), one))
    for file in (*program.mentioning(key), *_named_modules(key, program)):
        for functions in definitions(file).values():
            for function in functions:
                if keys <= {each.arg for each in named_parameters(function.args)}:
                    yield file, function


def _named_modules(key: str, program: Program) -> Iterator[ParsedPython]:
    """The modules with a name that files of settings name, for a class in them: the program loads
    it by its path.
    """
    project = program.project
    for path in project.python_sources_matching(rf"\b{re.escape(key)}\b".encode()):
        module = ".".join(path.relative_to(project.root).with_suffix("").parts)
        is_named = path not in program.paths and project.other_file_matches(
            rf"[:=][ \t]*[\"']?{re.escape(module)}\.[A-Z]\w*".encode()
        )
        if is_named and (file := project.module(path)) is not None:
            yield file
