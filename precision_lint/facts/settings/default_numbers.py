"""Numbers that options of a program have by default: `parser.add_argument("--lr", default=1e-4)`.

The run without this option is one that the program offers. Where a script or a page of the project
gives the option a number of another magnitude, or a variable, the default says nothing.
"""

from __future__ import annotations

import ast
import re

from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings.fixed_switches import destination, fills_namespaces, is_written
from precision_lint.source.python.syntax_tree import syntax_tree

_LIMIT = 1e-3
_SMALL = rb"(?:\d+(?:\.\d*)?e-0*[4-9]|0?\.000\d+)\b"
"""A number below 1e-3, as people write learning rates."""


def small_default(node: ast.expr | None, file: PythonFile) -> float | None:
    """The number below 1e-3 that an expression (`args.lr`) is by default; None if it may be larger.

    The project gives the option no other numbers than such.
    """
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    syntax = syntax_tree(file)
    options = [each for each in syntax.calls("add_argument") if destination(each) == node.attr]
    if len(options) != 1 or fills_namespaces(syntax) or is_written(node.attr, syntax):
        return None
    match next((one.value for one in options[0].keywords if one.arg == "default"), None):
        case ast.Constant(value=float(number)) if number < _LIMIT:
            return None if _may_be_larger(options[0], file) else number
    return None


def _may_be_larger(option: ast.Call, file: PythonFile) -> bool:
    """True if a script, a configuration or a page gives an option something else."""
    spelled = [each.value for each in option.args if isinstance(each, ast.Constant)]
    words = [re.escape(str(name)).encode() for name in spelled if str(name).startswith("-")]
    pattern = rb"(?<![\w-])(?:%s)[ =\"',]+(?!%s)[\d.$]" % (b"|".join(words), _SMALL)
    return file.project.other_file_matches(pattern) or file.project.page_matches(pattern)
