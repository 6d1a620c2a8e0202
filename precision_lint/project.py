"""What the whole project says, whichever files were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from precision_lint.discovery import DEFAULT_EXCLUDE, files
from precision_lint.finding import Place, Related, Span
from precision_lint.pins import pinned_version
from precision_lint.source.text import SourceText

_MENTIONS = (b"bfloat16", b"bf16")
_COMMENT = re.compile(r"#|//")
_USE = re.compile(
    r"""torch\.bfloat16 | ["'](?:torch\.)?(?:bfloat16|bf16)["'] | \.bfloat16\(\)
      | \bbf16\b["']?\s*[:=]\s*(?:bool\s*=\s*)?(?:true|True|1)\b
      | (?:precision|dtype)\w*["']?\s*[:=\s]\s*["']?(?:bfloat16|bf16) | --bf16\b
    """,
    re.VERBOSE,
)
_WEIGHTS_CHOICE = re.compile(
    r"""\b\w*dtype\w*["']?\s*(?::\s*str\s*=|[:=])\s*["']?(?:torch\.)?(?:bfloat16|bf16)\b""",
    re.VERBOSE,
)
_MAX_BYTES = 2_000_000
"""Larger files are data."""


@dataclass(frozen=True)
class Project:
    """A project root, and the facts that are read from all of its files on first use."""

    root: Path
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    asked: set[str] = field(default_factory=set, compare=False, repr=False)
    """The facts that were asked for since somebody emptied this set: what a cache must know."""

    @property
    def half_precision(self) -> Related | None:
        """The first place, in path order, where the project chooses bfloat16; None if none does."""
        self.asked.add("half_precision")
        return self._half_precision

    @property
    def bfloat16_weights(self) -> Related | None:
        """The first setting that offers bfloat16 as the dtype of weights; None if there is none."""
        self.asked.add("bfloat16_weights")
        return self._bfloat16_weights

    @cached_property
    def _half_precision(self) -> Related | None:
        return self._first(_USE, "the project uses bfloat16 here")

    @cached_property
    def _bfloat16_weights(self) -> Related | None:
        return self._first(_WEIGHTS_CHOICE, "the configuration offers bfloat16 here")

    def version_of(self, library: str, target: Mapping[str, str]) -> tuple[int, int] | None:
        """Major and minor version of a library: from the settings, else from the project's pins.

        None where neither says one: rules then take the newest that they know.
        """
        self.asked.add(library)
        version = target.get(library) or pinned_version(self.root, library) or ""
        match = re.match(r"(\d+)\.(\d+)", version)
        return (int(match[1]), int(match[2])) if match else None

    def _first(self, pattern: re.Pattern[str], message: str) -> Related | None:
        for text in self._mentioning():
            for match in pattern.finditer(text.text):
                place = text.place(Span(*match.span()))
                if not _is_comment(text, place):
                    return Related(place, message)
        return None

    @cached_property
    def _mentions(self) -> list[Path]:
        """The files that mention bfloat16 at all, the plainest use of it first: tests come last."""
        found = []
        for path in files([self.root], self.root, self.exclude):
            try:
                if path.stat().st_size > _MAX_BYTES:
                    continue
                content = path.read_bytes()
            except OSError:
                continue
            if any(mention in content for mention in _MENTIONS):
                found.append(path)
        return sorted(found, key=self._rank)

    def _rank(self, path: Path) -> tuple[bool, str]:
        name = path.relative_to(self.root).as_posix()
        return "test" in name, name

    def _mentioning(self) -> Iterator[SourceText]:
        for path in self._mentions:
            try:
                yield SourceText.from_bytes(path, path.read_bytes())
            except (OSError, UnicodeDecodeError):
                continue


def _is_comment(text: SourceText, place: Place) -> bool:
    before = text.line(place.start.row)[: place.start.column - 1]
    return _COMMENT.search(before) is not None
