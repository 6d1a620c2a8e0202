"""Words of a precision that are taken as truth values: `"no"` is true.

`torch.bfloat16 if args.mixed_precision else torch.float32` is bfloat16 for `--mixed_precision no`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings.deciding import setting_path
from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_OFF = frozenset({"no", "none", "off", "false", "fp32", "float32", "32", "full"})
"""Words that ask for float32."""
_HALF = frozenset({BFLOAT16, FLOAT16})
_OF_ACCELERATOR = "mixed_precision"


@frozen
class WordAsTruth:
    """A condition that holds for a word which asks for float32, and the half dtype it chooses.

    `said` is where the word may come from; None for the attribute of an `Accelerator`.
    """

    test: ast.expr
    word: str
    dtype: str
    said: Related | None


def words_as_truth(file: PythonFile) -> Iterator[WordAsTruth]:
    """The conditions of a file that choose a half dtype for any word, and float32 for none."""
    for node in file.nodes_of(ast.IfExp):
        if (found := _taken(node.test, node.body, node.orelse, file)) is not None:
            yield found
    for branch in file.nodes_of(ast.If):
        match branch.body, branch.orelse:
            case (
                [ast.Assign(targets=[ast.Name(id=one)], value=half)],
                [ast.Assign(targets=[ast.Name(id=other)], value=full)],
            ) if one == other:
                if (found := _taken(branch.test, half, full, file)) is not None:
                    yield found


def _taken(test: ast.expr, half: ast.expr, full: ast.expr, file: PythonFile) -> WordAsTruth | None:
    dtype = _dtype(half)
    if dtype not in _HALF or _dtype(full) != FLOAT32:
        return None
    if _is_of_accelerator(test):
        return WordAsTruth(test, "no", dtype, None)
    held = binding(test, syntax_tree(file)) if isinstance(test, ast.Name) else None
    asked = held[0] if isinstance(held, list) and len(held) == 1 else test
    path = setting_path(asked)
    setting = None if path is None else file.project.setting(path, file.text.path)
    if path is None or setting is None or _is_set(path[-1], file):
        return None
    values = [choice.value for choice in setting.choices if choice.value is not None]
    if not all(isinstance(value, str) for value in values):
        return None
    for choice in setting.choices:
        is_option = kind_of(choice.origin.source.path) == "python"
        if is_option and isinstance(choice.value, str) and choice.value.casefold() in _OFF:
            return WordAsTruth(test, choice.value, dtype, choice.origin.related)
    return None


def _dtype(node: ast.expr) -> str | None:
    is_of_torch = isinstance(node, ast.Attribute) and last_name(node.value) == "torch"
    return ALIASES.get(last_name(node)) if is_of_torch else None


def _is_of_accelerator(test: ast.expr) -> bool:
    """True for `accelerator.mixed_precision`, which is `"no"` without one (accelerate 1.15)."""
    match test:
        case ast.Attribute(value=owner, attr=name):
            return name == _OF_ACCELERATOR and last_name(owner).lower().endswith("accelerator")
    return False


def _is_set(name: str, file: PythonFile) -> bool:
    """True if the file gives the setting another value: `args.mixed_precision = None`."""
    return any(
        isinstance(node.ctx, ast.Store) and node.attr == name
        for node in file.nodes_of(ast.Attribute)
    )
