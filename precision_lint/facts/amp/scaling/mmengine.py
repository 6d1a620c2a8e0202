"""Loss scaling by MMEngine, whose `AmpOptimWrapper` is called, or configured by a dictionary."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.conditions import names_bfloat16
from precision_lint.source.python.syntax_tree import syntax_tree

_WRAPPER = "AmpOptimWrapper"


def bfloat16_wrappers(file: PythonFile) -> Iterator[ast.Call]:
    """The optimizer wrappers of a file that scale the loss dynamically in bfloat16.

    `AmpOptimWrapper(dtype="bfloat16", …)`, or `dict(type="AmpOptimWrapper", dtype="bfloat16", …)`.
    """
    if _WRAPPER not in file.text.text:
        return
    syntax = syntax_tree(file)
    for call in [*syntax.calls(_WRAPPER), *syntax.calls("dict")]:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        kind, scale, dtype = (
            given.get("type", call.func),
            given.get("loss_scale"),
            given.get("dtype"),
        )
        is_dynamic = isinstance(scale, ast.Constant) and scale.value == "dynamic"
        if dtype is not None and is_dynamic and _is_wrapper(kind) and names_bfloat16(dtype):
            yield call


def _is_wrapper(kind: ast.expr) -> bool:
    return ast.unparse(kind).strip("'\"").rpartition(".")[2] == _WRAPPER
