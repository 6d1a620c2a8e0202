"""Half-precision copies of weights that autocast keeps until the outermost region exits."""

from __future__ import annotations

import ast

from precision_lint.facts.amp.regions.autocast import AutocastCall, regions_around
from precision_lint.facts.context import PythonFile
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.statements import Leaving
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree

_NOT_CACHED = frozenset({"half", "bfloat16", "requires_grad_"})
"""What makes weights that autocast does not keep copies of."""
_DTYPE = regex(r"dtype|half|float16|precision")


def keeps_copies(made: AutocastCall) -> bool:
    """True for a region that may be on, and whose cache is not turned off."""
    return not (made.is_off or made.has_stars or made.argument("cache_enabled") is not None)


@fact
def optimized(file: PythonFile) -> dict[str, set[str | None]]:
    """The optimizers of a file, and the modules that each is made for, by their dotted names."""
    found: dict[str, set[str | None]] = {}
    for node in file.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        modules = {
            dotted(each.func.value)
            for given in (*node.value.args, *(keyword.value for keyword in node.value.keywords))
            for each in ast.walk(given)
            if isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr == "parameters"
        }
        for target in node.targets:
            if modules and (name := dotted(target)) is not None:
                # made twice in a file, it may be either: then for what both are made for
                found[name] = found.get(name, modules) & modules
    return found


@fact
def without_copies(file: PythonFile) -> set[str | None]:
    """The modules that are frozen, or in half precision, somewhere in a file."""
    return {
        dotted(node.func.value)
        for node in file.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in _NOT_CACHED or _names_half(node))
    }


def _names_half(call: ast.Call) -> bool:
    """`model.to(torch.bfloat16)`, `model.to(device, dtype=weight_dtype)`."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return callee_name(call) == "to" and any(
        _DTYPE.search(dotted(each) or "") is not None for each in given
    )


def is_on(call: ast.Call, syntax: SyntaxTree) -> bool:
    innermost = next(regions_around(call, syntax), None)
    return innermost is not None and not innermost.is_off


def follows(later: ast.Call, earlier: ast.Call, syntax: SyntaxTree) -> bool:
    """True if one call runs after another on some path through their function."""
    if position(later) <= position(earlier):
        return False
    around_later = {later, *syntax.around(later)}
    inner: ast.AST = earlier
    for parent in syntax.within_function(earlier):
        if isinstance(inner, ast.stmt):
            block = syntax.block(inner)
            is_shared = any(each in around_later for each in block)
            if not is_shared and block and isinstance(block[-1], Leaving):
                return False
        if isinstance(parent, ast.If) and parent in around_later:
            return (inner in parent.orelse) == any(each in around_later for each in parent.orelse)
        if parent in around_later:
            return True
        inner = parent
    return True


def position(call: ast.Call) -> tuple[int, int]:
    return call.lineno, call.col_offset
