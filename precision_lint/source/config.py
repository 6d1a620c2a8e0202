"""A configuration file: its settings with spans, whatever the format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from precision_lint.project import Project
from precision_lint.source.errors import Unparsable
from precision_lint.source.file import File
from precision_lint.source.settings_tree import Entry, Mapping, Value
from precision_lint.source.text import SourceText

if TYPE_CHECKING:
    from precision_lint.source.python import PythonFile
    from precision_lint.source.shell import Assigned, Follow, Heredoc, Script

Format: TypeAlias = Literal[
    "yaml", "json", "toml", "shell", "dockerfile", "makefile", "markdown", "notebook", "python"
]

MAX_CHARACTERS = 1024 * 1024
_MAX_SOURCED = 16


@dataclass(frozen=True, eq=False)
class ConfigFile(File):
    """A parsed configuration file, or a part of one. Two are the same only if they are one object.

    YAML, JSON and TOML have `documents`, a shell file has a `script`, Dockerfiles, Makefiles and
    Markdown have what is `embedded` in them, a Python file has `python`. A `defect` is where a file
    that could still be read is not valid in its format: findings stand, but nothing is fixed.

    A part of a file has the text of the whole, and is `masked`: that text as its parser saw it. It
    stands in the file `around` it. One that is composed of several has `homes` of its nodes.
    """

    format: Format
    documents: tuple[Value, ...] = ()
    script: Script | None = None
    defect: Unparsable | None = None
    masked: SourceText | None = field(default=None, repr=False)
    python: PythonFile | None = field(default=None, repr=False)
    around: ConfigFile | None = field(default=None, repr=False)
    homes: Table[Entry | Mapping, ConfigFile] = field(default_factory=dict, repr=False)

    def home(self, node: Entry | Mapping) -> ConfigFile:
        """The file that a node of the documents stands in."""
        return self.homes.get(node, self)

    @cached_property
    def parts(self) -> tuple[ConfigFile, ...]:
        """The files that it is composed of: itself, as a rule."""
        return tuple(dict.fromkeys(self.homes.values())) or (self,)

    @property
    def is_excerpt(self) -> bool:
        """True in a document: it shows the settings that it speaks of, and there may be others."""
        return self.format == "markdown" or (self.around is not None and self.around.is_excerpt)

    @cached_property
    def embedded(self) -> tuple[Embedded, ...]:
        """The parts of it that are configurations of their own."""
        from precision_lint.source.embedded import embedded

        return tuple(embedded(self))

    @cached_property
    def beside(self) -> tuple[Embedded, ...]:
        """The other parts of the files around it, less those that share a name."""
        if self.around is None:
            return ()
        parts = self.around.embedded
        names = Counter(PurePath(part.name).name for part in parts)
        own = (part for part in parts if names[PurePath(part.name).name] == 1)
        return (*own, *self.around.beside)

    __hash__ = object.__hash__
    __eq__ = object.__eq__


@dataclass(frozen=True, slots=True)
class Embedded:
    """A configuration that stands inside another file, such as the body of a here-document.

    Its spans are offsets into the text of the file around it.
    """

    name: str
    """The path that it is written to, or what else it is called by."""
    file: ConfigFile
    heredoc: Heredoc | None = None
    """The here-document that it is the body of."""


def parse_config(text: SourceText, project: Project, format: str) -> ConfigFile:
    """Parse `text` as `format`: "yaml", "json", "toml", "shell", "dockerfile", "makefile",
    "markdown" or "notebook". A notebook is a Python file with scripts embedded in it.

    A file larger than any configuration is data, and has no settings.

    Raises:
        Template: the text is a configuration only after substitution.
        Unparsable: the text is not valid in its format, or nested too deeply.
        ValueError: there is no such format.
    """
    if format not in get_args(Format):
        raise ValueError(f"unknown configuration format: {format!r}")
    kind = cast(Format, format)
    if kind == "notebook":
        return _parse_notebook(text, project)
    if len(text.text) > MAX_CHARACTERS:
        return ConfigFile(text, project, kind)
    match kind:
        case "shell":
            from precision_lint.source import shell

            script, defect = shell.parse(text, follow=_sourced_files(text, project, {}))
            return ConfigFile(text, project, kind, script=script, defect=defect)
        case _:
            documents, defect = _parse_tree(text, kind)
            return ConfigFile(text, project, kind, documents, defect=defect)


def _parse_notebook(text: SourceText, project: Project) -> ConfigFile:
    from precision_lint.source.notebook import NotebookText
    from precision_lint.source.python import parse_python

    notebook = text if isinstance(text, NotebookText) else NotebookText.read(text)
    try:
        return ConfigFile(notebook, project, "python", python=parse_python(notebook, project))
    except Unparsable as defect:  # what its shells run can be read all the same
        return ConfigFile(notebook, project, "python", defect=defect)


def parse_part(
    file: ConfigFile,
    masked: str,
    format: Format,
    *,
    margin: int = 0,
    given: Table[str, Assigned] | None = None,
    exports_all: bool = False,
) -> ConfigFile | None:
    """Parse a part of a file from the file's text with blanks for the rest.

    None if it is not valid: what a program writes is not what its author sees. The other arguments
    are those of `shell.parse`.
    """
    text, project = file.text, file.project
    seen = text.with_text(masked)
    if format == "shell":
        from precision_lint.source import shell

        script, defect = shell.parse(
            text,
            masked=masked,
            margin=margin,
            given=given,
            exports_all=exports_all,
            follow=_sourced_files(text, project, {}),
        )
        return ConfigFile(
            text, project, format, script=script, defect=defect, masked=seen, around=file
        )
    try:
        documents, defect = _parse_tree(seen, format)
    except (Unparsable, RecursionError, MemoryError):
        return None
    if defect is not None:
        return None
    return ConfigFile(text, project, format, documents, masked=seen, around=file)


def _parse_tree(text: SourceText, format: Format) -> tuple[tuple[Value, ...], Unparsable | None]:
    match format:
        case "yaml":
            from precision_lint.source import yaml

            return yaml.parse(text), None
        case "json":
            from precision_lint.source import json

            return json.parse(text)
        case "toml":
            from precision_lint.source import toml

            return toml.parse(text), None
        case _:
            return (), None


def _sourced_files(text: SourceText, project: Project, read: dict[Path, Script | None]) -> Follow:
    """Finds what a script sources; each file is `read` once, and not while it is being read."""

    def follow(reference: str) -> Script | None:
        path = project.config_files.find(reference, text.path)
        if path is None:
            return None
        if path not in read:
            if len(read) >= _MAX_SOURCED:
                return None
            read[path] = None
            read[path] = _sourced(path, project, read)
        return read[path]

    return follow


def _sourced(path: Path, project: Project, read: dict[Path, Script | None]) -> Script | None:
    from precision_lint.source import shell

    try:
        text = SourceText.from_bytes(path, path.read_bytes())
    except (OSError, UnicodeError):
        return None
    if len(text.text) > MAX_CHARACTERS:
        return None
    return shell.parse(text, follow=_sourced_files(text, project, read))[0]
