"""The calls of a file that refuse an array or a scalar of NumPy: in any run, or as a program."""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.libraries.refusals import REFUSALS
from precision_lint.facts.dtypes.operators.operands import may_fail_on_purpose
from precision_lint.facts.dtypes.operators.refused import Refused, refused_array
from precision_lint.facts.numerics.program import calls_of_program
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_REMOVING = ("clear", "discard", "pop", "popitem", "popleft", "remove")
_NAMES = frozenset(name.rpartition(".")[2] for name in REFUSALS)


@fact
def refused_arrays(file: PythonFile) -> tuple[Refused, ...]:
    """What certainly raises, whoever calls its function, or where the file runs as a program."""
    syntax = syntax_tree(file)
    asked = {id(call): call for name in _NAMES for call in syntax.calls(name)}
    if not any(_is_listed(call, syntax) for call in asked.values()):
        return ()

    def is_worth_a_look(node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and _is_listed(node, syntax)

    own = calls_in(file, _NAMES, intraprocedural=_NAMES, worth=is_worth_a_look)
    found: dict[Span, Refused] = {}
    for call in (*own, *calls_of_program(file)):
        one = refused_certainly(call, file)
        if one is not None and not may_fail_on_purpose(call, file):
            found.setdefault(call.span, one)
    return tuple(found[span] for span in sorted(found))


def refused_certainly(call: Call, file: PythonFile) -> Refused | None:
    """What a call refuses, unless it may have been taken out of what the call is given."""
    found = refused_array(call)
    is_gone = found is not None and found.is_inside and _may_be_removed(found, file)
    return None if is_gone else found


def _may_be_removed(found: Refused, file: PythonFile) -> bool:
    """True if the file takes something out of the container, or an entry of that name out of any.

    What a container holds is known from what is put in: it may hold less.
    """
    syntax = syntax_tree(file)
    name = file.text[found.argument.span].rpartition(".")[2]
    for method in _REMOVING:
        for call in syntax.calls(method):
            if isinstance(call.func, ast.Attribute) and last_name(call.func.value) == name:
                return True
            if call.args and _is_key(call.args[0], found):
                return True
    deleted = (each for node in file.nodes_of(ast.Delete) for each in node.targets)
    return any(
        last_name(each.value) == name or _is_key(each.slice, found)
        for each in deleted
        if isinstance(each, ast.Subscript)
    )


def _is_key(node: ast.expr, found: Refused) -> bool:
    return isinstance(node, ast.Constant) and node.value in found.inside


def _is_listed(call: ast.Call, syntax: SyntaxTree) -> bool:
    return qualified(call.func, syntax.names) in REFUSALS
