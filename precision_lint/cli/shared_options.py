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


def _level(kind: type[_Level], default: _Level, help: str) -> Callable[[_Command], _Command]:
    """An option that takes a member of an enumeration by its name."""
    name = f"--min-{kind.__name__.lower()}"
    return click.option(
        name,
        type=click.Choice([str(member) for member in kind], case_sensitive=False),
        callback=lambda _, __, value: value and kind[value.upper()],
        help=f"{help} [default: {default}]",
    )


def _selectors(name: str, help: str) -> Callable[[_Command], _Command]:
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


def _all(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Several options at once, in the order of the help."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


selection = _all(
    _selectors("--select", "Enable only these rules: codes, prefixes or names."),
    _selectors("--extend-select", "Enable additional rules."),
    _selectors("--ignore", "Disable rules."),
    click.option("--preview", is_flag=True, help="Also run preview rules."),
    _level(Confidence, Confidence.MEDIUM, "Hide less certain findings."),
    _level(Severity, Severity.INFO, "Hide less severe findings."),
)
"""Which findings are reported."""

targets = _all(
    target,
    click.option("--target-torch", metavar="VERSION", help="Version of torch."),
    click.option("--target-triton", metavar="VERSION", help="Version of triton."),
    target_gpu,
)
"""What the linted code runs with."""

work = _all(jobs, no_cache, cache_dir)
"""How a run is done."""
