"""Small numbers that settings of a program have: `parser.add_argument("--lr", default=1e-4)`.

The run without this option is one that the program offers. Where a script or a page of the project
gives the option a number of another magnitude, or a variable, the default says nothing. Of a key
that configurations give, all numbers must be small.
"""

from __future__ import annotations

import ast
import re

from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings.fixed_switches import fills_namespaces, is_written
from precision_lint.facts.settings.option_calls import destination
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax_tree import syntax_tree

LIMIT = 1e-3
"""What learning rates are below that fine-tune a model."""
_SMALL = rb"(?:\d+(?:\.\d*)?e-0*[4-9]|0?\.000\d+)\b"
"""A number below 1e-3, as people write learning rates."""


def small_default(node: ast.expr | None, file: PythonFile) -> float | None:
    """The number below 1e-3 that an expression (`args.lr`) is by default; None if it may be larger.

    The project gives the option no other numbers than such. A parameter is what the calls of its
    file give, if no other file imports that.
    """
    if isinstance(node, ast.Name):
        return _largest_given(node, file)
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    syntax = syntax_tree(file)
    options = [each for each in syntax.calls("add_argument") if destination(each) == node.attr]
    if len(options) != 1 or fills_namespaces(syntax) or is_written(node.attr, syntax):
        return None
    match next((one.value for one in options[0].keywords if one.arg == "default"), None):
        case ast.Constant(value=float(number)) if number < LIMIT:
            return None if may_be_larger(_spelled(options[0]), file) else number
    return None


def _largest_given(name: ast.Name, file: PythonFile) -> float | None:
    """The largest of the small numbers that all calls of a function give a parameter."""
    syntax = syntax_tree(file)
    parameter = binding(name, syntax)
    if not isinstance(parameter, ast.arg) or file.project.users(file.text.path):
        return None
    function = syntax.function(name)
    calls = [] if not isinstance(function, FunctionDefinition) else syntax.calls(function.name)
    given = [
        small_default(keyword.value, file)
        for call in calls
        for keyword in call.keywords
        if keyword.arg == parameter.arg and isinstance(keyword.value, ast.Attribute)
    ]
    known = [number for number in given if number is not None]
    return max(known) if known and len(known) == len(calls) else None


def _spelled(option: ast.Call) -> list[str]:
    spelled = [str(each.value) for each in option.args if isinstance(each, ast.Constant)]
    return [name for name in spelled if name.startswith("-")]


def may_be_larger(options: list[str], file: PythonFile) -> bool:
    """True if a script, a configuration or a page gives an option something else."""
    words = [re.escape(name).encode() for name in options]
    pattern = rb"(?<![\w-])(?:%s)[ =:\"',]+(?!%s)[\d.$]" % (b"|".join(words), _SMALL)
    return file.project.other_file_matches(pattern) or file.project.page_matches(pattern)


def is_small_in_files(node: ast.expr | None, file: PythonFile) -> bool:
    """True for a key (`cfg.optim.lr`) that files of the project give numbers below 1e-3 only."""
    name = _key_read(node)
    if name is None:
        return False
    key = re.escape(name).encode()
    given = rb"(?<![\w-])%s[\"']?\s*[:=]\s*" % key
    other = rb"%s(?!%s)[\d.$]" % (given, _SMALL)
    in_code = rb"(?<![\w-])%s(?:[\"']?\s*:\s*\w+\s*=\s*|[\"'][^\n]*default\s*=\s*)" % key
    project = file.project
    return (
        project.other_file_matches(given + _SMALL)
        and not project.other_file_matches(other)
        and not project.page_matches(other)
        and not project.python_source_matches(rb"%s(?!%s)[\d.]" % (in_code, _SMALL))
    )


def _key_read(node: ast.expr | None) -> str | None:
    """The last key of what reads a setting: `lr` of `float(cfg["optim"]["lr"])`."""
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[value]):
            return _key_read(value)
        case ast.Attribute(value=ast.Name() | ast.Attribute(), attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return None
