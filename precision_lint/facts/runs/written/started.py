"""The launches of a file, with the program of the project that each starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.project.facts import Recording
from precision_lint.source.config.config_file import ParsedConfig

_MOST = 64
"""Launches of one file."""


def started_programs(
    file: ParsedConfig, project: Recording, *, by_example: bool = False
) -> Iterator[tuple[ParsedConfig, Launch, Path]]:
    """The part of the file that contains a launch, the launch, and the program; those of documents
    only where examples count.
    """
    for each in file.with_embedded:
        if each.is_excerpt and not by_example:
            continue
        for started in filter(None, map(launch, each.commands[:_MOST])):
            path = program_of(started, each, project)
            if path is not None:
                yield each, started, path
