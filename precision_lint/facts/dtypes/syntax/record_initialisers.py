"""The `__init__` that `dataclass`, attrs, `NamedTuple` or pydantic write for a class of fields."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.source.python.syntax import innermost_name

_FACTORIES = ("default_factory", "factory")


def initialiser(node: ast.ClassDef, fields: Mapping[str, ast.AnnAssign]) -> ast.FunctionDef:
    """`def __init__(self, dim=8): self.dim = dim`, each statement at the place of its field."""
    taken = {
        name: each for name, each in fields.items() if innermost_name(each.annotation) != "ClassVar"
    }
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
    body: list[ast.stmt] = [_assignment(name, each) for name, each in taken.items()]
    written = ast.FunctionDef("__init__", arguments, body, [], None, None)
    return ast.fix_missing_locations(ast.copy_location(written, node))


def _assignment(name: str, field: ast.AnnAssign) -> ast.Assign:
    self = ast.copy_location(ast.Name("self", ast.Load()), field.target)
    target = ast.copy_location(ast.Attribute(self, name, ast.Store()), field.target)
    given = ast.copy_location(ast.Name(name, ast.Load()), field.target)
    return ast.copy_location(ast.Assign([target], given), field)


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


_FIELDS = frozenset({"field", "Field", "ib", "attrib"})
