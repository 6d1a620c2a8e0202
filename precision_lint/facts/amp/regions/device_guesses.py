"""Device types that autocast is given by a guess at the machine, or by a choice of devices.

`"cuda" if torch.cuda.is_available() else "cpu"` says what the machine has. A run with
`--device cpu` on a machine with CUDA has its tensors elsewhere.
"""

from __future__ import annotations

import ast

from precision_lint.facts.amp.regions.autocast import AutocastCall
from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings import holds_settings
from precision_lint.model.finding import Related
from precision_lint.source.python.bindings import assigned, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree

_HOPS = 6
"""Variables and attributes that are followed from a device type to a guess."""


def guess_of(made: AutocastCall, syntax: SyntaxTree) -> ast.IfExp | None:
    """The guess that the device type of a region comes from."""
    given = made.argument("device_type") if made.is_generic else None
    return None if given is None or made.is_off else _guess(given, syntax, _HOPS)


def _guess(node: ast.expr, syntax: SyntaxTree, hops: int) -> ast.IfExp | None:
    """`"cuda" if torch.cuda.is_available() else "cpu"`, by variables and attributes."""
    values: list[ast.expr] = []
    match node:
        case ast.IfExp(test=test, body=ast.Constant(), orelse=ast.Constant()):
            return node if "is_available" in ast.unparse(test) else None
        case ast.Call(func=func, args=[inner]) if last_name(func) == "device":
            values = [inner]
        case ast.Attribute(value=inner, attr="type"):
            values = [inner]
        case ast.Name() | ast.Attribute():
            values = assigned(node, syntax)
    found = [_guess(value, syntax, hops - 1) for value in values] if hops else []
    return found[0] if found and all(found) else None


def chosen_beside(
    made: AutocastCall, file: PythonFile, syntax: SyntaxTree
) -> tuple[str, Related] | None:
    """The device that a setting chooses, in the class or the function of a region."""
    scope = enclosing_class(made.node, syntax) or syntax.function(made.node)
    for node in walk(scope) if scope is not None else ():
        if isinstance(node, ast.Attribute) and node.attr == "device" and _is_choice(node, syntax):
            place = file.text.place(file.span_of(node))
            return f"`{ast.unparse(node)}`", Related(place, "the device that is used")
    return None


def _is_choice(node: ast.Attribute, syntax: SyntaxTree) -> bool:
    """True for `args.device`, and for `self.device` unless it is a guess as well."""
    match node.value:
        case ast.Name(id="self"):
            return isinstance(node.ctx, ast.Load) and _guess(node, syntax, _HOPS) is None
        case ast.Name(id=holder):
            return holds_settings(holder)
    return False
