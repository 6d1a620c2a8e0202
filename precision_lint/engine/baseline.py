"""A baseline: the findings of an earlier run, so that only new ones are reported.

A finding is identified by its rule, its path and the text of its line, and counted. Line numbers
are not part of it: code that moves keeps its baseline.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from precision_lint.engine.settings import ConfigError
from precision_lint.engine.writing import write as write_file
from precision_lint.model.finding import Finding
from precision_lint.project import disk
from precision_lint.source.text.text import SourceText

VERSION = 1
Sources = Mapping[Path, SourceText]
Fingerprint = tuple[str, str, str]
"""A code, a path from the project root, and the text of a line."""


class BaselineError(ConfigError):
    """A baseline that cannot be used; the message names the file."""


def write(path: Path, findings: Sequence[Finding], sources: Sources, root: Path) -> None:
    """Write the findings as the new baseline.

    Raises:
        BaselineError: it cannot be written.
    """
    _write(path, Counter(_fingerprint(finding, sources, root) for finding in findings))


def prune(path: Path, stale: Counter[Fingerprint]) -> None:
    """Write a baseline without what no longer occurs.

    Raises:
        BaselineError: it cannot be read or written.
    """
    _write(path, read(path) - stale)


def _write(path: Path, counts: Counter[Fingerprint]) -> None:
    rows = [
        {"code": code, "path": where, "line": line, "count": count}
        for (code, where, line), count in sorted(counts.items())
    ]
    document = {"version": VERSION, "findings": rows}
    # A file name that is not text contains surrogates; escaped, they are still JSON.
    content = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    try:
        write_file(path, content + b"\n")
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}") from error


def read(path: Path) -> Counter[Fingerprint]:
    """How often each finding is in a baseline.

    Raises:
        BaselineError: it cannot be read, or is not a baseline.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
        known: Counter[Fingerprint] = Counter(
            {
                (row["code"], row["path"], row["line"]): int(row["count"])
                for row in document["findings"]
            }
        )
        is_ours = document["version"] == VERSION
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BaselineError(f"{path}: not a baseline of precision-lint") from error
    if not is_ours:
        raise BaselineError(
            f"{path}: a baseline of another version; create a new one with --write-baseline"
        )
    return known


def subtract(
    known: Counter[Fingerprint], findings: Iterable[Finding], sources: Sources, root: Path
) -> tuple[Finding, ...]:
    """The findings that are not in a baseline; `known` is reduced by those that are."""
    new = []
    for finding in findings:
        fingerprint = _fingerprint(finding, sources, root)
        if known[fingerprint] > 0:
            known[fingerprint] -= 1
        else:
            new.append(finding)
    return tuple(new)


def stale(
    known: Counter[Fingerprint],
    matched: Iterable[Finding],
    sources: Sources,
    root: Path,
    checked: Iterable[Path],
    codes: frozenset[str],
) -> Counter[Fingerprint]:
    """What a baseline contains of files that were checked, or are gone, and nothing `matched`.

    Of rules that did not run nothing is known.
    """
    rest = known - Counter(_fingerprint(finding, sources, root) for finding in matched)
    seen = {_relative(path, root) for path in checked}
    return Counter(
        {
            (code, where, line): count
            for (code, where, line), count in rest.items()
            if code in codes and (where in seen or not disk.is_file(root / where))
        }
    )


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _fingerprint(finding: Finding, sources: Sources, root: Path) -> Fingerprint:
    path = finding.place.path
    where = _relative(path, root)
    source = sources.get(path)
    line = ""
    if source is not None:
        row = source.around(finding.place).line(finding.place.start.row)
        line = " ".join(row.split())
    return finding.code, where, line
