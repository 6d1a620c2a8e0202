"""The findings that a change brings: those with a place on a line that changed since a revision.

Lines are compared with those in git's objects. Git's view of the working tree is not asked for, as
a repository can configure programs that git would run for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from precision_lint.engine.job import Result
from precision_lint.engine.revisions import contents_at
from precision_lint.model.finding import Finding, Place
from precision_lint.project import disk

Rows = frozenset[int]


def since(results: Sequence[Result], revision: str, root: Path) -> list[Result]:
    """The results without the findings that have no place on a line that changed.

    The place of a finding counts, and so do its related places: a setting that is new makes code
    wrong that is old.

    Raises:
        NoRevision: git knows no such revision, or there is no repository.
    """
    paths = {place.path for result in results for one in result.findings for place in _places(one)}
    before = contents_at(revision, root, sorted(paths))
    texts = {result.path: result.text for result in results if result.text is not None}
    now = {path: texts[path].to_bytes() if path in texts else _read(path) for path in paths}
    changed = {path: changed_rows(before[path], now[path]) for path in paths}
    return [
        replace(result, findings=tuple(one for one in result.findings if _is_new(one, changed)))
        for result in results
    ]


def changed_rows(before: bytes | None, now: bytes) -> Rows:
    """The rows of a text that are new, and those around rows that are gone.

    All of them in a file that was not there before.
    """
    old, new = _lines(before or b""), _lines(now)
    if before is None:
        return frozenset(range(1, len(new) + 2))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    rows: set[int] = set()
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind == "delete":
            rows |= {start, start + 1}
        elif kind != "equal":
            rows |= set(range(start + 1, end + 1))
    return frozenset(rows)


def _is_new(finding: Finding, changed: Mapping[Path, Rows]) -> bool:
    return any(_is_on(place, changed[place.path]) for place in _places(finding))


def _places(finding: Finding) -> list[Place]:
    return [finding.place, *(related.place for related in finding.related)]


def _is_on(place: Place, rows: Rows) -> bool:
    start, end = place.in_file
    return any(row in rows for row in range(start.row, end.row + 1))


def _lines(content: bytes) -> list[bytes]:
    """The lines of a text; how they end is no change."""
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


def _read(path: Path) -> bytes:
    try:
        return disk.read(path, disk.ANY_SIZE)
    except OSError:
        return b""
