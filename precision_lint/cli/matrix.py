"""The command `matrix`: the rows, the findings of all that they reach, and the report."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from precision_lint.cli import console
from precision_lint.cli.outcome import FAILED, OK, output, without_baseline
from precision_lint.engine.matrix import matrix, reached
from precision_lint.engine.matrix_rows import candidates
from precision_lint.engine.run import run
from precision_lint.engine.session import Session
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.project.discovery import kind_of
from precision_lint.report import write_matrix
from precision_lint.report.terminal import progress, wants_color


def show(session: Session, output_format: str) -> int:
    """Write the matrix of a session; the exit code says whether it could be done."""
    named = [path for path in session.paths if not path.is_dir() and kind_of(path) is not None]
    files = sorted({*named, *session.files(console.note)})
    facts = ProjectFacts(session.project).recording()
    rows = candidates(files, named, facts, session.settings.min_confidence)
    checked = sorted({*files, *reached(rows, facts)})
    job = replace(session.job(), fix=None, write=False)
    with progress(len(checked), sys.stderr) as advance:
        results = run(job, checked, session.jobs, advance, session.cache_folder)
    for result in results:
        for note in result.notes:
            console.note(note)
        if result.failure:
            console.error(result.failure)
    left = without_baseline(results, session.project.root, session.settings.baseline)
    found = matrix(rows, facts, (one for result in left for one in result.findings))
    if found.silent:
        count = console.plural(found.silent, "run")
        console.note(f"not shown, without any precision: {count}")
    with output(session.options.output_file, None) as out:
        color = wants_color(out, os.environ, session.options.color)
        write_matrix(output_format, found, out, color=color, root=Path.cwd())
    return FAILED if any(result.failure for result in results) else OK
