"""The options of `scan`; what they are for is imported later."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def scan_options(command: _Command) -> _Command:
    """Add the arguments and options that only `scan` has."""
    for add in reversed(_ALL):
        command = add(command)
    return command


def _size(text: str) -> int:
    """`512MB`, `2GB` or a number, as bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)i?B?", text.strip(), re.IGNORECASE)
    if match is None:
        raise click.BadParameter(f"`{text}` is not a size, such as 512MB")
    return int(float(match[1]) * 1024 ** " KMG".index(match[2].upper() or " "))


def _columns(text: str) -> dict[str, str]:
    from precision_lint.scan.layout import mapping

    try:
        return mapping(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _limit(name: str, default: str, help: str) -> Callable[[Any], Any]:
    return click.option(
        name,
        default=default,
        show_default=True,
        metavar="SIZE",
        callback=lambda _, __, value: _size(value),
        help=help,
    )


_ALL: tuple[Callable[[Any], Any], ...] = (
    click.argument("inputs", nargs=-1, metavar="[PARQUET]..."),
    click.option(
        "--repositories",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Also check what this text file names: a folder, a git repository or a URL a line.",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Path(file_okay=False, path_type=Path),
        required=True,
        metavar="FOLDER",
        help="Write the results here. Give the same folder again to go on with a scan.",
    ),
    click.option(
        "--columns",
        metavar="NAME=COLUMN,...",
        default="",
        callback=lambda _, __, value: _columns(value) if value else {},
        help="Which columns of the Parquet files are repo, path, content and commit. "
        "[default: those names, or the ones of The Stack]",
    ),
    click.option(
        "--address",
        envvar="RAY_ADDRESS",
        metavar="ADDRESS",
        help="Use this Ray cluster: auto, HOST:PORT or ray://HOST:PORT. "
        "[default: RAY_ADDRESS, or a Ray of its own on this machine]",
    ),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        help="Check this many repositories at a time. [default: one per core]",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=600,
        show_default=True,
        metavar="SECONDS",
        help="Stop the check of a repository after this time.",
    ),
    _limit("--memory", "2GB", "Stop the check of a repository that takes more memory."),
    _limit("--max-file-size", "4MB", "Leave out larger files."),
    _limit("--max-repository-size", "512MB", "Do not check larger repositories."),
    _limit("--part-size", "32MB", "Check a repository with more Python than this in parts."),
    click.option(
        "--retry", is_flag=True, help="Check again what did not end with the status `ok` before."
    ),
)
