"""Messages to the person at the terminal: on standard error, a line each."""

from __future__ import annotations

import click


def note(message: str) -> None:
    """Print what a person should know, and what is no finding."""
    click.echo(f"note: {message}", err=True)


def error(message: str) -> None:
    """Print why the tool could not do its job."""
    click.echo(f"error: {message}", err=True)


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
