"""Learning rates as the runs of a program give them: words of scripts, defaults, parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.adapted_modules import runs_adding_by_calls
from precision_lint.facts.amp.optional_adapters import runs_without_adapters
from precision_lint.facts.amp.plain_runs import PlainRun
from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings.fixed_switches import fills_namespaces, is_written
from precision_lint.facts.settings.option_calls import destination
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import syntax_tree


def rate_in_runs(node: ast.expr | None, file: PythonFile) -> float | None:
    """The largest number that an expression is in the runs that come to it; None if one of them
    leaves it open.
    """
    if node is None:
        return None
    every = runs_without_adapters(file) or runs_adding_by_calls(file)
    runs = [run for run in every if run.reaches(node)]
    given = [*_given_to_record(node, file)] or [(node, None)]
    rates = [_rate(each, run, code) for run in runs for each, code in given]
    known = [rate for rate in rates if rate is not None]
    return max(known) if known and len(known) == len(rates) else None


def _given_to_record(
    node: ast.expr, file: PythonFile
) -> Iterator[tuple[ast.expr | None, ParsedPython | None]]:
    """What all calls of a dataclass of the file give the field that is read of a parameter
    (`config.lr`, where `config: Config`): an argument, or the default of the field.
    """
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return
    parameter = binding(node.value, syntax_tree(file))
    annotation = parameter.annotation if isinstance(parameter, ast.arg) else None
    owner = next(
        (
            each
            for each in file.tree.body
            if isinstance(each, ast.ClassDef)
            and annotation is not None
            and each.name == dotted(annotation)
        ),
        None,
    )
    if owner is None or not any("dataclass" in ast.unparse(one) for one in owner.decorator_list):
        return
    default = next(
        (
            each.value
            for each in owner.body
            if isinstance(each, ast.AnnAssign) and dotted(each.target) == node.attr
        ),
        None,
    )
    users = (file.project.module(path) for path in file.project.users(file.text.path))
    for code in filter(None, (file.project.module(file.text.path), *users)):
        for call in syntax_tree(code).calls(owner.name):
            is_plain = not call.args and all(one.arg is not None for one in call.keywords)
            given = next((one.value for one in call.keywords if one.arg == node.attr), default)
            yield (given if is_plain else None), code


def _rate(node: ast.expr | None, run: PlainRun, code: ParsedPython | None) -> float | None:
    known = None if node is None else run.value(node, code)
    value = known.value if known is not None else _of_option(node, run, code)
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None


def _of_option(node: ast.expr | None, run: PlainRun, code: ParsedPython | None) -> object:
    """The value of the one option of a name, also where a record has a field of that name."""
    if code is None or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    syntax = syntax_tree(code)
    options = [each for each in syntax.calls("add_argument") if destination(each) == node.attr]
    if len(options) != 1 or fills_namespaces(syntax) or is_written(node.attr, syntax):
        return None
    given = run.environment.words.get(node.attr)
    if given is not None:
        return given.value
    default = next((one.value for one in options[0].keywords if one.arg == "default"), None)
    return default.value if isinstance(default, ast.Constant) else None
