"""Who owns the files of a project, as its CODEOWNERS says.

The patterns are those of `.gitignore`, without negation; the last line that matches a file counts.
https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.gitignore import Ignores, parse

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where the file can be; the first that there is counts."""

_LINE = regex(r"[ \t]*(?P<pattern>(?:\\.|[^\s\\])+)[ \t]*(?P<owners>[^#]*)")


@frozen(slots=False)
class _Row:
    """A line: which paths, and whose they are; "" for nobody's."""

    paths: Ignores
    owners: str
    is_shallow: bool
    """True for `docs/*`, which holds for the files of a folder but not for those further below."""


@frozen(slots=False)
class Owners:
    """The owners of files."""

    root: Path
    rows: Sequence[_Row] = ()

    def of(self, path: Path) -> str:
        """The owners of a file, separated by blanks; "" for one without."""
        if not path.is_relative_to(self.root):
            return ""
        relative = path.relative_to(self.root)
        names = [(relative.as_posix(), False)]
        names += [(each.as_posix(), True) for each in relative.parents if each.name]
        for row in reversed(self.rows):
            if any(row.paths.decide(*name) for name in (names[:1] if row.is_shallow else names)):
                return row.owners
        return ""


def read_owners(root: Path) -> Owners:
    """The owners that a project declares; of no file if it has no CODEOWNERS."""
    for place in PLACES:
        try:
            text = disk.read(root / place).decode("utf-8", "replace")
        except OSError:
            continue
        return Owners(root, tuple(row for line in text.splitlines() for row in _rows(line)))
    return Owners(root)


def _rows(line: str) -> list[_Row]:
    match = _LINE.match(line)
    if match is None or match["pattern"][0] in "#[^!":  # GitLab's sections are in brackets
        return []
    patterns = parse([match["pattern"].encode()])
    owners = " ".join(match["owners"].split())
    return [_Row(Ignores(patterns), owners, match["pattern"].endswith("/*"))] if patterns else []
