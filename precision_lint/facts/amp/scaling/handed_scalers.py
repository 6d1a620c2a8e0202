"""Whether the code of a file may save the state of its scalers, or hand them to what may.

A function of the project that is given a scaler is followed: most scale with it and do no more.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from precision_lint.facts.amp.scaling.idle_scalers import is_tested
from precision_lint.facts.amp.training_step.helpers import Helpers, owner_at
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

PROTOCOL = frozenset(
    {"scale", "step", "update", "unscale_", "get_scale", "is_enabled", "get_growth_interval"}
)
"""What code does with a scaler without its state."""

_DEEPEST = 3
"""Functions that hand a scaler to the next one."""


def is_kept(file: PythonFile, scalers: Collection[str]) -> bool:
    """True if the state of a scaler is read, or a scaler is passed to code that may read it.

    States that are read in a loop, `{name: each.state_dict() for …}`, may be the scaler's.
    """
    lasts = {scaler.rpartition(".")[2] for scaler in scalers}
    for node in file.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="state_dict")):
                if not isinstance(owner, ast.Name | ast.Attribute | ast.Call):
                    return True
                if (dotted(owner) or "").rpartition(".")[2] in lasts:
                    return True
            case ast.Call(args=arguments, keywords=keywords):
                given = [*arguments, *(keyword.value for keyword in keywords)]
                handed = (each for each in given if dotted(each) in scalers)
                if any(_may_be_kept_by(node, each, file) for each in handed):
                    return True
            case ast.Dict(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                if any(dotted(each) in scalers for each in values):
                    return True
            case ast.Return(value=ast.expr() as value) if dotted(value) in scalers:
                return True
    return False


def _may_be_kept_by(call: ast.Call, scaler: ast.expr, file: PythonFile) -> bool:
    """True unless the function that is given a scaler is seen, and only scales with it."""
    return _may_keep(call, scaler, file, Helpers(file), _DEEPEST)


def _may_keep(
    call: ast.Call, scaler: ast.expr, file: ParsedPython, helpers: Helpers, depth: int
) -> bool:
    module = helpers.program.module(file.text.path)
    if module is None or depth == 0:
        return True
    owner = owner_at(call, module)
    helper = helpers.find(call, module, owner, {}, is_concerned=True)
    if helper is None or helper.node.args.vararg or helper.node.args.kwarg:
        return True
    names = [name for name, given in helper.names(call).items() if given is scaler]
    return len(names) != 1 or _keeps(helper.function, names[0], helpers, depth - 1)


def _keeps(function: Function, name: str, helpers: Helpers, depth: int) -> bool:
    """True if a function does more with a parameter than to scale with it."""
    home = function.module.file
    syntax = syntax_tree(home)
    for node in walk(function.node):
        match node:
            case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name:
                return True
            case ast.Name(id=found) if found == name and not _is_harmless(node, syntax):
                match syntax.parent(node):
                    case ast.Call() as call if call.func is not node:
                        if _may_keep(call, node, home, helpers, depth):
                            return True
                    case ast.keyword() as keyword:
                        handed_to = syntax.parent(keyword)
                        assert isinstance(handed_to, ast.Call)
                        if _may_keep(handed_to, node, home, helpers, depth):
                            return True
                    case _:
                        return True
    return False


def _is_harmless(node: ast.Name, syntax: SyntaxTree) -> bool:
    """True for `scaler.scale(loss)`, `if scaler:` and `scaler is not None`."""
    match syntax.parent(node):
        case ast.Attribute(attr=method) as attribute if method in PROTOCOL:
            return isinstance(syntax.parent(attribute), ast.Call)
    return is_tested(node, syntax)
