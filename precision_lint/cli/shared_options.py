"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from precision_lint.engine.shard import Shard
from precision_lint.model.finding import Confidence, Severity

_Level = TypeVar("_Level", Confidence, Severity)
_Command = TypeVar("_Command", bound=Callable[..., Any])


def level(kind: type[_Level], default: _Level, help: str) -> Callable[[_Command], _Command]:
    """An option that takes a member of an enumeration by its name."""
    name = f"--min-{kind.__name__.lower()}"
    return click.option(
        name,
        type=click.Choice([str(member) for member in kind], case_sensitive=False),
        callback=lambda _, __, value: value and kind[value.upper()],
        help=f"{help} [default: {default}]",
    )


def selectors(name: str, help: str) -> Callable[[_Command], _Command]:
    """An option that takes codes, prefixes and names: with commas, or several times."""
    return click.option(
        name,
        multiple=True,
        metavar="RULES",
        callback=lambda _, __, values: tuple(
            part.strip() for value in values for part in value.split(",")
        ),
        help=help,
    )


def shard(text: str) -> Shard:
    try:
        return Shard.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


preview = click.option("--preview", is_flag=True, help="Also run preview rules.")
PATH = click.Path(path_type=Path)
config = click.option("--config", type=PATH, help="Use this configuration file.")
isolated = click.option("--isolated", is_flag=True, help="Ignore configuration files.")
target = click.option(
    "--target", multiple=True, metavar="NAME=VERSION", help="Version of a library."
)
jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="Number of processes. [default: one per core]",
)
target_gpu = click.option("--target-gpu", metavar="NAME", help="The GPU of the runs, such as T4.")
target_torch = click.option("--target-torch", metavar="VERSION", help="Version of torch.")
target_triton = click.option("--target-triton", metavar="VERSION", help="Version of triton.")
no_cache = click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")
cache_dir = click.option("--cache-dir", type=PATH, help="Cache directory.")
color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use color. [default: auto]",
)
output_file = click.option(
    "-o",
    "--output-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report to a file.",
)
