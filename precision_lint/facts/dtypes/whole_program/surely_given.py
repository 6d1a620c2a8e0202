"""Parameters with the default `None` that a call certainly gives something else.

`def cast(x, dtype=None)` takes another dtype if it gets none: `cast(x, torch.float64)` never does.
The join of None and a dtype is the dtype, so the value alone does not say it: what is written does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import Constant, Dtype, Tensor, Value
from precision_lint.facts.dtypes.interpreter.decisions import surely_given
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.dtypes.syntax.mutations import CASTING
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import Loop, holds
from precision_lint.source.python.syntax import dotted, with_defaults
from precision_lint.source.python.syntax_tree import SyntaxTree, argument_at, syntax_tree

_WITH_DTYPES = (Dtype, Tensor)


def mark(
    definition: Function, env: Environment, node: ast.Call, given: CallSite, at: Frame
) -> None:
    """Note which parameters a call certainly gives, where the body asks for it."""
    # The values first: of most calls, none is known for sure.
    if not any(map(_is_known, env.values())):
        return
    for name in _asked_for(definition):
        value = env.get(name)
        if value is None or not _is_known(value):
            continue
        passed = next((each for each in _passed(given) if each.value is value), None)
        if passed is None:
            continue
        expression = argument_at(passed.span, node, at.module.file)
        if expression is not None and _is_there(expression, syntax_tree(at.module.file)):
            path = surely_given(name)
            env[path] = Constant(True)
            env.paths.add(path)


def _is_known(value: Value) -> bool:
    return isinstance(value, _WITH_DTYPES) and not value.is_open


def _passed(given: CallSite) -> Iterator[Argument]:
    yield from (each for each in (*given.arguments, *given.keywords.values()) if not each.starred)


def _asked_for(definition: Function) -> tuple[str, ...]:
    """The parameters with the default None that a body compares with it, or that `or` replaces."""
    if isinstance(definition.node, ast.Lambda):
        return ()
    return definition.module.fact(
        (_asked_for, definition.node), lambda: tuple(sorted({*_found(definition)}))
    )


_ASKING = regex(r"\bis (?:not )?None\b|\bor\b")


def _found(definition: Function) -> Iterator[str]:
    assert not isinstance(definition.node, ast.Lambda)
    absent = {
        parameter.arg
        for parameter, default in with_defaults(definition.node.args)
        if isinstance(default, ast.Constant) and default.value is None
    }
    tests: dict[str, int] = {}
    written = _ASKING.search(definition.module.file.rows_of(definition.node)) if absent else None
    for node in walk(definition.node) if written is not None else ():
        match node:
            case (
                ast.Compare(
                    left=ast.Name(id=name),
                    ops=[ast.Is() | ast.IsNot()],
                    comparators=[ast.Constant(value=None)],
                )
                | ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), *_])
            ):
                tests[name] = max(tests.get(name, 0), node.lineno)
    for name in absent & tests.keys():
        if _is_assigned_later(definition, name, tests[name]):
            yield name


def _is_assigned_later(definition: Function, name: str, row: int) -> bool:
    """True if a body assigns a parameter after a row only, and in no loop.

    A slice may leave out an assignment that stands before the condition.
    """
    effects = definition.def_uses
    loops = [each.node for each in effects if isinstance(each.node, Loop)]
    return not any(
        name in each.writes
        and (each.last_row < row or any(holds(loop, [each.node.lineno]) for loop in loops))
        for each in effects
    )


def _is_there(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for an expression that is never None, as it is written."""
    match node:
        case ast.Name():
            held = binding(node, syntax)
            return isinstance(held, list) and bool(held) and all(map(_is_made, held))
    return _is_made(node)


def _is_made(node: ast.expr) -> bool:
    """True for `torch.float64`, `x.dtype`, `torch.ones(2)` and `x.to(dtype)`."""
    match node:
        case ast.Attribute(attr="dtype") | ast.BinOp():
            return True
        case ast.Attribute():
            return (dotted(node) or "").startswith("torch.")
        case ast.Call(func=ast.Attribute(attr=method) as function):
            return method in CASTING or (dotted(function) or "").startswith("torch.")
    return False
