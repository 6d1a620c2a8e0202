"""Statements that cast a module or a parameter in place, in branches that a program takes.

Other names may hold what they cast. A branch is not taken whose condition is a constant, or a
parameter of a function or a class to which all calls of the file give constants.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.nesting import blocks_around
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition, FunctionDefinition
from precision_lint.source.python.syntax import positional_parameters, with_defaults
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree
from precision_lint.source.python.truth import truth

_IN_PLACE = regex(
    r"^[ \t]*[\w.\[\]]+\."
    r"(?:(?:half|bfloat16|float|double)\(\)|to\([^\n]*(?:dtype|torch\.\w+)[^\n]*\))[ \t]*(?:#|$)"
    r"|\.data[ \t]*=(?!=)",
    re.MULTILINE,
)


@fact
def casts_in_place(file: ParsedPython) -> bool:
    """True if a file that is run may cast a module in place."""
    found = _IN_PLACE.finditer(file.text.text)
    return any(not _is_never_reached(each.end() - 1, file) for each in found)


def _is_never_reached(offset: int, file: ParsedPython) -> bool:
    """True for a place under a condition that fails in all calls of the file."""
    of_part = partial(_holds, syntax=syntax_tree(file))
    for (block, before), (inside, _) in pairwise(blocks_around(offset, file)):
        around = block[before]
        if isinstance(around, ast.If) and truth(around.test, of_part) is (inside is around.orelse):
            return True
    return False


def _holds(part: ast.expr, *, syntax: SyntaxTree) -> bool | None:
    match part:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id=name) if (function := syntax.function(part)) is not None:
            if isinstance(function, FunctionDefinition) and not syntax.stores(function, name):
                given = {*_given(name, function, syntax)}
                return given.pop() if len(given) == 1 else None
    return None


def _given(name: str, function: FunctionDefinition, syntax: SyntaxTree) -> Iterator[bool | None]:
    """Whether what each call gives to a parameter is true; None if that is not known."""
    owner = syntax.parent(function)
    is_method = isinstance(owner, ast.ClassDef)
    called = owner if isinstance(owner, ast.ClassDef) else function
    if function.decorator_list or (is_method and function.name != "__init__"):
        yield None
        return
    assert isinstance(called, Definition)
    names = [each.arg for each in positional_parameters(function.args)][is_method:]
    default = {each.arg: value for each, value in with_defaults(function.args)}.get(name)
    calls = {call.func: call for call in syntax.calls(called.name)}
    for node in syntax.nodes:
        if not isinstance(node, ast.Name) or node.id != called.name:
            continue
        call = calls.get(node)
        if call is None or any(isinstance(each, ast.Starred) for each in call.args):
            yield None
            continue
        given = dict(zip(names, call.args, strict=False))
        given |= {each.arg: each.value for each in call.keywords if each.arg}
        is_open = any(each.arg is None for each in call.keywords)
        value = None if is_open else given.get(name, default)
        yield bool(value.value) if isinstance(value, ast.Constant) else None
