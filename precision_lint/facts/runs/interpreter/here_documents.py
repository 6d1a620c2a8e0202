"""The files that a script writes with here-documents before it starts a program."""

from __future__ import annotations

from posixpath import join, normpath

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import Embedded, ParsedConfig
from precision_lint.source.shell.words import UNKNOWN, Text


@frozen(eq=False)
class WrittenFile:
    """A file that the script writes. Its path may be one that only run time knows."""

    file: ParsedConfig | None
    """None if it is not certain which of several here-documents counts."""


def written_file(path: Text, file: ParsedConfig, started: Launch) -> WrittenFile | None:
    """The file at a path, if the script in `file` writes it before it starts something."""
    found = [
        one
        for one in (*file.embedded, *file.beside)
        if one.file.documents and _is_before(one, file, started) and _is_at(one, path, started)
    ]
    if not found:
        return None
    last = found[-1].heredoc
    is_clear = len(found) == 1 or (
        last is not None
        and not last.appends
        and not last.command.is_conditional
        and all(one.heredoc is not None and one.heredoc.body != last.body for one in found[:-1])
    )
    return WrittenFile(found[-1].file if is_clear else None)


def _is_before(one: Embedded, file: ParsedConfig, started: Launch) -> bool:
    """Parts of the files around the script are written by others before it, as far as is known."""
    return one not in file.embedded or (
        one.heredoc is not None and one.heredoc.body.start < started.span.start
    )


def _is_at(one: Embedded, path: Text, started: Launch) -> bool:
    target = one.heredoc.target if one.heredoc is not None else None
    if target is not None and UNKNOWN in path.chars:
        return target.is_same(path)
    written_in = one.heredoc.command.directory if one.heredoc is not None else None
    written = join(written_in or "", one.name)
    return UNKNOWN not in written and normpath(written) == normpath(
        join(started.directory or "", path.chars)
    )
