"""A whole run: every file checked, and fixed where that is asked for."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from precision_lint import fixing, writing
from precision_lint.check import Checked, check_bytes, check_named, unreadable
from precision_lint.discovery import Kind, kind_of
from precision_lint.finding import Applicability, Finding
from precision_lint.parallel import ordered_map
from precision_lint.project import Project
from precision_lint.settings import Settings
from precision_lint.source.text import SourceText

_WORTH_A_POOL = 1_000_000
"""Bytes to read from which worker processes are faster than one."""

_GC_THRESHOLD = 100_000
"""Syntax trees have no cycles: collecting as often as by default costs a seventh of the run."""


@dataclass(frozen=True)
class Job:
    """What is done with every file."""

    project: Project
    settings: Settings
    fix: Applicability | None = None
    write: bool = True
    named: frozenset[Path] = frozenset()
    """Files that were named on the command line: parsed even if their bytes hold no trigger."""


@dataclass(frozen=True)
class Result:
    """One file after the run: what is left, what was fixed, and the texts that reports show."""

    path: Path
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    fixed: tuple[Finding, ...] = ()
    text: SourceText | None = None
    before: SourceText | None = None
    """The text that was read, if fixes changed it."""
    failure: str | None = None
    """Why the tool could not do its job on this file."""


def run(
    job: Job, paths: Sequence[Path], jobs: int = 1, advance: Callable[[], None] = lambda: None
) -> list[Result]:
    """Check every file, in order; `advance` is called once for each."""
    gc.set_threshold(_GC_THRESHOLD)
    results = []
    jobs = jobs if _is_worth_a_pool(paths) else 1
    for result in ordered_map(partial(lint, job), paths, jobs):
        results.append(result)
        advance()
    return results


def lint(job: Job, path: Path) -> Result:
    """Check one file on disk and write its fixes."""
    kind = kind_of(path)
    assert kind is not None
    try:
        content = path.read_bytes()
    except OSError as error:
        finding = unreadable(path, error.strerror or str(error))
        return Result(path, (finding,) if job.settings.reports(finding) else ())
    result = lint_bytes(job, path, content, kind)
    if result.before is None or result.text is None or not job.write:
        return result
    try:
        writing.write_atomically(path, content, result.text.to_bytes())
    except writing.NotWritten as problem:
        untouched = lint_bytes(replace(job, fix=None), path, content, kind)
        return replace(untouched, failure=str(problem))
    return result


def lint_bytes(job: Job, path: Path, content: bytes, kind: Kind) -> Result:
    """Check, and fix in memory, the bytes of a file that stands at `path`."""
    try:
        checked = check_bytes(path, content, kind, job.project, job.settings)
        if checked.text is None and path in job.named:
            checked = check_named(path, content, kind, job.project, job.settings)
        if job.fix is None or checked.text is None or not checked.findings:
            return _result(path, checked)
        fixed = fixing.fix(checked.text, kind, checked, partial(_recheck, job, kind), job.fix)
    except Exception as error:  # one file must never take the others with it
        where = _innermost(error)
        return Result(path, failure=f"{path}: internal error at {where}: {error!r}")
    result = _result(path, fixed.left)
    if fixed.text.text == checked.text.text:
        return result
    return replace(result, fixed=fixed.applied, text=fixed.text, before=checked.text)


def _recheck(job: Job, kind: Kind, text: SourceText) -> Checked:
    checked = check_bytes(text.path, text.to_bytes(), kind, job.project, job.settings)
    return checked if checked.text is not None else replace(checked, text=text)


def _result(path: Path, checked: Checked) -> Result:
    text = checked.text if checked.findings else None
    return Result(path, checked.findings, checked.notes, text=text)


def _innermost(error: BaseException) -> str:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return "an unknown place"
    return f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"


def _is_worth_a_pool(paths: Iterable[Path]) -> bool:
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size
        except OSError:
            continue
        if total > _WORTH_A_POOL:
            return True
    return False
