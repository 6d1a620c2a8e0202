"""Statements that call a function of the project for its autocast context, and drop the context."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from precision_lint.facts.amp.regions.autocast import is_autocast
from precision_lint.facts.amp.training_step.helpers import Helpers, owner_at
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Related
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, own_statements
from precision_lint.source.python.syntax import callee_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_RETURNING = rb"\breturn\b[^\n]*\bautocast\b"
_NO_EFFECT = (ast.Assign, ast.AnnAssign, ast.If, ast.Return, ast.Pass)
"""What a function does that is called for nothing but its result."""


class Dropped(NamedTuple):
    """A call whose result is an autocast context, and where that is made."""

    call: ast.Call
    made: Related


def dropped(file: PythonFile) -> Iterator[Dropped]:
    """The statements of a file that make a context by a function, and never enter it."""
    paths = file.project.python_sources_matching(_RETURNING)
    modules = filter(None, map(file.project.module, paths))
    makers = frozenset[str]().union(*({each.name for each in _makers(one)} for one in modules))
    calls = [
        statement.value
        for statement in file.nodes_of(ast.Expr)
        if isinstance(statement.value, ast.Call) and callee_name(statement.value) in makers
    ]
    helpers = Helpers(file) if calls else None
    for call in calls:
        assert helpers is not None
        main = helpers.program.main
        found = helpers.find(call, main, owner_at(call, main), {}, is_concerned=True)
        if found is None:
            continue
        home = found.function.module.file
        if (made := _makers(home).get(found.node)) is not None:
            yield Dropped(call, Related(home.text.place(home.span_of(made)), "the context"))


@fact
def _makers(file: ParsedPython) -> dict[FunctionDefinition, ast.Call]:
    """The functions of a file that do nothing but return a context, and the autocast call."""
    found: dict[FunctionDefinition, ast.Call] = {}
    for node in file.nodes:
        if isinstance(node, FunctionDefinition) and not node.decorator_list:
            made = _made_by(node, file)
            if made is not None:
                found[node] = made
    return found


def _made_by(function: FunctionDefinition, file: ParsedPython) -> ast.Call | None:
    """The autocast context that a function returns, if all that it returns is a context."""
    names = syntax_tree(file).names
    contexts: list[ast.Call] = []
    for statement in own_statements(function.body):
        match statement:
            case ast.Return(value=ast.Call(func=func) as value):
                if is_autocast(name := qualified(func, names)):
                    contexts.append(value)
                elif name != "contextlib.nullcontext":
                    return None
            case ast.Return():
                return None
            case ast.Expr(value=ast.Constant()):
                pass  # its documentation
            case _ if not isinstance(statement, _NO_EFFECT):
                return None
    return contexts[0] if contexts else None
