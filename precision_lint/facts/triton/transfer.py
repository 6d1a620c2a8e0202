"""What a function of `triton.language` makes of its arguments, and tables of such functions."""

from __future__ import annotations

from collections.abc import Callable

from precision_lint.facts.triton.language import Language
from precision_lint.facts.triton.values import UNKNOWN, Arguments, Value

Transfer = Callable[[Arguments, Language], Value]
"""From the values of the arguments to the value that is returned."""


def table(names: str, transfer: Transfer) -> dict[str, Transfer]:
    """The functions of these names, which return the same."""
    return dict.fromkeys(names.split(), transfer)


def same(arguments: Arguments, language: Language) -> Value:
    """Neither dtype nor rank change."""
    return arguments.get(0, "input") or UNKNOWN
