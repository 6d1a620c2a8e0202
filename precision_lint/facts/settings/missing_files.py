"""Programs that read their settings from a file that the project does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

from precision_lint.facts.context import PythonFile
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import binding, default_of
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_SUFFIXES = frozenset({".yaml", ".yml", ".toml"})
_READING = frozenset({"open", "OmegaConf.load"})


@fact
def lacks_its_settings(file: PythonFile) -> bool:
    """True if the file certainly reads settings from a file that is not there.

    A page, a script or a configuration that names it may say how to make it.
    """
    return any(_is_missing(name, file) for name in _files_read(file))


def _files_read(file: PythonFile) -> Iterator[str]:
    syntax = syntax_tree(file)
    for call in file.nodes_of(ast.Call):
        if dotted(call.func) not in _READING or not call.args or len(call.args) > 1:
            continue
        is_certain = not any(
            isinstance(each, ast.If | ast.IfExp | ast.Try | ast.For | ast.While)
            for each in syntax.within_function(call)
        )
        name = _text(call.args[0], syntax, file)
        if is_certain and name is not None and PurePath(name).suffix in _SUFFIXES:
            yield name


def _text(given: ast.expr, syntax: SyntaxTree, file: PythonFile) -> str | None:
    """A literal, or the default of a parameter that no call of the file gives anything else."""
    match given:
        case ast.Constant(value=str(name)):
            return name
        case ast.Name():
            held = binding(given, syntax)
            function = next(iter(functions_around(file, file.span_of(given).start)), None)
            if not isinstance(held, ast.arg) or not isinstance(function, FunctionDefinition):
                return None
            calls = syntax.calls(function.name)
            default = default_of(held, syntax)
            is_plain = calls and all(not call.args and not call.keywords for call in calls)
            if is_plain and isinstance(default, ast.Constant) and isinstance(default.value, str):
                return default.value
    return None


def _is_missing(name: str, file: PythonFile) -> bool:
    project, said = file.project, re.escape(PurePath(name).name).encode()
    return (
        not PurePath(name).is_absolute()
        and project.config_files.find(name, file.text.path) is None
        and not project.page_matches(said)
        and not project.other_file_matches(said)
    )
