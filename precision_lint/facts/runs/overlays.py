"""Files that a program lays over its options: `parser.set_defaults(**settings)` and the like."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from precision_lint.facts.runs.known import Options, Settings
from precision_lint.facts.runs.questions import Questions
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree


@dataclass(frozen=True, slots=True)
class Overlay:
    """Settings that replace options: all of them, or only those that no word gives.

    The settings are None if they are not known.
    """

    settings: Settings | None
    is_default: bool


def overlays(evaluator: Questions) -> Iterator[Overlay]:
    """What replaces the options of a run, the strongest first."""
    program = evaluator.run.program
    for file, call in program.calls("update"):
        if call.args and _is_of_options(call.func, file, evaluator):
            yield from _overlay(call, call.args[0], file, evaluator, is_default=False)
    for file, call in program.calls("setattr"):
        yield from _copied(call, file, evaluator)
    for file, call in program.calls("set_defaults"):
        for keyword in call.keywords:
            if keyword.arg is None:
                yield from _overlay(call, keyword.value, file, evaluator, is_default=True)


def _overlay(
    call: ast.Call, node: ast.expr, file: ParsedPython, evaluator: Questions, *, is_default: bool
) -> Iterator[Overlay]:
    if not evaluator.reaches(call, file):
        return
    known = evaluator.value(node, file)
    value = known.value if known is not None else None
    if not isinstance(value, Options):
        yield Overlay(value if isinstance(value, Settings) else None, is_default)


def _is_of_options(function: ast.expr, file: ParsedPython, evaluator: Questions) -> bool:
    """True for `args.__dict__.update` and `vars(args).update`."""
    match function:
        case ast.Attribute(
            value=ast.Attribute(value=owner, attr="__dict__")
            | ast.Call(func=ast.Name(id="vars"), args=[owner])
        ):
            known = evaluator.value(owner, file)
            return known is not None and isinstance(known.value, Options)
    return False


def _copied(call: ast.Call, file: ParsedPython, evaluator: Questions) -> Iterator[Overlay]:
    """`for key, value in settings.items(): setattr(args, key, value)`."""
    match call.args:
        case [owner, ast.Name(id=key), ast.Name()]:
            pass
        case _:
            return
    for parent in syntax_tree(file).within_function(call):
        match parent:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=name), *_]),
                iter=ast.Call(func=ast.Attribute(value=source, attr="items")),
            ) if name == key:
                known = evaluator.value(owner, file)
                if known is not None and isinstance(known.value, Options):
                    yield from _overlay(call, source, file, evaluator, is_default=False)
