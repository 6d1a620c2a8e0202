"""Settings in files that are no configuration of the project: what a run or a tool has written.

They say which precision a finished run had, or an older version of a file. Nothing is said of what
they are for, as nobody starts from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.written.records import kept_of_run
from precision_lint.facts.runs.written.unread import Unread, unread
from precision_lint.project.discovery import is_copy
from precision_lint.source.config.config_file import ParsedConfig

_OF_JUPYTER = "a copy that Jupyter keeps"
_NAMED = rb"\.ipynb_checkpoints/[\w-]+\.\w"


def in_copies(file: ParsedConfig, project: Recording) -> Iterator[Unread]:
    """What a copy or the record of a run says of precision; nothing for other files."""
    why = _OF_JUPYTER if is_copy(file.text.path) else kept_of_run(file, project)
    is_in_vain = why == _OF_JUPYTER and not _are_named(project)
    for one in unread(file, ()) if why else ():
        said = (replace(each, reason=why, is_in_vain=is_in_vain) for each in one.settings)
        yield replace(one, settings=tuple(said))


def _are_named(project: Recording) -> bool:
    """True if a file of the project names one in a folder of copies: it may be started."""
    return project.python_source_matches(_NAMED) or project.other_file_matches(_NAMED)
