"""What a call of `add_argument` says of the name of its option, as argparse reads it."""

from __future__ import annotations

import ast

from precision_lint.facts.settings.given import normal


def names_of(call: ast.Call) -> list[str]:
    """The names of an option, if all are written in its call."""
    match [each.value if isinstance(each, ast.Constant) else None for each in call.args]:
        case names if all(isinstance(name, str) for name in names):
            return [str(name) for name in names]
    return []


def flag_of(call: ast.Call) -> str:
    """What an option is called by: its first long name, or its first one; empty if that is not
    written in its call.
    """
    names = names_of(call)
    long = [name for name in names if name.startswith("--")]
    return next(iter([*long, *names]), "")


def destination(call: ast.Call) -> str:
    """The attribute in which argparse keeps what an option gives."""
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="dest", value=ast.Constant(value=str(name))):
                return name
    return normal(flag_of(call).lstrip("-"))
