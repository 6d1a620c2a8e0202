"""A whole run: every file checked, and fixed if that is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.engine.check import Checked, check_bytes, check_unreadable, may_be_written
from precision_lint.engine.failures import internal_error, is_interrupt
from precision_lint.engine.job import Job, Result
from precision_lint.engine.parallel import ordered_map, uncollected
from precision_lint.model import trace
from precision_lint.project import disk
from precision_lint.project.contents import digest_of
from precision_lint.project.discovery import Kind, kind_of
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from precision_lint.engine.reuse import Reuse

_WORTH_A_POOL = 1_000_000
"""Bytes to read from which worker processes are faster than one."""

_LARGEST = 1 << 30
"""Bytes of a file of code; the tree of a larger one would not fit into memory."""

_LARGEST_CONFIG = 4 << 20
"""Bytes; whatever is larger and not code is data, and not even read."""

_CODE = frozenset[Kind]({"python", "notebook"})


def run(
    job: Job,
    paths: Sequence[Path],
    jobs: int = 1,
    advance: Callable[[], None] = lambda: None,
    cache_folder: Path | None = None,
    reported: Sequence[Path] | None = None,
) -> list[Result]:
    """Check every file, in order; `advance` is called once for each.

    A cache is used for runs that are long enough to gain from it. `reported` are all the files in
    which findings are reported, if other runs check the rest of them.

    Raises:
        WorkerDied: a worker process did not survive its file.
    """
    job = _reporting(job, paths if reported is None else reported)
    is_long = _is_worth_a_pool(paths)
    traced = replace(job, is_traced=True)
    reuse = _reuse(cache_folder, traced, paths, is_long) if cache_folder else None
    job = traced if reuse else job
    results: dict[Path, Result] = {}
    try:
        if reuse:
            trace.watch()
            results = {result.path: result for result in reuse.results(paths)}
            reuse.saw(trace.taken())
        todo = [path for path in paths if path not in results]
        for _ in results:
            advance()
        with (
            uncollected(),
            closing(ordered_map(partial(lint, job), todo, jobs if is_long else 1)) as linted,
        ):
            for result in linted:
                if reuse:
                    reuse.keep(result)
                # Thousands of questions for each file would take more memory than all the rest.
                results[result.path] = replace(result, trace=None, sights={}, records=[])
                advance()
        if reuse:
            reuse.saw(trace.taken())
            reuse.save()
    finally:
        trace.unwatch()
    # Written when all have been read: what a file says of another depends on no order.
    ordered = [results[path] for path in paths]
    return [_written(job, result) for result in ordered] if job.write else ordered


def _reporting(job: Job, paths: Sequence[Path]) -> Job:
    """The job for these files: nothing is reported in others."""
    return replace(job, project=job.project.reporting(paths))


def _reuse(folder: Path, job: Job, paths: Sequence[Path], is_long: bool) -> Reuse | None:
    from precision_lint.engine.reuse import Reuse

    return Reuse.open(folder, job, paths, is_long=is_long)


def lint(job: Job, path: Path) -> Result:
    """Check, and fix in memory, one file on disk."""
    kind = kind_of(path)
    assert kind is not None
    result = _traced(job, path, kind) if job.is_traced else _lint(job, path, kind)
    job.facts.free()
    return result


def _traced(job: Job, path: Path, kind: Kind) -> Result:
    """The same, with what was asked in the meantime."""
    if not trace.is_watching():  # a worker that was not forked
        trace.watch()
    with trace.collected() as asked:
        result = _lint(job, path, kind)
    asked.pop(("read", path), None)  # that is the file itself
    dependencies = tuple(map(job.facts.dependency, asked))
    sights = {
        question: answer
        for question, answer in trace.taken().items()
        if question[0] != "read" or question[1] not in job.own_files
    }
    return replace(result, trace=dependencies, sights=sights, records=job.facts.records.taken())


def _lint(job: Job, path: Path, kind: Kind) -> Result:
    try:
        if kind not in _CODE and path.stat().st_size > _LARGEST_CONFIG:
            return Result(path)
        content = disk.read(path, _LARGEST)
    except OSError as error:
        problem = error.strerror or str(error)
        checked = check_unreadable(path, problem, job.project.root, job.settings)
        return _result(path, checked)
    result = lint_bytes(job, path, content, kind, is_on_disk=True)
    return replace(result, digest=digest_of(content)) if job.is_traced else result


def lint_bytes(
    job: Job, path: Path, content: bytes, kind: Kind, *, is_on_disk: bool = False
) -> Result:
    """Check, and fix in memory, the bytes of a file that stands at `path`."""
    checked = Checked()
    project = job.facts.recording(path if is_on_disk else None)
    try:
        checked = check_bytes(path, content, kind, project, job.settings, named=path in job.named)
        text = checked.text
        if not checked.findings and not checked.notes:
            return Result(path, is_triggered=checked.is_triggered)
        if job.fix is None or text is None:
            return _result(path, checked)
        if not may_be_written(text, content, job.project.root, named=path in job.named):
            return _result(path, checked)
        from precision_lint.engine import fixing

        checked = _to_fix(job, kind, checked)
        fixed = fixing.fix(text, kind, checked, partial(_recheck, job, kind), job.fix)
    except Exception as error:  # one file must never take the others with it
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        return replace(_result(path, checked), failure=f"{path}: {internal_error(error)}")
    result = _result(path, fixed.left)
    if job.ignore is not None:  # what is left has no fix of this kind
        left = tuple(replace(finding, fix=None) for finding in result.findings)
        result = replace(result, findings=left)
    if fixed.text.text == text.text:
        return result
    return replace(result, fixed=fixed.applied, text=fixed.text, before=text)


def _written(job: Job, result: Result) -> Result:
    """The result once its fixes are on disk; that of the file as it was, if they cannot be."""
    if result.before is None or result.text is None:
        return result
    from precision_lint.engine import writing

    old = result.before.to_bytes()
    try:
        writing.write_atomically(result.path, old, result.text.to_bytes())
    except writing.NotWritten as problem:
        kind = kind_of(result.path)
        assert kind is not None
        untouched = lint_bytes(replace(job, fix=None), result.path, old, kind)
        return replace(untouched, failure=str(problem))
    return result


def _recheck(job: Job, kind: Kind, text: SourceText) -> Checked:
    checked = check_bytes(text.path, text.to_bytes(), kind, job.facts.recording(), job.settings)
    return _to_fix(job, kind, checked if checked.text is not None else replace(checked, text=text))


def _to_fix(job: Job, kind: Kind, checked: Checked) -> Checked:
    """The findings with the edits that are to be made."""
    if job.ignore is None or checked.text is None:
        return checked
    from precision_lint.engine.ignoring import with_ignores

    line_length = job.project.import_style(checked.text.path).line_length
    return with_ignores(checked, kind, job.ignore, line_length)


def _result(path: Path, checked: Checked) -> Result:
    text = checked.text if checked.findings else None
    return Result(
        path, checked.findings, checked.notes, text=text, is_triggered=checked.is_triggered
    )


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
