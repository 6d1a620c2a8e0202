"""A parsed configuration file as data, whatever the format: settings with spans, and its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as Table
from dataclasses import field
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo, cached_property
from precision_lint.source.config.settings_tree import Entry, Mapping, Value
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from precision_lint.source.python.parse import ParsedPython
    from precision_lint.source.shell.commands import Command, Heredoc
    from precision_lint.source.shell.parse import Script
    from precision_lint.source.shell.variables import Assigned

Format: TypeAlias = Literal[
    "yaml", "json", "toml", "shell", "dockerfile", "makefile", "markdown", "notebook", "python"
]

_MOST_CHARACTERS = 8 * 1024 * 1024  # that are parsed for the parts of one file
_MOST = 256


@frozen(eq=False, slots=False)
class ParsedConfig(Memo):
    """A parsed configuration file, or a part of one. Two are the same only if they are one object.

    YAML, JSON and TOML have `documents`, a shell file has a `script`, Dockerfiles, Makefiles and
    Markdown have what is `embedded` in them, a Python file has `python`. A `defect` is where a file
    that could still be read is not valid in its format: findings stand, but nothing is fixed.

    A part of a file has the text of the whole, and is `masked`: that text as its parser saw it. It
    stands in the file `around` it. One that is composed of several has `homes` of its nodes.
    """

    text: SourceText
    format: Format
    documents: tuple[Value, ...] = ()
    script: Script | None = None
    defect: Unparsable | None = None
    masked: SourceText | None = field(default=None, repr=False)
    python: ParsedPython | None = field(default=None, repr=False)
    around: ParsedConfig | None = field(default=None, repr=False)
    homes: Table[Entry | Mapping, ParsedConfig] = field(default_factory=dict, repr=False)
    find_parts: FindParts = field(default=lambda file: (), repr=False)
    """How the configurations inside of it are found, once somebody wants them."""

    def home(self, node: Entry | Mapping) -> ParsedConfig:
        """The file that a node of the documents stands in."""
        return self.homes.get(node, self)

    @cached_property
    def parts(self) -> tuple[ParsedConfig, ...]:
        """The files that it is composed of: itself, as a rule."""
        return tuple(dict.fromkeys(self.homes.values())) or (self,)

    @property
    def is_excerpt(self) -> bool:
        """True in a document: it shows some settings, and there may be others."""
        return self.format == "markdown" or (self.around is not None and self.around.is_excerpt)

    @cached_property
    def embedded(self) -> tuple[Embedded, ...]:
        """The parts of it that are configurations of their own."""
        return tuple(self.find_parts(self))

    @property
    def with_embedded(self) -> tuple[ParsedConfig, ...]:
        """The file itself, and these parts of it."""
        return (self, *(each.file for each in self.embedded))

    @property
    def commands(self) -> Sequence[Command]:
        """What a shell file starts."""
        return self.script.commands if self.script is not None else ()

    @cached_property
    def beside(self) -> tuple[Embedded, ...]:
        """The other parts of the files around it, less those that share a name."""
        if self.around is None:
            return ()
        parts = self.around.embedded
        names = Counter(PurePath(part.name).name for part in parts)
        own = (part for part in parts if names[PurePath(part.name).name] == 1)
        return (*own, *self.around.beside)


@frozen
class Embedded:
    """A configuration that stands inside another file, such as the body of a here-document.

    Its spans are offsets into the text of the file around it.
    """

    name: str
    """The path that it is written to, or what else it is called by."""
    file: ParsedConfig
    heredoc: Heredoc | None = None
    """The here-document that it is the body of."""


FindParts: TypeAlias = Callable[[ParsedConfig], Iterable[Embedded]]


class ParsePart(Protocol):
    """Parses a part of a file from the file's text with blanks for the rest.

    None if it is not valid. The keywords are those of `shell.parse`.
    """

    def __call__(
        self,
        file: ParsedConfig,
        masked: str,
        format: Format,
        *,
        margin: int = 0,
        given: Table[str, Assigned] | None = None,
        exports_all: bool = False,
    ) -> ParsedConfig | None: ...


def most_parts(file: ParsedConfig) -> int:
    """How many parts of a file are parsed at most."""
    return min(_MOST_CHARACTERS // max(len(file.text.text), 1), _MOST)
