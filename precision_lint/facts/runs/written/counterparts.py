"""Files that a configuration passes over: those of another model than the one that it names.

With `NAME: FoundationStereo`, what is in `models/foundationstereo/trainer.py` runs, and what is in
`models/faststereo/trainer.py` does not, though the program imports both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Scalar, mappings

_LEAST_LETTERS = 4
_MOST_LETTERS = 40
_MOST_MORE = 3
"""Characters after the name of a folder in the name of a model: `msnet` for `MSNet2D`."""
_OTHER = regex(r"[^a-z0-9]")


def names_in(file: ParsedConfig) -> frozenset[str]:
    """The texts among the settings of a file that may name a model."""
    return frozenset(_texts(file))


def _texts(file: ParsedConfig) -> Iterator[str]:
    for mapping in mappings(file.documents):
        for entry in mapping.entries:
            match entry.value:
                case Scalar(value=str(text)) if len(text) <= _MOST_LETTERS and "/" not in text:
                    yield plain(text)


def is_of_another(path: Path, paths: Iterable[Path], names: Set[str]) -> bool:
    """True for a file whose counterpart is in the folder that a name chooses, and it is not."""
    for other in paths:
        if other.name != path.name or other == path or len(other.parts) != len(path.parts):
            continue
        pairs = zip(path.parts, other.parts, strict=True)
        different = [(own, its) for own, its in pairs if own != its]
        if len(different) == 1:
            own, its = different[0]
            if _is_chosen(its, names) and not _is_chosen(own, names):
                return True
    return False


def _is_chosen(folder: str, names: Set[str]) -> bool:
    name = plain(folder)
    if len(name) < _LEAST_LETTERS:
        return False
    return any(
        text == name or (text.startswith(name) and len(text) - len(name) <= _MOST_MORE)
        for text in names
    )


def plain(text: str) -> str:
    """A name without what spellings differ in: `MS-Net` and `MSNet`."""
    return _OTHER.sub("", text.lower())
