"""The local name of torch where a fix needs it, and its import."""

from __future__ import annotations

import ast
from collections.abc import Callable

from precision_lint.fixers.import_order import NewImport, added, blocks_of_imports
from precision_lint.model.finding import Edit, Span
from precision_lint.model.memo import fact
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Binding, Reference, Scope, Step, scopes_in
from precision_lint.source.python.statements import Loop, Try
from precision_lint.source.python.syntax_tree import syntax_tree


def name_of_torch(
    file: ParsedPython,
    reference: Reference,
    is_replaced: Callable[[Binding], bool],
    style: ImportStyle,
) -> tuple[str | None, list[Edit]]:
    """The name of torch at a reference, and the edit that imports it if necessary.

    The new import goes to its place among the imports with the first one that `is_replaced` makes
    superfluous. None if the name `torch` may refer to something else.
    """
    first = reference.names[0]
    if reference.scope.qualified(first) == "torch":
        return first, []
    home, olds = reference.scope.lookup(first)
    for scope in reference.scope.outwards:
        for name in _names_of_torch(file).get(scope, ()):
            owner, bindings = reference.scope.lookup(name)
            is_seen = owner is scope
            if is_seen and any(_is_sure(one, scope, reference, olds) for one in bindings):
                return name, []
    old = next((one for one in olds if one.statement is not None), None)
    owner, _ = reference.scope.lookup("torch")
    is_free = owner is None or (owner is home and owner.qualified("torch") == "torch")
    if old is None or old.statement is None or not is_free or home is None:
        return None, []
    edit = _import_torch(_first(home, old, is_replaced), file, style)
    return ("torch", [edit]) if edit else (None, [])


@fact
def _names_of_torch(file: ParsedPython) -> dict[Scope, tuple[str, ...]]:
    """The names that mean torch in the scopes that bind them."""
    return {
        scope: tuple(name for name in scope.bindings if scope.qualified(name) == "torch")
        for scope in scopes_in(file).all
    }


def _is_sure(binding: Binding, scope: Scope, reference: Reference, olds: list[Binding]) -> bool:
    """True if torch is imported whenever the reference is reached."""
    if binding.statement is None:
        return False
    if scope is reference.scope and binding.statement.lineno > reference.node.lineno:
        return False
    reached = _branches(reference.at).union(*(_branches(old.at) for old in olds))
    return _branches(binding.at) <= reached


def _branches(at: Step) -> set[tuple[int, str]]:
    """The branches around a place: blocks of statements that may not run."""
    branching = ast.If | Try | Loop | ast.Match | ast.match_case
    return {(id(step.node), step.field) for step in at.upwards if isinstance(step.node, branching)}


def _first(scope: Scope, old: Binding, is_replaced: Callable[[Binding], bool]) -> ast.stmt:
    """The first replaced import in the same block: all uses then share one `import torch`."""
    statements = [
        binding.statement
        for bindings in scope.bindings.values()
        for binding in bindings
        if binding.statement is not None
        and is_replaced(binding)
        and _branches(binding.at) == _branches(old.at)
    ]
    return min(statements, key=lambda statement: statement.lineno)


def _import_torch(statement: ast.stmt, file: ParsedPython, style: ImportStyle) -> Edit | None:
    """`import torch` among the imports with a statement that starts its own line."""
    start = file.span_of(statement).start
    line = file.text.line_span(file.text.row(start)).start
    if file.text[Span(line, start)].strip():
        return None
    body = syntax_tree(file).block(statement)
    for block in blocks_of_imports(file, body, len(file.text.text)):
        if statement in block:
            return added(file, block, NewImport("torch"), style)
    return None
