"""The paths on a command line: those that exist, and what is said of the others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from precision_lint.cli import console
from precision_lint.cli.outcome import CannotRun


def existing(arguments: Sequence[str]) -> list[Path]:
    """The paths that were given; the current folder if there are none."""
    paths = [Path(os.path.abspath(argument)) for argument in arguments or ["."]]
    missing = [argument for argument in arguments if not os.path.exists(os.path.abspath(argument))]
    if missing:
        hints = {arguments[0]: _like_command(arguments[0])}
        *others, last = [f"{path}: no such file or folder{hints.get(path, '')}" for path in missing]
        for message in others:
            console.error(message)
        raise CannotRun(last)
    return paths


def _like_command(argument: str) -> str:
    """A suggestion if the first argument is no path, and almost the name of a command."""
    from difflib import get_close_matches

    group = click.get_current_context().find_root().command
    if os.path.exists(argument) or not isinstance(group, click.Group):
        return ""
    close = get_close_matches(argument, group.commands, 1)
    return f"; did you mean `precision-lint {close[0]}`?" if close else ""
