"""Whether the arguments of a call fit the parameters of a function."""

from __future__ import annotations

import ast

from precision_lint.source.python.syntax import positional_parameters, with_defaults


def fits(call: ast.Call, parameters: ast.arguments, *, bound: int = 0) -> bool:
    """False for a call that raises `TypeError` before the function runs.

    `bound` is the number of parameters that the call does not give itself, like `self`.
    """
    every = [each.arg for each in positional_parameters(parameters)]
    positional = every[bound:]
    only_positional = {each.arg for each in parameters.posonlyargs}
    named = {*positional, *(each.arg for each in parameters.kwonlyargs)} - only_positional
    has_star = any(isinstance(each, ast.Starred) for each in call.args)
    keywords = [each.arg for each in call.keywords if each.arg is not None]
    if not has_star and len(call.args) > len(positional) and parameters.vararg is None:
        return False
    if parameters.kwarg is None and not named.issuperset(keywords):
        return False
    by_position = {*every[:bound], *([] if has_star else positional[: len(call.args)])}
    if not (by_position - only_positional).isdisjoint(keywords):
        return False  # by keyword, too
    if has_star or len(keywords) < len(call.keywords):
        return True
    given = {*positional[: len(call.args)], *(named & {*keywords})}
    required = {each.arg for each, default in with_defaults(parameters) if default is None}
    return required - {*every[:bound]} <= given
