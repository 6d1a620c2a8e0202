"""What a person at the terminal reads: every text of a repository passes through here on its way.

A name of a file, a key of a configuration or a version of git's can hold anything: a line end with
a command for GitHub after it, or the codes that change the title of a terminal. It is shown, on one
line, and has no effect.
"""

from __future__ import annotations

import click


def say(text: str) -> None:
    """Print one line of a result."""
    click.echo(_visible(text))


def note(message: str) -> None:
    """Print what a person should know, and what is no finding: on standard error."""
    click.echo(f"note: {_visible(message)}", err=True)


def error(message: str) -> None:
    """Print why the tool could not do its job: on standard error."""
    click.echo(f"error: {_visible(message)}", err=True)


def usage_error(error_of_click: click.ClickException) -> None:
    """Print what is wrong with the command line, which may hold the names of files."""
    if isinstance(error_of_click, click.UsageError) and error_of_click.ctx is not None:
        click.echo(error_of_click.ctx.get_usage(), err=True)
        click.echo(f"Try '{error_of_click.ctx.command_path} --help' for help.\n", err=True)
    error(error_of_click.format_message())


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _visible(text: str) -> str:
    from precision_lint.report.ink import revealed

    return revealed(text)
