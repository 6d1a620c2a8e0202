"""Parsing of configuration files, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Mapping as Table
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast, get_args

from precision_lint.source.config.config_file import Embedded, FindParts, Format, ParsedConfig
from precision_lint.source.config.limits import MAX_CHARACTERS
from precision_lint.source.config.trees import parse_tree
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from precision_lint.source.python.parse import ParsedPython
    from precision_lint.source.shell.parse import Arguments, Follow
    from precision_lint.source.shell.variables import Assigned

ParsePython: TypeAlias = "Callable[[SourceText], ParsedPython]"


def _nothing(reference: str) -> None:
    """Follows no reference: what a script sources is unknown."""


def _python(text: SourceText) -> ParsedPython:
    from precision_lint.source.python.parse import parse_python

    return parse_python(text)


def parse_config(
    text: SourceText,
    format: str,
    *,
    follow: Follow = _nothing,
    parse_python: ParsePython = _python,
    arguments: Arguments | None = None,
) -> ParsedConfig:
    """Parse `text` as `format`: "yaml", "json", "toml", "shell", "dockerfile", "makefile",
    "markdown" or "notebook". A notebook is a Python file with scripts embedded in it.

    `follow` finds and reads what scripts source, `parse_python` parses the code of a notebook,
    `arguments` are the words that a script is started with. A file larger than any configuration is
    data, and has no settings.

    Raises:
        Template: the text is a configuration only after substitution.
        Unparsable: the text is not valid in its format, or nested too deeply.
        ValueError: there is no such format.
    """
    if format not in get_args(Format):
        raise ValueError(f"unknown configuration format: {format!r}")
    kind, parts = cast(Format, format), _finder(follow)
    if kind == "notebook":
        return _parse_notebook(text, parts, parse_python)
    if len(text.text) > MAX_CHARACTERS:
        return ParsedConfig(text, kind, find_parts=parts)
    match kind:
        case "shell":
            from precision_lint.source.shell import parse as shell

            script, defect = shell.parse(text, follow=follow, arguments=arguments)
            return ParsedConfig(text, kind, script=script, defect=defect, find_parts=parts)
        case _:
            documents, defect = parse_tree(text, kind)
            return ParsedConfig(text, kind, documents, defect=defect, find_parts=parts)


def _parse_notebook(text: SourceText, parts: FindParts, parse_python: ParsePython) -> ParsedConfig:
    from precision_lint.source.text.notebook import NotebookText

    notebook = text if isinstance(text, NotebookText) else NotebookText.read(text)
    try:
        python = parse_python(notebook)
    except Unparsable as defect:  # what its shells run can be read all the same
        return ParsedConfig(notebook, "python", defect=defect, find_parts=parts)
    return ParsedConfig(notebook, "python", python=python, find_parts=parts)


def _finder(follow: Follow) -> FindParts:
    """How the parts of a file are found whose scripts source what `follow` finds."""

    def parts(file: ParsedConfig) -> Iterator[Embedded]:
        from precision_lint.source.config.embedded import embedded

        return embedded(file, partial(parse_part, follow=follow))

    return parts


def parse_part(
    file: ParsedConfig,
    masked: str,
    format: Format,
    *,
    margin: int = 0,
    given: Table[str, Assigned] | None = None,
    exports_all: bool = False,
    follow: Follow = _nothing,
) -> ParsedConfig | None:
    """Parse a part of a file from the file's text with blanks for the rest.

    None if it is not valid: what a program writes is not what its author sees. The other arguments
    are those of `shell.parse`.
    """
    text, parts = file.text, _finder(follow)
    seen = text.with_text(masked)
    if format == "shell":
        from precision_lint.source.shell import parse as shell

        script, defect = shell.parse(
            text,
            masked=masked,
            margin=margin,
            given=given,
            exports_all=exports_all,
            follow=follow,
        )
        return ParsedConfig(
            text, format, script=script, defect=defect, masked=seen, around=file, find_parts=parts
        )
    try:
        if format == "python":
            return ParsedConfig(text, format, masked=seen, python=_python(seen), around=file)
        documents, defect = parse_tree(seen, format)
    except (Unparsable, RecursionError, MemoryError):
        return None
    if defect is not None:
        return None
    return ParsedConfig(text, format, documents, masked=seen, around=file, find_parts=parts)
