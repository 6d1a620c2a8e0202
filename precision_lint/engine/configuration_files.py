"""Files that may be configurations, read and parsed, and why one is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.launches import launch
from precision_lint.facts.frameworks.table import frameworks
from precision_lint.facts.frameworks.triggers import may_be_read
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.written.unread import Unread, unread_commands, unread_lines
from precision_lint.facts.settings.vocabulary import (
    mentions_precision,
    sets_precision_in_json,
)
from precision_lint.project import disk
from precision_lint.project.discovery import Kind, holds_commands, kind_of
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

_MOST_KEYS = 6


class CannotExplain(Exception):
    """A path is not a readable configuration."""


def read(path: Path, project: Recording, *, is_named: bool) -> ParsedConfig | None:
    """A parsed file; None for one that cannot be a configuration."""
    try:
        kind = kind_of(path)
        if not is_named and kind and not _may_be_one(path, kind):
            return None
        file = project.config_files.at(path) or project.config_files.read(path)
    except Unparsable as problem:
        raise CannotExplain(problem_at(path, problem)) from problem
    except (RecursionError, MemoryError) as problem:
        raise CannotExplain(f"{path}: cannot be parsed: nested too deeply") from problem
    except (OSError, UnicodeError, LookupError) as problem:
        raise CannotExplain(f"{path}: cannot be read: {problem}") from problem
    if file is None and is_named:
        raise CannotExplain(f"{path}: too large for a configuration")
    return file


def lines_of(path: Path) -> Iterator[Unread]:
    """What can be seen of a file that cannot be parsed."""
    kind = kind_of(path) or "toml"
    if kind not in ("yaml", "json", "toml"):
        return
    try:
        text = SourceText.from_bytes(path, disk.read(path, disk.LARGEST_CONFIG))
    except (OSError, UnicodeError, LookupError):
        return
    yield from unread_commands(text) if holds_commands(path) else unread_lines(text, kind)


def _may_be_one(path: Path, kind: Kind) -> bool:
    """False for a file that is too large for a configuration, or says nothing of settings."""
    is_code = kind in ("python", "notebook")
    if not is_code and disk.size(path) > disk.LARGEST_CONFIG:
        return False
    return _is_of_interest(path.read_bytes(), kind)


def _is_of_interest(content: bytes, kind: Kind) -> bool:
    """True if a framework may read it, or if it says something of precision."""
    match kind:
        case "python" | "notebook":
            is_config = False
        case "json":
            is_config = sets_precision_in_json(content)
        case _:
            is_config = mentions_precision(content)
    return is_config or may_be_read(content, kind)


def problem_at(path: Path, problem: Unparsable) -> str:
    return f"{path}:{problem.row}:{problem.column}: cannot be parsed: {problem.message}"


def known_frameworks() -> list[str]:
    """The supported frameworks, by name."""
    return sorted((one.name for one in frameworks().values() if one.library), key=str.casefold)


def nothing_read(file: ParsedConfig) -> str:
    """Why a file has no run: the commands or keys in it, which identify no framework."""
    if file.script is not None:
        started = filter(None, map(launch, file.script.commands))
        seen = ", ".join(dict.fromkeys(f"`{one.program}`" for one in started))
        what = f"it starts {seen}" if seen else "it starts no program with options"
    else:
        names = [
            f"`{entry.name}`"
            for document in file.documents
            if isinstance(document, Mapping)
            for entry in document.entries
            if entry.name is not None
        ]
        more = ", …" if len(names) > _MOST_KEYS else ""
        what = f"its keys are {', '.join(names[:_MOST_KEYS])}{more}" if names else "it has no keys"
    return f"no supported framework reads it: {what}"
