"""Classes that a table names by their whole path, beside what they are given:
`EasyDict(class_name="training.model.Model", use_bf16=args.bf16)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.runs.code.ways import definitions
from precision_lint.facts.runs.interpreter.inherited import initializers_of
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition

_PATH = regex(r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*", re.ASCII)


def named_beside(
    table: ast.expr, file: ParsedPython, program: Program
) -> Iterator[tuple[ParsedPython, FunctionDefinition]]:
    """The functions, and the `__init__` of the classes, whose paths are entries of a table."""
    for value in _values(table):
        match value:
            case ast.Constant(value=str(text)) if _PATH.fullmatch(text):
                module, _, name = text.rpartition(".")
                path = program.project.locate(file.text.path, module)
                home = program.project.module(path) if path is not None else None
                if home is None or path not in program.paths:
                    continue
                own = definitions(home).get(name, ())
                yield from [(home, each) for each in own] or initializers_of(name, program)


def _values(table: ast.expr) -> Iterator[ast.expr]:
    match table:
        case ast.Dict(values=values):
            yield from values
        case ast.Call(keywords=keywords):
            yield from (each.value for each in keywords if each.arg is not None)
