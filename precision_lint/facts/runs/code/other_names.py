"""Names that stand for the settings of a program without saying so.

`def train(c):` gets them from `train(args)`, and `setattr(c, key, value)` for each of
`vars(args).items()` puts all of them into `c`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings import holds_settings
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name, parameters, positional_parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_CALLS = 8
_MOST_HOPS = 3


def gets_settings(holder: ast.Name, file: ParsedPython, program: Program) -> bool:
    """True for a parameter that all calls of its function give the settings of the program."""
    return _gets(holder, file, program, _MOST_HOPS)


def _gets(holder: ast.Name, file: ParsedPython, program: Program, hops: int) -> bool:
    syntax = syntax_tree(file)
    function = syntax.function(holder)
    if not hops or not isinstance(function, FunctionDefinition):
        return False
    is_given = any(each.arg == holder.id for each in parameters(function.args))
    if not is_given or syntax.stores(function, holder.id):
        return False
    if isinstance(syntax.parent(function), ast.ClassDef):
        return False
    calls = [*program.calls_of(function.name, file)]
    given = [_given(holder.id, function, call) for _, call in calls]
    return 0 < len(calls) <= _MOST_CALLS and all(
        isinstance(each, ast.Name | ast.Attribute)
        and (
            holds_settings(last_name(each))
            or (isinstance(each, ast.Name) and _gets(each, home, program, hops - 1))
        )
        for each, (home, _) in zip(given, calls, strict=True)
    )


def _given(name: str, function: FunctionDefinition, call: ast.Call) -> ast.expr | None:
    """What a call gives to a parameter; None if that is not seen."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [each.arg for each in positional_parameters(function.args)]
    at = names.index(name) if name in names else len(call.args)
    before = call.args[: at + 1]
    is_plain = not any(isinstance(each, ast.Starred) for each in before)
    return before[at] if is_plain and len(before) > at else None


def filled_names(program: Program) -> frozenset[str]:
    """The names of objects into which the program puts all of its options."""
    return program.fact(
        "filled with options",
        lambda: frozenset(name for file in program.mentioning("setattr") for name in _filled(file)),
    )


@fact
def _filled(file: ParsedPython) -> tuple[str, ...]:
    return tuple(_found(file))


def _found(file: ParsedPython) -> Iterator[str]:
    for node in file.nodes_of(ast.For):
        match node:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=value)]),
                iter=ast.Call(func=ast.Attribute(value=options, attr="items"), args=[]),
                body=[
                    ast.Expr(
                        ast.Call(
                            func=ast.Name(id="setattr"),
                            args=[ast.Name(id=name), ast.Name(id=first), ast.Name(id=second)],
                        )
                    )
                ],
            ) if (first, second) == (key, value) and _are_options(options):
                yield name


def _are_options(node: ast.expr) -> bool:
    """True for `vars(args)` and `args.__dict__`."""
    match node:
        case ast.Call(func=ast.Name(id="vars"), args=[holder]):
            return holds_settings(last_name(holder))
        case ast.Attribute(value=holder, attr="__dict__"):
            return holds_settings(last_name(holder))
    return False
