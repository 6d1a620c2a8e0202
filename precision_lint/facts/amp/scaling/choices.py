"""Comparisons of a setting with bfloat16, beside a scaler that does not depend on them.

`self.is_bf16 = config.dtype == "bf16"` in the class that makes a scaler says that some run trains
in bfloat16. The scaler is fine if it is not used then: where the loss is scaled, the conditions are
evaluated for a run in bfloat16, the flags in them included.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.scaling.scalers import calls_under, spelled_out
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.conditions import (
    condition_admits_bfloat16,
    condition_excludes_bfloat16,
    names_bfloat16,
)
from precision_lint.facts.settings import holds_settings
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree


def bfloat16_choice(node: ast.Call, file: PythonFile) -> ast.Compare | None:
    """The comparison of a setting with bfloat16 in the code that makes and uses a scaler."""
    syntax = syntax_tree(file)
    owner = enclosing_class(node, syntax) or syntax.function(node) or file.tree
    scaling = [call for call in _scaling(owner, file) if not _is_off(call, owner, file)]
    if not scaling:
        return None
    return next((test for test in _comparisons(owner) if not _is_refused(test, syntax)), None)


def _scaling(owner: ast.AST, file: PythonFile) -> Iterator[tuple[tuple[ast.expr, bool], ...]]:
    """The conditions around each `scaler.scale(loss)`."""
    for call, conditions in calls_under(owner, ()):
        if callee_name(call) == "scale" and len(call.args) == 1:
            yield tuple((spelled_out(test, file), holds) for test, holds in conditions)


def _is_off(
    conditions: tuple[tuple[ast.expr, bool], ...], owner: ast.AST, file: PythonFile
) -> bool:
    """True if the loss is not scaled in bfloat16."""
    for test, holds in conditions:
        if condition_excludes_bfloat16(test, holds):
            return True
        for name in _flags(test, holds):
            if _is_cleared(name, owner, file):
                return True
    return False


def _flags(test: ast.expr, holds: bool) -> Iterator[str]:
    """The names that must be true for a condition to hold, or to fail."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _flags(operand, not holds)
        case ast.BoolOp(op=ast.And(), values=values) if holds:
            for value in values:
                yield from _flags(value, holds)
        case ast.Name() | ast.Attribute() if holds:
            yield dotted(test) or ""


def _is_cleared(name: str, owner: ast.AST, file: PythonFile) -> bool:
    """True if a flag becomes false under a condition that bfloat16 alone meets."""
    for node in walk(owner):
        match node:
            case ast.If(test=test, body=body) if any(_clears(each, name) for each in body):
                condition = spelled_out(test, file)
                if condition_admits_bfloat16(condition) and condition_excludes_bfloat16(
                    condition, holds=False
                ):
                    return True
    return False


def _clears(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.Assign(targets=[target], value=ast.Constant(value=False | None)):
            return dotted(target) == name
    return False


def _comparisons(owner: ast.AST) -> Iterator[ast.Compare]:
    """`cfg.train.dtype == "bf16"`."""
    for node in walk(owner):
        match node:
            case ast.Compare(left=ast.Attribute() as left, ops=[ast.Eq() | ast.In()]) if (
                _is_setting(left)
            ):
                (right,) = node.comparators
                values = (
                    right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else [right]
                )
                if any(isinstance(one, ast.Constant) and names_bfloat16(one) for one in values):
                    yield node


def _is_setting(node: ast.Attribute) -> bool:
    """True for an attribute of an object that holds settings: `self.train_config.dtype`."""
    owner = (dotted(node.value) or "").rpartition(".")[2]
    return holds_settings(owner)


def _is_refused(test: ast.Compare, syntax: SyntaxTree) -> bool:
    """True if the code raises for bfloat16, or asserts that it is something else."""
    for parent in syntax.within_function(test):
        match parent:
            case ast.If(body=[*_, ast.Raise()]) | ast.Assert():
                return True
    return False
