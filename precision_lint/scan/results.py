"""The folder of results: findings and repositories as Parquet, in parts that are written whole.

A part is two files of one name: `findings/part-00001.parquet` first, then
`repositories/part-00001.parquet`. A repository is done when it is in the second one. Findings
without it are of a run that was stopped in between, and are removed by the next one.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from precision_lint.engine.settings import Settings
from precision_lint.engine.writing import write
from precision_lint.model.version import __version__
from precision_lint.project import disk
from precision_lint.scan import tables
from precision_lint.scan.outcome import Outcome, Status

_MOST_REPOSITORIES = 1000
_MOST_FINDINGS = 50_000
_LONGEST_WAIT = 30.0
"""Seconds of work that a killed run loses at most."""
_MANIFEST = "scan.json"


class BadOutput(Exception):
    """A folder that cannot take the results; the message says why."""


class Results:
    """The results that a folder has, and those that are on the way to it."""

    def __init__(self, folder: Path) -> None:
        self._findings, self._repositories = folder / "findings", folder / "repositories"
        self._waiting: list[Outcome] = []
        self._since = 0.0
        self._next = 1 + max((_number(path) for path in self._parts()), default=0)

    @classmethod
    @contextmanager
    def open(cls, folder: Path, settings: Settings, *, retry: bool = False) -> Iterator[Results]:
        """The results in a folder, which nobody else writes to meanwhile.

        With `retry`, repositories that did not end well are forgotten.

        Raises:
            BadOutput: it holds something else, or results of other settings, or is in use.
        """
        if folder.exists() and (not disk.is_folder(folder) or _is_foreign(folder)):
            raise BadOutput(f"{folder}: not a folder of results of a scan")
        for name in ("findings", "repositories"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            _agree(folder / _MANIFEST, settings)
            results = cls(folder)
            results._clean(retry=retry)
            try:
                yield results
            finally:
                results.flush()

    def done(self) -> set[tuple[str, str | None]]:
        """The repositories that are done, with their commits."""
        return {(row["repository"], row["commit"]) for row in self.rows(["repository", "commit"])}

    def add(self, outcome: Outcome) -> None:
        """Keep what came of a repository; it is written with others, or a little later."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(outcome)
        if (
            len(self._waiting) >= _MOST_REPOSITORIES
            or time.monotonic() - self._since > _LONGEST_WAIT
            or sum(len(each.records) for each in self._waiting) > _MOST_FINDINGS
        ):
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        if not self._waiting:
            return
        name = f"part-{self._next:05}.parquet"
        write(self._findings / name, tables.findings(self._waiting))
        write(self._repositories / name, tables.repositories(self._waiting))
        self._waiting, self._next = [], self._next + 1

    def rows(self, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """The rows of the table of repositories.

        Raises:
            BadOutput: a part is damaged.
        """
        for path in self._parts():
            yield from _rows(path, columns)

    def _parts(self) -> list[Path]:
        return sorted(self._repositories.glob("part-*.parquet"))

    def _clean(self, *, retry: bool) -> None:
        whole = {path.name for path in self._parts()}
        for path in self._findings.glob("part-*.parquet"):
            if path.name not in whole:
                path.unlink()
        for path in self._parts() if retry else []:
            self._forget_failures(path)

    def _forget_failures(self, path: Path) -> None:
        keys = {
            (row["repository"], row["commit"])
            for row in _rows(path, ["repository", "commit", "status"])
            if row["status"] != Status.OK.value
        }
        if keys:
            for one in (self._findings / path.name, path):
                write(one, tables.without(one, keys))


def _rows(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    try:
        yield from tables.rows(path, columns)
    except tables.Damaged as problem:
        raise BadOutput(f"{path}: {problem}; remove it and the one of findings") from problem


def _number(path: Path) -> int:
    digits = path.stem.removeprefix("part-")
    return int(digits) if digits.isdecimal() else 0


def _is_foreign(folder: Path) -> bool:
    """True for a folder with something in it that is no result."""
    names = {name for name in disk.names_in(folder) if not name.startswith(".")}
    return bool(names) and _MANIFEST not in names and not names <= {"findings", "repositories"}


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Nobody else writes to a folder; the lock ends with this process, however that ends."""
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadOutput(f"{folder}: another scan is writing there") from None
        yield


def _agree(manifest: Path, settings: Settings) -> None:
    """Write down what the results depend on; of another run it has to be the same."""
    now = {"version": __version__, "settings": _as_data(settings)}
    if not manifest.exists():
        write(manifest, json.dumps(now, indent=2).encode())
        return
    try:
        before = json.loads(manifest.read_bytes())
    except ValueError as problem:
        raise BadOutput(f"{manifest}: {problem}") from None
    if before != now:
        raise BadOutput(
            f"{manifest.parent}: holds results of another version or other settings "
            f"({', '.join(_differences(before, now)) or _MANIFEST}); use another folder"
        )


def _differences(before: object, now: Mapping[str, object]) -> list[str]:
    """What is different, by name."""
    if not isinstance(before, dict):
        return []
    old = {"version": before.get("version"), **(before.get("settings") or {})}
    new = {"version": now["version"], **_mapping(now["settings"])}
    return [name.replace("_", "-") for name in new if old.get(name) != new[name]]


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


_COUNTS = (
    "preview", "exclude", "extend_exclude", "markdown", "per_file_ignores", "target", "target_gpu",
)  # fmt: skip


def _as_data(settings: Settings) -> dict[str, object]:
    """The settings that findings depend on."""
    data: dict[str, object] = {name: getattr(settings, name) for name in _COUNTS}
    data["rules"] = sorted(settings.selected())
    data["min_confidence"] = str(settings.min_confidence)
    data["min_severity"] = str(settings.min_severity)
    shown: dict[str, object] = json.loads(json.dumps(data))
    return shown
