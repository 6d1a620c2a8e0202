"""What is printed and written after a run, and its exit code."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TextIO

import click

from precision_lint.cli import console
from precision_lint.engine.ignoring import is_ignorable, takes_comments
from precision_lint.engine.job import Result
from precision_lint.engine.session import Session
from precision_lint.engine.settings import Settings
from precision_lint.engine.writing import write
from precision_lint.model.finding import Finding
from precision_lint.project.discovery import kind_of
from precision_lint.source.text.text import SourceText

OK, FINDINGS, FAILED, INTERRUPTED = 0, 1, 2, 130


class CannotRun(click.ClickException):
    """The tool cannot do its job."""

    exit_code = FAILED


MOST = 10
"""How many findings of one rule are shown in full; more of them say little."""

_FOR_PEOPLE = frozenset({"full", "concise"})
"""The formats that a person reads; the others are for programs."""


def finish(results: Sequence[Result], session: Session, stream: TextIO | None = None) -> int:
    """Print and write what a run found, to `stream` or standard output; return the exit code."""
    print_notes(results)
    options, root = session.options, session.project.root
    if options.diff:
        left = _print_diff(results, session)
    elif options.write_baseline:
        left = _write_baseline(results, root, options.write_baseline)
    else:
        left = left_of(results, session)
        print_report(left, session, stream)
    return exit_code(left, session.settings)


def left_of(results: Sequence[Result], session: Session) -> list[Result]:
    """The results with the findings that are to be reported."""
    settings, root = session.settings, session.project.root
    left = without_baseline(results, root, settings.baseline)
    if settings.baseline:
        _tell_stale(results, left, session, settings.baseline)
    if session.options.since:
        left = _since(left, session.options.since, root)
    return left


def is_for_people(session: Session) -> bool:
    """True if a person reads the report, who needs none of a run that checks nothing."""
    return session.settings.output_format in _FOR_PEOPLE


def exit_code(results: Sequence[Result], settings: Settings) -> int:
    """The exit code for what is left of a run."""
    if any(result.failure for result in results):
        return FAILED
    if settings.exit_zero:
        return OK
    has_findings = any(result.findings for result in results)
    has_fixed = any(result.fixed for result in results)
    return FINDINGS if has_findings or (has_fixed and settings.exit_non_zero_on_fix) else OK


def print_notes(results: Sequence[Result]) -> None:
    """Print what could not be checked, and what failed."""
    for result in results:
        for note in result.notes:
            console.note(note)
        if result.failure:
            console.error(result.failure)


def _print_diff(results: Sequence[Result], session: Session) -> list[Result]:
    """Print what `--fix` would change; that is what is left to do."""
    from precision_lint.report.patch import write_patch

    for result in results:
        if result.before is not None and result.text is not None:
            write_patch(result.before, result.text, session.project.root, sys.stdout.buffer)
    if fixed := _changed(results):
        if session.options.show_fixes:
            _list_fixes(fixed, session)
        verb = "fix" if session.options.add_ignore is None else "ignore"
        console.note(f"would {verb} {_in_files(results, fixed)}")
    return [replace(result, findings=result.fixed) for result in results]


def _write_baseline(results: Sequence[Result], root: Path, path: Path) -> list[Result]:
    """Write all findings to the baseline; nothing is left to report."""
    from precision_lint.engine import baseline

    findings = _findings(results)
    baseline.write(path, findings, _sources(results), root)
    console.note(f"{path}: now contains {console.plural(len(findings), 'finding')}")
    return [replace(result, findings=(), fixed=()) for result in results]


def without_baseline(results: Sequence[Result], root: Path, path: Path | None) -> list[Result]:
    """The results without the findings that the baseline contains."""
    if path is None:
        return list(results)
    from precision_lint.engine import baseline

    known, sources = baseline.read(path), _sources(results)
    return [
        replace(result, findings=baseline.subtract(known, result.findings, sources, root))
        for result in results
    ]


def _since(results: Sequence[Result], revision: str, root: Path) -> list[Result]:
    """The results without findings on lines that are as they were at a revision.

    Raises:
        CannotRun: git knows no such revision, or there is no repository.
    """
    from precision_lint.engine.revisions import NoRevision
    from precision_lint.engine.since import since

    try:
        left = since(results, revision, root)
    except NoRevision as problem:
        raise CannotRun(f"--since {revision}: {problem}") from None
    hidden = len(_findings(results)) - len(_findings(left))
    if hidden:
        plural = console.plural(hidden, "finding")
        console.note(f"{plural} not shown: on lines that did not change since {revision}")
    return left


def _tell_stale(
    results: Sequence[Result], left: Sequence[Result], session: Session, path: Path
) -> None:
    """Say what of the baseline occurs no more, or remove it."""
    from precision_lint.engine import baseline

    root, sources = session.project.root, _sources(results)
    new = Counter(_findings(left))
    matched = [finding for finding in _findings(results) if not new[finding]]
    checked = {result.path for result in results if not result.failure}
    codes = session.settings.selected()
    stale = baseline.stale(baseline.read(path), matched, sources, root, checked, codes)
    if not stale:
        return
    count = console.plural(stale.total(), "finding")
    if session.options.prune_baseline:
        baseline.prune(path, stale)
        console.note(f"{path}: removed {count} of code that has changed")
    else:
        console.note(f"{path}: contains {count} of code that has changed; see --prune-baseline")


def print_report(results: Sequence[Result], session: Session, stream: TextIO | None = None) -> None:
    """Print the findings, and how many others were fixed."""
    findings, fixed = _findings(results), _fixed(results, session)
    has_failed = any(result.failure for result in results)
    # "All checks passed!" would be wrong for a run in which a check failed.
    if findings or fixed or not (has_failed and is_for_people(session)):
        with output(session.options.output_file, stream) as out:
            _write_report(results, session, out)
    if session.options.add_ignore is not None:
        _report_ignored(results)
    elif fixed and not is_for_people(session):
        if session.options.show_fixes:
            _list_fixes(fixed, session)
        console.note(f"fixed {_in_files(results, fixed)}")


def _report_ignored(results: Sequence[Result]) -> None:
    """Say for how many findings a suppression was written, and for which none can be."""
    if ignored := _changed(results):
        console.note(f"ignored {_in_files(results, ignored)}")
    for result in results:
        left = [finding for finding in result.findings if is_ignorable(finding)]
        if left:
            # Elsewhere it is in a string, or before a line that continues a command.
            where = "at its place" if takes_comments(kind_of(result.path)) else "in this format"
            console.note(
                f"{os.path.relpath(result.path)}: no comment can ignore "
                f"{console.plural(len(left), 'finding')} {where}; "
                "use per-file-ignores or --write-baseline"
            )


def _in_files(results: Sequence[Result], changed: Sequence[Finding]) -> str:
    """How many findings were fixed or ignored, and in how many files."""
    files = console.plural(sum(bool(result.fixed) for result in results), "file")
    return f"{console.plural(len(changed), 'finding')} in {files}"


def _list_fixes(fixed: Sequence[Finding], session: Session) -> None:
    """Print the fixes by file and rule on standard error: standard output is for programs."""
    from precision_lint.report import write_fixes

    write_fixes(fixed, sys.stderr, color=_wants_color(sys.stderr, session), root=_root(session))


def _write_report(results: Sequence[Result], session: Session, out: TextIO) -> None:
    from precision_lint.report import write

    write(
        session.settings.output_format,
        _findings(results),
        _sources(results),
        out,
        color=_wants_color(out, session),
        root=_root(session),
        statistics=session.settings.statistics or session.options.group_by is not None,
        group_of=_group_of(session),
        most=None if session.options.all or session.options.output_file else MOST,
        fixed=_fixed(results, session),
        show_fixes=session.options.show_fixes,
    )


def _group_of(session: Session) -> Callable[[Path], str] | None:
    """What statistics count by, as a function of a file; None if they count by rule."""
    match session.options.group_by:
        case "folder":
            root = _root(session)
            return lambda path: Path(os.path.relpath(path.parent, root)).as_posix()
        case "owner":
            from precision_lint.project.owners import read_owners

            owners = read_owners(session.project.root)
            return lambda path: owners.of(path) or "(no owner)"
    return None


def _wants_color(out: TextIO, session: Session) -> bool:
    from precision_lint.report.terminal import wants_color

    return wants_color(out, os.environ, session.options.color)


def _root(session: Session) -> Path:
    """A person opens a path from the current folder, a program from the top of the project."""
    return Path.cwd() if is_for_people(session) else session.project.root


@contextmanager
def output(path: Path | None, stream: TextIO | None) -> Iterator[TextIO]:
    """Where a report goes: a file gets it completely or not at all.

    Raises:
        CannotRun: the file cannot be written.
    """
    if path is None:
        yield stream or sys.stdout
        return
    out = StringIO()
    yield out
    try:
        write(path, out.getvalue().encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise CannotRun(f"{path}: {error.strerror or error}") from error


def _findings(results: Sequence[Result]) -> list[Finding]:
    return [finding for result in results for finding in result.findings]


def _fixed(results: Sequence[Result], session: Session) -> list[Finding]:
    """The findings that were fixed; none if they were only ignored."""
    return [] if session.options.add_ignore is not None else _changed(results)


def _changed(results: Sequence[Result]) -> list[Finding]:
    """The findings that were fixed, or for which a suppression was written."""
    return [finding for result in results for finding in result.fixed]


def _sources(results: Sequence[Result]) -> dict[Path, SourceText]:
    return {result.path: result.text for result in results if result.text is not None}
