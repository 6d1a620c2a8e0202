"""Averages of weights that a loop over parameters keeps in place, whatever they are called.

`slow.mul_(m).add_(fast, alpha=1 - m)` and `slow.lerp_(fast, 1 - m)` are averages by what they do:
the two factors add up to one.
"""

from __future__ import annotations

import ast
import re

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import ModelOutput, Tensor
from precision_lint.facts.dtypes.libraries.copies import COPIES
from precision_lint.facts.numerics.half_results import (
    HalfResult,
    may_be_averaged_copy,
    result_in_half,
)
from precision_lint.facts.numerics.uses import names_of
from precision_lint.model.dtypes import BFLOAT16, FLOAT16
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import calls_by_span, syntax_tree

AVERAGING = frozenset({"add_", "lerp_"})

_OF_WEIGHTS = regex(r"\.(?:named_)?parameters\(|\.state_dict\(")
_ONCE = regex(r"merg|soup|interpolat|blend|mix|combine", re.IGNORECASE)
"""Functions that average models once, as their names say: no step is lost."""

_SLOW = 0.9
"""The decay from which on a step is lost: bfloat16 has eight bits."""


def may_be_average(node: ast.expr, file: ParsedPython) -> bool:
    """True for a step of an average of weights."""
    average = _average(node) if isinstance(node, ast.Call) else None
    average = None if average is None else _kept(average, file)
    if average is None:
        return False
    around = [*syntax_tree(file).around(node)]
    if any(isinstance(each, FunctionDefinition) and _ONCE.search(each.name) for each in around):
        return False
    return any(
        isinstance(loop, ast.For)
        and average.id in names_of(loop.target)
        and _gives_weights(loop.iter, file)
        for loop in around
    )


def _kept(average: ast.expr, file: ParsedPython) -> ast.Name | None:
    """The variable that a loop gives: the average, or its key, `name` of `self.shadow[name]`."""
    average = _without_data(average)
    if isinstance(average, ast.Name):
        match binding(average, syntax_tree(file)):
            case [ast.Subscript() | ast.Attribute(attr="data") as assigned]:
                average = _without_data(assigned)
    match average:
        case (ast.Name() as name) | ast.Subscript(slice=ast.Name() as name):
            return name
    return None


def _without_data(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return node


def _gives_weights(iterated: ast.expr, file: ParsedPython) -> bool:
    """True for parameters, for a function of the file that goes over some, and for what is kept."""
    if _OF_WEIGHTS.search(ast.unparse(iterated)) is not None or _keeps_weights(iterated, file):
        return True
    called = callee_name(iterated) if isinstance(iterated, ast.Call) else ""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = (each for kind in kinds for each in file.nodes_of(kind))
    return any(
        isinstance(each, FunctionDefinition)
        and each.name == called
        and _OF_WEIGHTS.search(ast.unparse(each)) is not None
        for each in functions
    )


def _keeps_weights(iterated: ast.expr, file: ParsedPython) -> bool:
    """True for an attribute to which its class assigns weights alone: `self.average.items()`."""
    match iterated:
        case ast.Call(func=ast.Attribute(value=held, attr="items" | "values"), args=[]):
            iterated = held
    syntax = syntax_tree(file)
    owner = enclosing_class(iterated, syntax)
    if not isinstance(iterated, ast.Attribute) or owner is None:
        return False
    assigned = attribute(iterated, owner, syntax)
    return bool(assigned) and all(
        _OF_WEIGHTS.search(ast.unparse(each)) is not None for each in assigned or ()
    )


def averaged_in_place(call: Call, file: PythonFile) -> HalfResult | None:
    """The step of an average of weights that are in half precision.

    Where the copy is called an average, that is the place.
    """
    node = calls_by_span(file).get(call.span)
    if node is None or not may_be_average(node, file) or _names_averages(file):
        return None
    match call.receiver:
        case (Tensor() as weight) | ModelOutput(tensor=weight):
            return result_in_half(call, weight, (BFLOAT16, FLOAT16), file)
    return None


@fact
def _names_averages(file: PythonFile) -> bool:
    """True if the file makes a copy that is called an average."""
    return any(
        callee_name(node) in COPIES and may_be_averaged_copy(node, file)
        for node in file.nodes_of(ast.Call)
    )


def _average(node: ast.Call) -> ast.expr | None:
    """What is averaged in place, if the decay can be large; None for any other call."""
    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(
                    func=ast.Attribute(value=average, attr="mul_"), args=[decay], keywords=[]
                ),
                attr="add_",
            ),
            args=[_],
            keywords=[ast.keyword(arg="alpha", value=step)],
        ):
            return average if _is_rest(step, decay) and not _is_fast(decay) else None
        case ast.Call(
            func=ast.Attribute(value=average, attr="lerp_"),
            args=[_, ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub(), right=decay)],
        ):
            return None if _is_fast(decay) else average
        case ast.Call(
            func=ast.Attribute(value=average, attr="lerp_"),
            args=[_, ast.Constant(value=float(step))],
        ):
            return average if 1 - step >= _SLOW else None
    return None


def _is_rest(step: ast.expr, decay: ast.expr) -> bool:
    """True for `1 - decay`, and for numbers that add up to one."""
    match step, decay:
        case ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub(), right=right), _:
            return ast.unparse(right) == ast.unparse(decay)
        case ast.Constant(value=float(rest)), ast.Constant(value=float(kept)):
            return abs(rest + kept - 1) < 1e-9
    return False


def _is_fast(decay: ast.expr) -> bool:
    return isinstance(decay, ast.Constant) and not (
        isinstance(decay.value, float) and decay.value >= _SLOW
    )
