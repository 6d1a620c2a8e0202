"""The `__init__` that `dataclass`, attrs, `NamedTuple` or pydantic write for a class of fields."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.source.python.syntax import innermost_name

_FACTORIES = ("default_factory", "factory")


def initialiser(node: ast.ClassDef, fields: Mapping[str, ast.AnnAssign]) -> ast.FunctionDef:
    """`def __init__(self, dim=8): self.dim = dim`, each statement at the place of its field."""
    taken = {name: each for name, each in fields.items() if is_given(each)}
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg("self")],
        vararg=None,
        kwonlyargs=[
            ast.copy_location(ast.arg(name, each.annotation), each.target)
            for name, each in taken.items()
        ],
        kw_defaults=[default_of(each) for each in taken.values()],
        kwarg=None,
        defaults=[],
    )
    values = {
        name: ast.Name(name, ast.Load()) if name in taken else _made_for_each(each)
        for name, each in fields.items()
    }
    body: list[ast.stmt] = [
        _assignment(name, fields[name], value) for name, value in values.items() if value
    ]
    written = ast.FunctionDef("__init__", arguments, body, [], None, None)
    return ast.fix_missing_locations(ast.copy_location(written, node))


def _made_for_each(field: ast.AnnAssign) -> ast.expr | None:
    """The value of a field that no call gives: `field(default_factory=list, init=False)`."""
    return None if innermost_name(field.annotation) in _NO_FIELDS else default_of(field)


def _assignment(name: str, field: ast.AnnAssign, value: ast.expr) -> ast.Assign:
    self = ast.copy_location(ast.Name("self", ast.Load()), field.target)
    target = ast.copy_location(ast.Attribute(self, name, ast.Store()), field.target)
    given = ast.copy_location(value, field.target)
    return ast.copy_location(ast.Assign([target], given), field)


def is_field(field: ast.AnnAssign) -> bool:
    """False for a variable of the class, and for what `__post_init__` is given alone."""
    return innermost_name(field.annotation) not in _NO_FIELDS | {"InitVar"}


def is_given(field: ast.AnnAssign) -> bool:
    """False for what a call cannot give: a variable of the class, and `field(init=False)`."""
    if innermost_name(field.annotation) in _NO_FIELDS:
        return False
    match field.value:
        case ast.Call(keywords=keywords) as call if innermost_name(call.func) in _FIELDS:
            given = {keyword.arg: keyword.value for keyword in keywords}
            return not (isinstance(init := given.get("init"), ast.Constant) and not init.value)
    return True


def default_of(field: ast.AnnAssign) -> ast.expr | None:
    """What a field is if a call leaves it out; None if a call has to give it.

    `field(default_factory=list)` is a call of `list`.
    """
    match field.value:
        case ast.Call(keywords=keywords) as call if innermost_name(call.func) in _FIELDS:
            given = {keyword.arg: keyword.value for keyword in keywords}
            for name in _FACTORIES:
                if name in given:
                    return ast.copy_location(ast.Call(given[name], [], []), call)
            return given.get("default", next(iter(call.args), None))
    return field.value


_NO_FIELDS = frozenset({"ClassVar", "KW_ONLY"})
_FIELDS = frozenset({"field", "Field", "ib", "attrib"})
