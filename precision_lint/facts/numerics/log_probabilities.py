"""Log-probabilities that are written as a loss: `-F.cross_entropy(…, reduction="none")`.

Errors of single losses even out in a mean. Not so where a difference of two is exponentiated: the
ratio of two probabilities is off by as much as their logarithms are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.numerics.uses import first_use, is_returned, returned_to
from precision_lint.model.finding import Related, Span
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_OF_LOGARITHM = r"\bexp\(\s*\(?[\w.]*log_?p[\w.()]*\s*-"
_EXPONENTIATED = regex(_OF_LOGARITHM)
_MOST_HOPS = 3
"""Functions that hand such values on."""
_USED = "it is exponentiated here"


def exponentiated(node: ast.Call, file: PythonFile) -> Related | None:
    """Where the negative of an unreduced cross entropy is exponentiated; None if nowhere.

    In its function, in one that calls it, or in another file of the program by its name.
    """
    syntax = syntax_tree(file)
    negative = _negative(node, syntax) if _is_unreduced(node) else None
    if negative is None:
        return None
    for made in _handed(negative, syntax):
        found = first_use(made, lambda use: _is_ratio(use, syntax), syntax)
        if found is not None:
            return file.related(file.span_of(found), _USED)
    is_handed_out = isinstance(syntax.body(node), FunctionDefinition)
    return _elsewhere(file) if is_handed_out and is_returned(negative, syntax) else None


def _handed(made: ast.expr, syntax: SyntaxTree, hops: int = _MOST_HOPS) -> Iterator[ast.expr]:
    """A value, and the calls of functions of the file that return it to others."""
    yield made
    for call in returned_to(made, syntax) if hops else ():
        yield from _handed(call, syntax, hops - 1)


def _is_unreduced(node: ast.Call) -> bool:
    return any(
        keyword.arg == "reduction"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value == "none"
        for keyword in node.keywords
    )


def _negative(node: ast.expr, syntax: SyntaxTree) -> ast.UnaryOp | None:
    """`-loss` of a loss, or of what its methods make of it: `-loss.view(n, -1)`."""
    parent = syntax.parent(node)
    match parent:
        case ast.UnaryOp(op=ast.USub()):
            return parent
        case ast.Attribute():
            call = syntax.parent(parent)
            return _negative(call, syntax) if isinstance(call, ast.Call) else None
    return None


def _is_ratio(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for the exponential of a difference: `exp(new - old)`, `(new - old).exp()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="exp"), args=given):
            power = given[0] if given else owner
        case ast.Call(func=ast.Name(id="exp"), args=[power]):
            pass
        case _:
            return False
    held = binding(power, syntax) if isinstance(power, ast.Name) else None
    powers = held if isinstance(held, list) else [power]
    return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) for each in powers)


def _elsewhere(file: PythonFile) -> Related | None:
    own = file.text.path
    for path in file.project.python_sources_matching(_OF_LOGARITHM.encode()):
        other = file.project.module(path) if file.project.runs_with(path, own) else None
        found = None if other is None else _EXPONENTIATED.search(other.text.text)
        if other is not None and found is not None:
            return Related(
                other.text.place(Span(*found.span())), "such values are exponentiated here"
            )
    return None
