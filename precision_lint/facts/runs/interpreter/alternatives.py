"""The values that an expression may have in a run, where a condition that is not known decides.

`torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16` is one or the other.
"""

from __future__ import annotations

import ast

from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.tables import table_of
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree

_MAX_DEPTH = 4


def alternatives(
    node: ast.expr, file: ParsedPython, evaluator: Evaluator, depth: int = 0
) -> frozenset[str | int | float | bool]:
    """All values that an expression may have; none if one of them is not known."""
    known = evaluator.value(node, file)
    if known is not None:
        value = known.value
        return frozenset({value}) if isinstance(value, str | int | float | bool) else frozenset()
    if depth == _MAX_DEPTH:
        return frozenset()
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return _all([body, orelse], file, evaluator, depth)
        case ast.Name():
            held = binding(node, syntax_tree(file))
            return _all(held, file, evaluator, depth) if isinstance(held, list) else frozenset()
        case ast.Subscript(value=owner, slice=key) if table := table_of(owner, file):
            wanted = alternatives(key, file, evaluator, depth + 1)
            found = [
                value
                for one, value in zip(table.keys, table.values, strict=True)
                if isinstance(one, ast.Constant) and one.value in wanted
            ]
            return _all(found, file, evaluator, depth) if len(found) == len(wanted) else frozenset()
    return frozenset()


def _all(
    nodes: list[ast.expr], file: ParsedPython, evaluator: Evaluator, depth: int
) -> frozenset[str | int | float | bool]:
    """What several expressions may have; none if one of them is not known."""
    found = [alternatives(node, file, evaluator, depth + 1) for node in nodes]
    return frozenset().union(*found) if all(found) else frozenset()
