"""`precision-lint check`: files, standard input, and what `--watch` repeats."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from precision_lint.cli import console
from precision_lint.cli.outcome import OK, CannotRun, finish, is_for_people
from precision_lint.cli.paths import existing
from precision_lint.engine.job import Result
from precision_lint.engine.options import Options
from precision_lint.engine.run import lint_bytes, run
from precision_lint.engine.session import Session
from precision_lint.project.discovery import Excludes, kind_of


def check(arguments: Sequence[str], options: Options) -> int:
    """Check files, or standard input; return the exit code.

    Raises:
        CannotRun: The arguments do not go together, or a path does not exist.
    """
    if "-" in arguments or (not arguments and options.stdin_filename):
        return _check_stdin(arguments, options)
    if options.watch:
        _watch(arguments, options)
    session = _opened(existing(arguments), options)
    if options.show_settings:
        _show_settings(session)
        return OK
    found = session.files(console.note)
    if options.show_files:
        for path in found:
            console.say(str(path))
        return OK
    if not found:
        is_off = not session.settings.markdown and any(map(_is_markdown, session.paths))
        hint = "; use --markdown to check Markdown" if is_off else ""
        console.note(
            f"nothing to check: no Python, notebook, YAML, JSON, TOML or shell file here{hint}"
        )
        return OK if is_for_people(session) else finish([], session)
    return finish(_results(found, session), session)


def _results(found: Sequence[Path], session: Session) -> list[Result]:
    """What is found in some files, or in the share of them that this run checks."""
    from precision_lint.report.terminal import progress

    shard = session.options.shard
    shared = found if shard is None else shard.of(found)
    with progress(len(shared), sys.stderr) as advance:
        return run(
            session.job(), shared, session.jobs, advance, session.cache_folder, reported=found
        )


def _watch(arguments: Sequence[str], options: Options) -> NoReturn:
    """Report what is found, and then what changes, until somebody interrupts it."""
    from precision_lint.cli.watch import watch

    def opened() -> Session:
        session = _opened(existing(arguments), options)
        is_writing = session.job().fix is not None or options.write_baseline or options.output_file
        if is_writing or options.prune_baseline or not is_for_people(session):
            raise CannotRun(
                "--watch cannot be combined with options that write files, "
                "or with formats for programs"
            )
        return session

    gc.enable()
    watch(opened, lambda session: _results(session.files(console.note), session))


def _opened(paths: Sequence[Path], options: Options) -> Session:
    """The session of a check; a note for what is selected and cannot run."""
    session = Session.open(paths, options)
    if why := _conflict(session):
        raise CannotRun(why)
    for selector in session.settings.without_preview():
        console.note(f"`{selector}` is in preview and runs only with --preview")
    return session


def _conflict(session: Session) -> str | None:
    """Why options do not go together; None if they do."""
    options = session.options
    if options.since and session.job().fix is not None:
        return "--since only chooses what is reported: it cannot be combined with fixes"
    if options.add_ignore is not None and (options.fix or options.unsafe_fixes):
        return "--add-ignore cannot be combined with --fix: fix first, then ignore what is left"
    if options.diff and (options.write_baseline or options.prune_baseline):
        return "--diff writes nothing: it cannot be combined with writing or pruning a baseline"
    if options.prune_baseline and session.settings.baseline is None:
        return "--prune-baseline needs --baseline: the file to remove findings from"
    return None


def _check_stdin(arguments: Sequence[str], options: Options) -> int:
    if len(arguments) > 1:
        raise CannotRun("`-` cannot be combined with other paths")
    path = Path(os.path.abspath(options.stdin_filename or "stdin.py"))
    session = _opened([path], options)
    if options.show_settings:
        _show_settings(session)
        return OK
    job = replace(session.job(), write=False)
    content = sys.stdin.buffer.read()
    if why := _why_not_checked(path, session):
        console.note(f"nothing to check: {path.name} {why}")
        result = Result(path)
    else:
        kind = kind_of(path)
        assert kind is not None
        result = lint_bytes(job, path, content, kind)
    if job.fix is None or options.diff:
        return finish([result], session)
    fixed = result.text if result.before is not None else None
    sys.stdout.buffer.write(content if fixed is None else fixed.to_bytes())
    return finish([result], session, sys.stderr)


def _why_not_checked(path: Path, session: Session) -> str | None:
    """Why a file is not checked although it is named; None if it is."""
    if kind_of(path) is None:
        return "is not of a known kind"
    if not session.settings.markdown and _is_markdown(path):
        return "is only read with --markdown"
    project = session.project
    if session.settings.force_exclude and Excludes(project.root, project.exclude).match(path):
        return "is excluded"
    return None


def _is_markdown(path: Path) -> bool:
    return kind_of(path) == "markdown"


def _show_settings(session: Session) -> None:
    settings = session.settings
    console.say(f"project root: {session.project.root}")
    console.say(f"configuration: {settings.config_file or 'none'}")
    for key, value in vars(settings).items():
        if key != "config_file":
            shown = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            console.say(f"{key.replace('_', '-')}: {shown}")
    console.say(f"rules: {', '.join(sorted(settings.selected()))}")
