"""Whether the project's own settings exclude a dtype that code names in a table or a condition.

`if cfg["bf16"]: model.to(torch.bfloat16)` makes nothing bfloat16 where the one file that says
`bf16` says `false`. A word of a command line can be anything that its option takes.
"""

from __future__ import annotations

import ast
from functools import partial

from precision_lint.facts.origin import Choice, Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.origin_nodes import origin_node
from precision_lint.facts.settings.choosing import Search
from precision_lint.facts.settings.deciding import bare, setting_path
from precision_lint.facts.settings.fixed_switches import fixed_switches
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.python.truth import truth

_CONFIGURATION = frozenset({"yaml", "json", "toml"})


def is_never_chosen(origin: Origin, file: ParsedPython, project: Recording) -> bool:
    """True if all settings that decide for the dtype of an origin have other values."""
    if origin.witness is not None or kind_of(origin.source.path) != "python":
        return False  # it is a setting itself
    key = (is_never_chosen, origin.source.path, origin.span)
    return file.fact(key, lambda: _is_never_chosen(origin, file, project))


def _is_never_chosen(origin: Origin, file: ParsedPython, project: Recording) -> bool:
    found = origin_node(origin, file, project)
    if found is None:
        return False
    named, module = found
    inner: ast.AST = named
    for parent in syntax_tree(module).within_function(named):
        match parent:
            case ast.Dict(keys=keys, values=values) if inner in values:
                match keys[values.index(inner)]:
                    case ast.Constant(value=str(name)):
                        return _is_never_a_key(parent, name, module, file, project)
                return False
            case ast.If(test=test, body=body, orelse=orelse):
                is_body = inner in body
                if (is_body or inner in orelse) and _excludes(test, is_body, module, project):
                    return True
            case ast.IfExp(test=test, body=body, orelse=orelse) if inner is not test:
                if _excludes(test, inner is body, module, project):
                    return True
        inner = parent
    return False


def _is_never_a_key(
    table: ast.Dict, name: str, module: ParsedPython, file: ParsedPython, project: Recording
) -> bool:
    """True if none of the keys that are looked up in a table is the name."""
    asked = [*Search(file, project).lookups(table, module)]
    found = [_values(key, reader, project) for key, reader in asked]
    return bool(found) and all(
        values is not None and not any(_is_same(value, name) for value in values)
        for values in found
    )


def _excludes(test: ast.expr, is_met: bool, module: ParsedPython, project: Recording) -> bool:
    """True if the settings say that a condition never holds, or never fails."""
    return truth(test, partial(_holds, module=module, project=project)) is (not is_met)


def _holds(part: ast.expr, module: ParsedPython, project: Recording) -> bool | None:
    """Whether a part of a condition holds for all values of its setting."""
    match part:
        case ast.Compare(
            left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Constant(value=other)]
        ):
            is_equal = isinstance(op, ast.Eq)
            values = _values(left, module, project) or ()
            outcomes = {_is_same(value, other) is is_equal for value in values}
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
            outcomes = {*map(bool, _values(part, module, project) or ())}
        case _:
            return None
    return outcomes.pop() if len(outcomes) == 1 else None


def _values(node: ast.expr, module: ParsedPython, project: Recording) -> list[object] | None:
    """The values that files and switches give to a setting; None if a run can give others."""
    node = bare(node)
    if isinstance(node, ast.Name):
        match binding(node, syntax_tree(module)):
            case [assigned]:
                node = bare(assigned)
    path = setting_path(node)
    setting = None if path is None else project.setting(path, module.text.path)
    choices = () if setting is None else setting.choices
    found = [_final(choice, project) for choice in choices]
    return None if not found or None in found else found


def _final(choice: Choice, project: Recording) -> object:
    """What a file says, or a switch that is always the same; None for what a run can change."""
    if kind_of(choice.origin.source.path) in _CONFIGURATION:
        is_reference = isinstance(choice.value, str) and "$" in choice.value
        return None if is_reference else choice.value
    module = project.module(choice.origin.source.path) if choice.option else None
    fixed = () if module is None else fixed_switches(module)
    values = (each.always for each in fixed if each.option == choice.option and not each.is_bool)
    return next(values, None)


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    return type(one) is type(other) and one == other
