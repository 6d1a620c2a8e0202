"""Regions that are for the CPU wherever there is no CUDA, of programs that also run on MPS.

`"cuda" if device == "cuda" else "cpu"` is "cpu" for `device = "mps"`, too. Before torch 2.5
autocast knew no MPS, and "cpu" kept the region from raising.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.regions.autocast import AutocastCall
from precision_lint.facts.amp.regions.device_choices import ACCELERATORS
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Related
from precision_lint.source.python.bindings import assigned, binding
from precision_lint.source.python.statements import FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree

_SINCE = (2, 5)
"""The first release whose autocast knows MPS."""
_HOPS = 4
"""Variables and functions that are followed from a condition to a device."""


def device_taken_for_cpu(
    made: AutocastCall, file: PythonFile, syntax: SyntaxTree
) -> tuple[ast.IfExp, str, Related] | None:
    """Where a region gets "cpu" for a device that is neither, and where that device is chosen."""
    given = made.argument("device_type") if made.is_generic and not made.has_stars else None
    chosen = None if given is None else _choice(given, syntax)
    device = None if chosen is None else _asked_for(chosen)
    if chosen is None or device is None:
        return None
    named = next(_accelerators(device, syntax, _HOPS), None)
    pinned = file.project.version_of("torch") if named is not None else None
    if named is None or (pinned is not None and pinned < _SINCE):
        return None
    place = file.text.place(file.span_of(named))
    return chosen, f'"{named.value!s}"', Related(place, "the device is chosen here")


def _choice(node: ast.expr, syntax: SyntaxTree) -> ast.IfExp | None:
    """`"cuda" if … else "cpu"`, or a variable that is only that."""
    match node:
        case ast.IfExp(body=ast.Constant(value="cuda"), orelse=ast.Constant(value="cpu")):
            return node
        case ast.Name():
            held = binding(node, syntax)
            if isinstance(held, list) and len(held) == 1 and not isinstance(held[0], ast.Name):
                return _choice(held[0], syntax)
    return None


def _asked_for(chosen: ast.IfExp) -> ast.expr | None:
    """The device that a condition compares with "cuda"."""
    match chosen.test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value="cuda")]):
            return _device(left)
        case ast.Compare(left=ast.Constant(value="cuda"), ops=[ast.In()], comparators=[inside]):
            return _device(inside)
        case ast.Call(
            func=ast.Attribute(value=value, attr="startswith"),
            args=[ast.Constant(value="cuda")],
        ):
            return _device(value)
    return None


def _device(node: ast.expr) -> ast.expr:
    match node:
        case (
            ast.Attribute(value=inner, attr="type")
            | ast.Call(func=ast.Name(id="str"), args=[inner])
        ):
            return inner
    return node


def _accelerators(node: ast.expr, syntax: SyntaxTree, hops: int) -> Iterator[ast.Constant]:
    """The other devices that an expression can be, as they are written out in the file."""
    values: list[ast.expr] = []
    match node:
        case ast.Constant(value=str(text)):
            if text.partition(":")[0] in ACCELERATORS:
                yield node
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.BoolOp(values=alternatives):
            values = alternatives
        case ast.Name() | ast.Attribute():
            values = assigned(node, syntax)
        case ast.Call(args=[inner]) if callee_name(node) == "device":
            values = [inner]
        case ast.Call(func=ast.Name(id=name)):
            values = [*_returned(name, syntax)]
    for value in values if hops else ():
        yield from _accelerators(value, syntax, hops - 1)


def _returned(name: str, syntax: SyntaxTree) -> Iterator[ast.expr]:
    for each in syntax.tree.body:
        if isinstance(each, FunctionDefinition) and each.name == name:
            returned = (node for node in own_nodes(each) if isinstance(node, ast.Return))
            yield from (node.value for node in returned if node.value is not None)
