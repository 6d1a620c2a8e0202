"""A value that a place in the project gives to a setting, and how such files are read."""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from pathlib import Path

from precision_lint.facts.origin import Origin
from precision_lint.model.finding import Witness
from precision_lint.model.frozen import frozen
from precision_lint.project import disk
from precision_lint.source.text.text import SourceText


class Kind(Enum):
    """Where a setting gets its value, the most helpful place first."""

    FILE = "a configuration file"
    LAUNCH = "the command line of a launch script"
    ARGUMENT = "an argument's declaration"
    FIELD = "the field of a class of settings"
    VARIABLE = "an environment variable"


@frozen
class Declaration:
    """A setting by the names that lead to it, a value of it, and where it gets that value.

    `owner` is the class that declares a field, or the program that a command line starts. Of an
    option or a field, `flag` is how a command line names it, without dashes; `switches_to` is what
    it gets from a bare flag, and `is_default` tells the value that it has without one from those
    that it offers. `option` is an option as it is written, `--dtype`.
    """

    kind: Kind
    path: tuple[str, ...]
    value: object
    origin: Origin
    owner: str = ""
    flag: str = ""
    option: str = ""
    is_default: bool = False
    switches_to: bool = True


def witness(path: tuple[str, ...], value: object) -> Witness | None:
    """A value that a place gives to a setting, as a finding carries it; None for a collection."""
    match value:
        case str() | int() | float():
            return Witness(".".join(path), value)
    return None


def normal(name: str) -> str:
    """A name as an attribute: `mixed-precision` is read as `mixed_precision`."""
    return name.replace("-", "_")


def key_path(name: str) -> tuple[str, ...]:
    """The path of a dotted name: `training.precision`, `--model.dtype`."""
    return tuple(map(normal, name.lstrip("-+").split(".")))


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a file; None if it cannot be read, or is larger than what people write."""
    with suppress(OSError):
        return disk.read(path, disk.LARGEST_SETTINGS)
    return None


def read_text(path: Path) -> SourceText | None:
    """A file as text; None if it is not text. Errors in it are reported when it is linted."""
    content = read_bytes(path)
    with suppress(UnicodeDecodeError):
        return SourceText.from_bytes(path, content) if content is not None else None
    return None
