"""Blocks that need no `no_grad` around them: what they call records no gradients by itself, or
needs gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.amp.regions.autocast import WITHOUT_GRADIENTS, records_no_gradients
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.operators.rejections import HARMLESS
from precision_lint.facts.project.facts import Recording
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, innermost_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 3
_MOST_FILES = 8
"""Files that are read for the definitions of one name."""


def gradients_are_off(node: ast.With | ast.AsyncWith, file: PythonFile) -> bool:
    """True if a block is under `no_grad` already, or if all that it calls are functions of the
    project which run models under a `no_grad` of their own, or call `backward` themselves.
    """
    if records_no_gradients(node, syntax_tree(file)):
        return True
    calls = [*_calls(node.body)]
    return bool(calls) and all(_is_covered(each, file, file.project, _MOST_HOPS) for each in calls)


def _is_covered(call: ast.Call, file: ParsedPython, project: Recording, hops: int) -> bool:
    """True if all functions that a call may call are such."""
    found = [*_definitions(call, file, project)]
    return bool(found) and all(_has_its_own(one, home, project, hops) for one, home in found)


def _has_its_own(
    function: ast.FunctionDef, file: ParsedPython, project: Recording, hops: int
) -> bool:
    if any(innermost_name(each) in WITHOUT_GRADIENTS for each in function.decorator_list):
        return True
    calls = [*_calls(function.body)]
    if any(callee_name(call) == "backward" for call in calls):
        return True
    return hops > 0 and any(_is_covered(call, file, project, hops - 1) for call in calls)


def _calls(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """The calls of a block that may compute something."""
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Call) and callee_name(node) not in HARMLESS:
                yield node


def _definitions(
    call: ast.Call, file: ParsedPython, project: Recording
) -> Iterator[tuple[ast.FunctionDef, ParsedPython]]:
    """The functions of the project that a call may call: a method by its name."""
    name, path = callee_name(call), file.text.path
    module = qualified(call.func, syntax_tree(file).names).rpartition(".")[0]
    imported = project.locate(path, module) if module.strip(".") else None
    paths = [imported] if imported is not None else [*project.defining(name)]
    for each in paths[:_MOST_FILES]:
        is_own = each == path
        home = file if is_own else project.module(each)
        if home is not None and (is_own or imported or project.runs_with(each, path)):
            functions = home.nodes_of(ast.FunctionDef)
            yield from ((one, home) for one in functions if one.name == name)
