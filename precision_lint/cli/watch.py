"""`--watch`: files are checked again when one changes; what is new is printed, and what is gone."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from precision_lint.cli import console
from precision_lint.cli.outcome import left_of, print_notes, print_report
from precision_lint.engine.job import Result
from precision_lint.engine.session import Session
from precision_lint.engine.settings import ConfigError
from precision_lint.engine.warm import state_of
from precision_lint.model.finding import Finding
from precision_lint.project.disk import Stamp, stamp

_PAUSE = 0.3
"""Seconds between two looks at the times of files; an editor may write several at once."""

State = dict[Path, "Stamp | None"]


def watch(opened: Callable[[], Session], check: Callable[[Session], list[Result]]) -> NoReturn:
    """Check, and do so again after every change, until somebody interrupts it."""
    session = opened()
    state = _state(session)
    left = _left(check(session), session)
    print_report(left, session)
    while True:
        console.note(_summary(left))
        sys.stdout.flush()
        session, state = _changed(session, state, opened)
        before, left = left, _left(check(session), session)
        for line in changes(_findings(before), _findings(left), session.project.root):
            console.say(line)


def _changed(
    session: Session, state: State, opened: Callable[[], Session]
) -> tuple[Session, State]:
    """The next session, as soon as something changed and nobody is still writing."""
    while True:
        pause()
        while not _is_same(state):
            state = _state(session)
            pause()
            if _is_same(state):
                try:
                    session = opened()
                except ConfigError as problem:
                    console.error(str(problem))
                else:
                    return session, _state(session)


def pause() -> None:
    """Wait before another look at the files."""
    time.sleep(_PAUSE)


def _left(results: Sequence[Result], session: Session) -> list[Result]:
    print_notes(results)
    return left_of(results, session)


def _findings(results: Sequence[Result]) -> list[Finding]:
    return [finding for result in results for finding in result.findings]


def changes(before: Sequence[Finding], now: Sequence[Finding], root: Path) -> Iterator[str]:
    """A line for each finding that is gone, and for each that is new; one that moved is neither."""
    gone = Counter(map(_identity, before)) - Counter(map(_identity, now))
    new = Counter(map(_identity, now)) - Counter(map(_identity, before))
    for sign, findings, of in (("-", before, gone), ("+", now, new)):
        for finding in findings:
            identity = _identity(finding)
            if of[identity]:
                of[identity] -= 1
                yield f"{sign} {_line(finding, root)}"


def _identity(finding: Finding) -> tuple[str, Path, str]:
    return finding.code, finding.place.path, finding.message


def _line(finding: Finding, root: Path) -> str:
    place = finding.place
    path = place.path.relative_to(root) if place.path.is_relative_to(root) else place.path
    cell = f"cell {place.cell.number}:" if place.cell else ""
    where = f"{path.as_posix()}:{cell}{place.start.row}:{place.start.column}"
    return f"{where}: {finding.code} {finding.message}"


def _summary(results: Sequence[Result]) -> str:
    return f"{console.plural(len(_findings(results)), 'finding')}; waiting for changes"


def _state(session: Session) -> State:
    """The files of the project, what configures the run, and the folders that get new ones."""
    files = [*state_of(session.project), *session.paths]
    if session.settings.config_file is not None:
        files.append(session.settings.config_file)
    return {path: stamp(path) for path in {*files, *_folders(files, session.project.root)}}


def _folders(files: Iterable[Path], root: Path) -> set[Path]:
    found = {root}
    for path in files:
        for folder in path.parents:
            if folder in found or root not in folder.parents:
                break
            found.add(folder)
    return found


def _is_same(state: State) -> bool:
    return all(stamp(path) == before for path, before in state.items())
