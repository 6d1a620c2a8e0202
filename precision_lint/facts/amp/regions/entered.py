"""Where a region of autocast is entered: at once, by its name, or by what returns it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from precision_lint.facts.amp.regions.autocast import AutocastCall, RegionNode, region_of
from precision_lint.source.python.bindings import assigned, enclosing_class
from precision_lint.source.python.statements import FunctionDefinition, With
from precision_lint.source.python.syntax_tree import SyntaxTree


def entered(made: AutocastCall, syntax: SyntaxTree) -> Iterator[RegionNode]:
    """What an autocast context surrounds, in its own file.

    `ctx = torch.autocast(…)` and `self.ctx = …` are entered by name, `return torch.autocast(…)` by
    a call of the function.
    """
    direct = region_of(made, syntax)
    if direct is not None:
        yield direct
        return
    whole: ast.AST = made.node
    while isinstance(parent := syntax.parent(whole), ast.IfExp) and whole is not parent.test:
        whole = parent
    match parent:
        case ast.Return():
            function = syntax.function(made.node)
            if isinstance(function, FunctionDefinition):
                yield from _entering(lambda each: _calls(each, function, syntax), syntax)
        case ast.Assign():
            yield from _entering(lambda each: _holds(each, whole, syntax), syntax)


def _entering(is_entered: Callable[[ast.expr], bool], syntax: SyntaxTree) -> Iterator[With]:
    for node in syntax.nodes:
        if isinstance(node, With) and any(is_entered(item.context_expr) for item in node.items):
            yield node


def _calls(context: ast.expr, function: FunctionDefinition, syntax: SyntaxTree) -> bool:
    """True for `amp()` and `self.amp()` where this is the function of the file."""
    owner = enclosing_class(function, syntax)
    match context:
        case ast.Call(func=ast.Name(id=function.name)):
            return owner is None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=function.name)):
            return owner is not None and enclosing_class(context, syntax) is owner
    return False


def _holds(context: ast.expr, made: ast.AST, syntax: SyntaxTree) -> bool:
    """True for the name of a variable, or of an attribute of `self`, that holds the region."""
    return made in assigned(context, syntax)
