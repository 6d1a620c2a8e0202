"""What a program that casts a model calls of it, in the dtype to which it casts it.

Many programs cast a model and save it, or cast some of its layers back, or hand it to a library
that casts it once more, or call it under autocast. Nothing is said of these.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.bodies import Body, module_of_body, node_of_body
from precision_lint.facts.dtypes.syntax.definitions import Module
from precision_lint.facts.dtypes.syntax.mutations import CASTING, changed
from precision_lint.model.regex import regex
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name, dotted

_CHANGING = (
    rb"autocast|Trainer\b|LightningModule|\bFabric\b|\bAccelerator\b|mixed_precision|deepspeed"
    rb"|set_default_(?:dtype|tensor_type)|quantiz|\bpeft\b|bitsandbytes|FullyShardedDataParallel"
)
"""What opens regions, casts the modules that it is given, or chooses the dtype of new tensors."""

_VISITING = r"(?:modules|named_modules|children|named_children|apply|_apply)\("
_FLOAT32 = regex(r"float32|torch\.float\b")


def called_as_cast(call: ast.Call, body: Body, file: PythonFile) -> frozenset[str]:
    """The methods that the program of a body calls of the model that it casts.

    A call of the model itself, which is one of `forward`, is by its name, in any file of the
    program. Empty if something else may cast the model, or opens regions.
    """
    module = module_of_body(body)
    if file.project.is_secondary(module.file.text.path):
        return frozenset()
    names = {*names_of_model(call, body)}
    if (
        not names
        or _is_cast_otherwise(call, module, names)
        or programs_hold(module, _CHANGING, file)
    ):
        return frozenset()
    called = rb"(?<!def )\b(?:%s)\(" % "|".join(sorted(names)).encode()
    itself = {"forward"} if programs_hold(module, called, file) else set()
    return frozenset(itself.union(_methods_called(module, names)))


def _methods_called(module: Module, names: set[str]) -> Iterator[str]:
    for node in module.file.nodes_of(ast.Call):
        match node.func:
            case ast.Attribute(value=ast.Name() | ast.Attribute() as owner, attr=method):
                if _last(owner) in names:
                    yield method


def programs_hold(module: Module, pattern: bytes, file: PythonFile) -> bool:
    """True if a file of the programs that a module is a part of holds what a pattern matches."""
    path = module.file.text.path
    return any(
        other == path or file.project.runs_with(other, path)
        for other in file.project.python_sources_matching(pattern)
    )


def names_of_model(call: ast.Call, body: Body) -> Iterator[str]:
    """The last names of what a body calls the model that it casts, or loads."""
    model, _ = changed(call)
    if isinstance(model, ast.Name | ast.Attribute):
        yield _last(model)
    for node in own_nodes(node_of_body(body)):
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value):
                if changed(value)[0] is model:  # `model = Net().half().eval()`
                    yield _last(target)


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _is_cast_otherwise(call: ast.Call, module: Module, names: set[str]) -> bool:
    """True if a module casts a model back to float32, or a part of it, or visits its layers."""
    text = module.file.text.text
    if any(re.search(rf"\b{re.escape(name)}\.{_VISITING}", text) for name in names):
        return True
    return any(
        node is not call and _casts_otherwise(node, names)
        for node in module.file.nodes_of(ast.Call)
        if callee_name(node) in CASTING
    )


def _casts_otherwise(node: ast.Call, names: set[str]) -> bool:
    path = (dotted(changed(node)[0]) or "").split(".")
    if names.isdisjoint(path):
        return False
    is_part = path[-1] not in names and callee_name(node) != "to"
    is_wide = callee_name(node) in {"float", "double"}
    return is_part or is_wide or _FLOAT32.search(ast.unparse(node)) is not None
