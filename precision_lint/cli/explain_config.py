"""`precision-lint explain-config`: the precision of runs, and what changed in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from precision_lint.cli import console
from precision_lint.cli.outcome import CannotRun
from precision_lint.cli.paths import existing
from precision_lint.engine.compare_configs import changes
from precision_lint.engine.configuration_files import CannotExplain
from precision_lint.engine.explain_config import explained_runs, pages_of
from precision_lint.engine.explained import Explanation
from precision_lint.engine.options import Options
from precision_lint.engine.revisions import NoRevision, folder_of
from precision_lint.engine.session import Session
from precision_lint.report import write_changes, write_runs
from precision_lint.report.terminal import wants_color


def show(session: Session, output_format: str) -> None:
    """Print the runs of a session, each with its precision and its conflicts."""
    found = _explanation(session)
    color = wants_color(sys.stdout, os.environ)
    write_runs(output_format, found, sys.stdout, color=color, root=Path.cwd())


def compare(
    compared: tuple[str, str], paths: Sequence[str], options: Options, output_format: str
) -> None:
    """Print what changed in the precision of runs, between two files or two revisions.

    Raises:
        CannotRun: They are neither, or a path is missing at one of the revisions.
    """
    color = wants_color(sys.stdout, os.environ)
    if all(map(os.path.isfile, compared)):
        one, other = (_explanation(Session.open(existing([each]), options)) for each in compared)
        found = list(changes(one, other, None))
        write_changes(output_format, found, sys.stdout, color=color, root=Path.cwd())
        return
    old, new = compared
    root = Session.open(existing(paths), options).project.root
    inside = [path.relative_to(root) for path in existing(paths)]
    try:
        with folder_of(old, root) as before, folder_of(new, root) as after:
            explained = [_explanation_of(tree, inside, options) for tree in (before, after)]
            found = list(changes(explained[0], explained[1], (before, after)))
            write_changes(output_format, found, sys.stdout, color=color, root=after)
    except NoRevision as problem:
        message = f"{old} and {new} are neither two files nor two revisions: {problem}"
        raise CannotRun(message) from None


def _explanation_of(tree: Path, inside: Sequence[Path], options: Options) -> Explanation:
    """What is explained of some paths inside of a revision."""
    paths = [path for each in inside if (path := tree / each).exists()]
    if not paths:
        raise CannotRun("the paths are not in both revisions")
    return _explanation(Session.open(paths, options))


def _explanation(session: Session) -> Explanation:
    named = [path for path in session.paths if not path.is_dir()]
    files = sorted({*named, *session.project_files(console.note)})
    try:
        least = session.settings.min_confidence
        is_folder = any(path.is_dir() for path in session.paths)
        pages = pages_of(files, session.project) if is_folder else []
        return explained_runs(files, session.project, named, console.note, least, pages)
    except CannotExplain as problem:
        raise CannotRun(str(problem)) from problem
