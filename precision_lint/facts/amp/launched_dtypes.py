"""Dtypes that a launch script or a configuration file gives to a setting."""

from __future__ import annotations

import ast
from collections.abc import Callable

from precision_lint.facts.amp.setting_paths import setting_path
from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Choice
from precision_lint.facts.settings.vocabulary import names_float16
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax_tree import syntax_tree

_HOPS = 6
"""Names that are followed from an expression to a setting."""


def float16_given(node: ast.expr, file: PythonFile) -> tuple[str, Choice] | None:
    """The setting, and its value in a launch script or a configuration, that make it float16."""
    path = _path_of(node, file, _HOPS)
    choice = None if path is None else given_choice(path, file, names_float16)
    return None if path is None or choice is None else (path[-1], choice)


def given_choice(
    path: tuple[str, ...], file: PythonFile, accepts: Callable[[object], bool]
) -> Choice | None:
    """The value of a setting in a launch script or a configuration file, if one is accepted.

    What an option has as its default, or merely offers, does not count.
    """
    setting = file.project.setting(path, file.text.path)
    for choice in setting.choices if setting is not None else ():
        if accepts(choice.value) and kind_of(choice.origin.source.path) != "python":
            return choice
    return None


def _path_of(node: ast.expr, file: PythonFile, hops: int) -> tuple[str, ...] | None:
    """The setting that the name of a dtype is read from."""
    if hops == 0:
        return None
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            found = (_path_of(one, file, hops - 1) for one in (body, orelse))
            return next((one for one in found if one is not None), None)
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="torch"), name]):
            return _path_of(name, file, hops - 1)
        case ast.Name():
            values = binding(node, syntax_tree(file))
            found = (
                _path_of(value, file, hops - 1)
                for value in (values if isinstance(values, list) else [])
            )
            return next((one for one in found if one is not None), None)
    return setting_path(node)
