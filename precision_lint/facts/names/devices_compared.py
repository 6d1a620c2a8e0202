"""Devices with an index that are compared with `"cuda"` to choose a precision.

`"cuda:1" == "cuda"` is False, so the precision is that for the CPU.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import assigned
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_HALF = frozenset({"torch.float16", "torch.half", "torch.bfloat16"})
_CASTS = frozenset({"half", "bfloat16"})
_SWITCHED = frozenset({"autocast", "GradScaler"})
_SWITCHES = frozenset({"fp16", "bf16", "half", "use_fp16", "use_amp"})
"""Keywords that turn half precision on."""
_HOPS = 4
"""Variables and attributes that are followed to a text."""


@frozen
class NeverCuda:
    """A comparison with `"cuda"` that is never equal, and the texts that the device can be."""

    node: ast.Compare
    devices: tuple[ast.expr, ...]


def devices_compared(file: ParsedPython) -> Iterator[NeverCuda]:
    """The comparisons of a file that choose a precision, in the order of the source."""
    syntax = syntax_tree(file)
    for node in file.nodes_of(ast.Compare):
        match node:
            case ast.Compare(
                ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value="cuda")]
            ) if _chooses_precision(node, syntax):
                devices = _texts(node.left, syntax, _HOPS)
                starts = [*map(_start, devices)]
                if any(each.startswith("cuda:") for each in starts) and "cuda" not in starts:
                    yield NeverCuda(node, tuple(devices))


def _texts(node: ast.expr, syntax: SyntaxTree, hops: int) -> list[ast.expr]:
    """The texts that an expression can be, as they are written; none if one is not seen."""
    values: list[ast.expr] = []
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr(values=[ast.Constant(), *_]):
            return [node]
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.Name() | ast.Attribute():
            values = assigned(node, syntax)
    found = [_texts(value, syntax, hops - 1) for value in values] if hops else []
    return [text for texts in found for text in texts] if all(found) else []


def _start(text: ast.expr) -> str:
    match text:
        case ast.JoinedStr(values=[first, *_]):
            return _start(first)
        case ast.Constant(value=str(written)):
            return written
    return ""


def _chooses_precision(node: ast.Compare, syntax: SyntaxTree) -> bool:
    """True for a condition of a half dtype, a cast or a region, and for `fp16=device == "cuda"`."""
    inner: ast.AST = node
    for parent in syntax.around(node):
        match parent:
            case ast.BoolOp() | ast.UnaryOp():
                pass
            case ast.IfExp(test=test, body=body, orelse=orelse) if test is inner:
                return _names_half(body, syntax) is not _names_half(orelse, syntax)
            case ast.If(test=test, body=body) if test is inner:
                return any(_is_of_precision(each, syntax) for one in body for each in walk(one))
            case ast.keyword(arg="enabled"):
                call = syntax.parent(parent)
                return isinstance(call, ast.Call) and callee_name(call) in _SWITCHED
            case ast.keyword(arg=name):
                return name in _SWITCHES
            case _:
                return False
        inner = parent
    return False


def _names_half(node: ast.expr, syntax: SyntaxTree) -> bool:
    return qualified(node, syntax.names) in _HALF


def _is_of_precision(node: ast.AST, syntax: SyntaxTree) -> bool:
    match node:
        case ast.Call() if callee_name(node) in _CASTS | _SWITCHED:
            return True
        case ast.Attribute():
            return _names_half(node, syntax)
    return False
