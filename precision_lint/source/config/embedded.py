"""Configurations inside of other files: here-documents, fences, commands of images, jobs, cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from precision_lint.source.config.config_file import Embedded, ParsedConfig, ParsePart, most_parts
from precision_lint.source.text.notebook import NotebookText


def embedded(file: ParsedConfig, parse: ParsePart) -> Iterator[Embedded]:
    """The parts of a file that are configurations of their own; none of what cannot be read."""
    find = _finder(file)
    return islice(find(file, parse), most_parts(file)) if find else iter(())


def _finder(file: ParsedConfig) -> Callable[[ParsedConfig, ParsePart], Iterator[Embedded]] | None:
    match file.format:
        case "shell":
            from precision_lint.source.config.heredocs import here_documents

            return here_documents
        case "yaml":
            from precision_lint.source.config.jobs import job_scripts

            return job_scripts
        case "dockerfile":
            from precision_lint.source.config.dockerfile import image_commands

            return image_commands
        case "makefile":
            from precision_lint.source.config.makefile import recipes

            return recipes
        case "python" if isinstance(file.text, NotebookText):
            from precision_lint.source.config.notebook_scripts import notebook_scripts

            return notebook_scripts
        case "markdown":
            from precision_lint.source.config.markdown import copied

            return copied
        case _:
            return None
