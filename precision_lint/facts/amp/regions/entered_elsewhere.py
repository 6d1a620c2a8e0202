"""Regions that a `with` statement enters, where the function of another file makes them.

`with self.precision.region():` enters what the method `region` of a class of the project returns.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.facts.amp.regions.autocast import AutocastCall, autocasts
from precision_lint.facts.amp.training_step.helpers import Helpers, owner_at
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.model.frozen import frozen
from precision_lint.source.python.statements import With
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree


@frozen
class EnteredElsewhere:
    """An autocast context that `made_in` makes, and what it surrounds; `context` enters it."""

    made: AutocastCall
    made_in: PythonFile
    region: With
    context: ast.Call


def entered_elsewhere(file: PythonFile) -> Iterator[EnteredElsewhere]:
    """The regions of a file that functions of other files return."""
    if not file.project.python_sources_matching(rb"\bautocast\b"):
        return
    helpers, syntax = Helpers(file), syntax_tree(file)
    module = helpers.program.main
    for region, context in _called_contexts(syntax):
        owner = owner_at(context, module)
        found = helpers.find(context, module, owner, {}, is_concerned=True)
        if found is not None and found.function.module is not module:
            made_in = PythonFile.of(found.function.module.file, file.project)
            given = found.names(context)
            for made in _returned(found.function):
                if not _is_off(made, given):
                    yield EnteredElsewhere(made, made_in, region, context)


def _called_contexts(syntax: SyntaxTree) -> Iterator[tuple[With, ast.Call]]:
    """The `with` statements of a file, each with the calls that make its contexts."""
    for node in syntax.nodes:
        if isinstance(node, With):
            for item in node.items:
                if isinstance(item.context_expr, ast.Call):
                    yield node, item.context_expr


def _is_off(made: AutocastCall, given: Mapping[str, ast.expr]) -> bool:
    """True if a call gives False to the parameter that turns a region on, or leaves it off."""
    match made.argument("enabled"):
        case ast.Name(id=name):
            value = given.get(name)
            return isinstance(value, ast.Constant) and not value.value
    return made.is_off


def _returned(function: Function) -> Iterator[AutocastCall]:
    """The autocast contexts that a function returns, one of two expressions as well."""
    syntax = syntax_tree(function.module.file)
    for made in autocasts(syntax):
        whole: ast.AST = made.node
        while isinstance(parent := syntax.parent(whole), ast.IfExp) and whole is not parent.test:
            whole = parent
        if isinstance(parent, ast.Return) and syntax.function(parent) is function.node:
            yield made
