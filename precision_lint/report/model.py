"""The input of every format: the findings, their source texts, and the root of paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from precision_lint.model.finding import Finding, Place
from precision_lint.model.frozen import frozen
from precision_lint.report.ink import Ink
from precision_lint.source.text.text import SourceText


def in_cell(place: Place) -> str:
    """The suffix of a message in reports that have rows of the file but no cells."""
    cell = place.cell
    return f" (cell {cell.number}, line {place.start.row})" if cell else ""


@frozen
class Report:
    """Sorted findings and their sources. `root` is absolute: paths below it are shown relative."""

    findings: Sequence[Finding]
    sources: Mapping[Path, SourceText]
    root: Path
    ink: Ink
    most: int | None = None
    """How many findings of a rule the default format shows; None for all."""
    fixed: Sequence[Finding] = ()
    """The findings that were fixed."""
    show_fixes: bool = False
    group_of: Callable[[Path], str] | None = None
    """The group of a file that statistics count in, such as its folder; None to count by rule."""

    def relative(self, path: Path) -> str:
        """The path from the root, or the absolute path of a file that is not below it."""
        absolute = Path(os.path.abspath(path))
        if absolute.is_relative_to(self.root):
            return absolute.relative_to(self.root).as_posix()
        return absolute.as_posix()

    def position(self, place: Place) -> str:
        """A place for people: `train.py:3:5`, `train.ipynb:cell 2:3:5`."""
        return f"{self.row(place)}:{place.start.column}"

    def row(self, place: Place) -> str:
        """A place without its column."""
        cell = f"cell {place.cell.number}:" if place.cell else ""
        return f"{self.relative(place.path)}:{cell}{place.start.row}"
