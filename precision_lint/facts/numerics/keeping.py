"""Functions of a file that keep what they are given: the run of a program sees it all."""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.operators.rejections import HARMLESS
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted, named_parameters

_OF_TORCH = ("torch.", "nn.", "F.")


@fact
def functions_keeping(file: PythonFile) -> frozenset[str]:
    """The functions at the top level that hand no parameter to code which is not seen."""
    every = (node for node in file.tree.body if isinstance(node, FunctionDefinition))
    return frozenset(node.name for node in every if _keeps(node))


def _keeps(function: FunctionDefinition) -> bool:
    names = {each.arg for each in named_parameters(function.args)}
    calls = (node for node in walk(function) if isinstance(node, ast.Call))
    return not function.decorator_list and not any(_hands_on(call, names) for call in calls)


def _hands_on(call: ast.Call, names: set[str]) -> bool:
    """True if something else than torch, or a parameter itself, gets one of some parameters."""
    called = dotted(call.func) or ""
    is_known = called.startswith(_OF_TORCH) or called in names or callee_name(call) in HARMLESS
    given = (*call.args, *(each.value for each in call.keywords))
    held = {each.id for one in given for each in walk(one) if isinstance(each, ast.Name)}
    return not is_known and not names.isdisjoint(held)
