"""The command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, NoReturn, TextIO

import click

from precision_lint import settings as configuration
from precision_lint.discovery import Excludes, files, kind_of
from precision_lint.finding import Applicability, Confidence, Finding, Severity
from precision_lint.formats import FORMATS
from precision_lint.parallel import WorkerDied
from precision_lint.project import Project
from precision_lint.run import Job, Result, innermost, lint_bytes, run
from precision_lint.settings import ConfigError, Settings
from precision_lint.source.text import SourceText
from precision_lint.version import __version__

OK, FINDINGS, FAILED, INTERRUPTED = 0, 1, 2, 130


class _DefaultGroup(click.Group):
    """`precision-lint src/` is `precision-lint check src/`; `--help` shows check's options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"-h", "--help", "-V", "--version"}
        if not args or (args[0] not in self.commands and args[0] not in own):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] [PATHS]...")
        self.format_help_text(ctx, formatter)
        check = self.commands["check"]
        check.format_options(click.Context(check, ctx, "check"), formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=_DefaultGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="precision-lint")
def cli() -> None:
    """Find mixed-precision mistakes in training code and configs, and repair them.

    PATHS are files or folders; none means the current folder.
    """


def _level(kind: type[Confidence] | type[Severity]) -> Any:
    return click.Choice([str(member) for member in kind], case_sensitive=False)


@cli.command(short_help="Check files; the default.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply unsafe fixes too (implies --fix).")
@click.option("--diff", is_flag=True, help="Print what --fix would do; write nothing.")
@click.option("--select", multiple=True, metavar="RULES", help="Only these codes, prefixes, names.")
@click.option("--extend-select", multiple=True, metavar="RULES", help="These as well.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these.")
@click.option("--min-confidence", type=_level(Confidence), help="[default: medium]")
@click.option("--min-severity", type=_level(Severity), help="[default: info]")
@click.option("--output-format", type=click.Choice(FORMATS), help="[default: full]")
@click.option("-o", "--output-file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--statistics", is_flag=True, help="Counts per rule instead of findings.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit 1 if anything was fixed.")
@click.option("--config", type=click.Path(path_type=Path), help="Configuration file.")
@click.option("--isolated", is_flag=True, help="Ignore configuration files.")
@click.option("--force-exclude", is_flag=True, help="Exclude files even if named themselves.")
@click.option("--markdown", is_flag=True, help="Read the fences of Markdown files, too.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Report what is not in here.")
@click.option("--write-baseline", type=click.Path(path_type=Path), help="Remember all findings.")
@click.option("--stdin-filename", metavar="PATH", help="The name of what is read from -.")
@click.option("--target", multiple=True, metavar="NAME=VERSION", help="Version of a library.")
@click.option("--target-torch", metavar="VERSION")
@click.option("--target-triton", metavar="VERSION")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes. [default: all cores]")
@click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")
@click.option("--cache-dir", type=click.Path(path_type=Path), help="Where the cache lies.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option("--show-settings", is_flag=True, help="Print the settings and their origin.")
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Check files, print findings, and fix them with --fix."""
    return _check(paths, options)


@cli.command(short_help="Explain a code, a name or a pasted error message.")
@click.argument("what", nargs=-1, required=True)
def explain(what: tuple[str, ...]) -> None:
    """Print the page of a rule, found by code, name or the text of an error message."""
    from precision_lint.explain import page_for, print_page

    page = page_for(" ".join(what))
    if page is None:
        message = f"no rule is called `{' '.join(what)}`, and no rule's page has such a message"
        raise CannotRun(message)
    print_page(page, sys.stdout)


@cli.command("explain-config", short_help="Explain who reads a configuration, and what it says.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
@click.option("--config", type=click.Path(path_type=Path), help="Configuration file.")
@click.option("--isolated", is_flag=True, help="Ignore configuration files.")
@click.option("--target", multiple=True, metavar="NAME=VERSION", help="Version of a library.")
def explain_config(paths: tuple[str, ...], **options: Any) -> None:
    """Print the effective precision of each run, where every value comes from, and what conflicts.

    PATHS are launch scripts, configuration files or folders; none means the current folder.
    """
    _explain_config(paths, options)


@cli.command(short_help="List the rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
def rules(output_format: str) -> None:
    """Print the catalogue of rules."""
    from precision_lint.explain import print_catalogue

    print_catalogue(output_format, sys.stdout)


@cli.command(short_help="Serve an editor on stdin and stdout.")
def server() -> None:
    """Speak the language server protocol on stdin and stdout."""
    try:
        from precision_lint.server import serve
    except ModuleNotFoundError as error:
        raise CannotRun(f'{error.name} is missing: pip install "precision-lint[server]"') from error
    serve()


class CannotRun(click.ClickException):
    """The tool cannot do its job."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.message}", err=True)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The `precision-lint` command."""
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command; whatever happens, there is an exit code and no traceback."""
    # A caller may have closed a stream.
    sys.stdout = sys.stdout or TextIOWrapper(BytesIO())
    sys.stderr = sys.stderr or TextIOWrapper(BytesIO())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names of files need not be text
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(arguments, prog_name="precision-lint", standalone_mode=False)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (ConfigError, WorkerDied) as error:
        CannotRun(str(error)).show()
        return FAILED
    except BrokenPipeError:
        # The reader has seen enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except OSError as error:
        CannotRun(str(error)).show()
        return FAILED
    except Exception as error:
        CannotRun(f"internal error at {innermost(error)}: {error!r}").show()
        return FAILED
    return code or OK


def _check(arguments: Sequence[str], options: dict[str, Any]) -> int:
    if "-" in arguments or (not arguments and options["stdin_filename"]):
        return _check_stdin(arguments, options)
    paths = _existing(arguments)
    settings, project = _context(configuration.common_folder(paths), options)
    if options["show_settings"]:
        _show_settings(settings, project)
        return OK
    found = files(
        paths,
        project.root,
        project.exclude,
        force_exclude=settings.force_exclude,
        markdown=settings.markdown,
        note=_note,
    )
    if options["show_files"]:
        for path in found:
            click.echo(path)
        return OK
    if not found:
        is_off = not settings.markdown and any(kind_of(path) == "markdown" for path in paths)
        where = "; Markdown is read with --markdown" if is_off else ""
        _note(f"nothing to check: no Python, notebook, YAML, JSON, TOML or shell file here{where}")
        return OK
    job = _job(project, settings, options, paths)
    from precision_lint.report.terminal import progress

    with progress(len(found), sys.stderr) as advance:
        results = run(job, found, settings.jobs or _cores(), advance, _cache_folder(settings))
    return _finish(results, job, options)


def _check_stdin(arguments: Sequence[str], options: dict[str, Any]) -> int:
    if len(arguments) > 1:
        raise CannotRun("`-` cannot stand beside other paths")
    path = Path(os.path.abspath(options["stdin_filename"] or "stdin.py"))
    settings, project = _context(path.parent, options)
    if options["show_settings"]:
        _show_settings(settings, project)
        return OK
    job = replace(_job(project, settings, options, [path]), write=False)
    content = sys.stdin.buffer.read()
    kind = kind_of(path, markdown=settings.markdown)
    is_excluded = settings.force_exclude and Excludes(project.root, project.exclude).match(path)
    if kind is None or is_excluded:
        why = "of no known kind" if kind_of(path) is None else "read only with --markdown"
        _note(f"nothing to check: {path.name} is {'excluded' if kind else why}")
        result = Result(path)
    else:
        result = lint_bytes(job, path, content, kind)
    if job.fix is None or options["diff"]:
        return _finish([result], job, options)
    fixed = result.text if result.before is not None else None
    sys.stdout.buffer.write(content if fixed is None else fixed.to_bytes())
    return _finish([result], job, options, sys.stderr)


def _explain_config(arguments: Sequence[str], options: dict[str, Any]) -> None:
    from precision_lint.explain_config import CannotExplain, explained_runs
    from precision_lint.report import write_runs
    from precision_lint.report.terminal import wants_color

    paths = _existing(arguments)
    settings, project = _context(configuration.common_folder(paths), options)
    named = [path for path in paths if not path.is_dir()]
    folders = [path for path in paths if path.is_dir()]
    below = files(folders, project.root, project.exclude, markdown=settings.markdown, note=_note)
    try:
        found = explained_runs(sorted({*named, *below}), project, named, _note)
    except CannotExplain as problem:
        raise CannotRun(str(problem)) from problem
    color = wants_color(sys.stdout, os.environ)
    write_runs(options["output_format"], found, sys.stdout, color=color, root=Path.cwd())


def _existing(arguments: Sequence[str]) -> list[Path]:
    """The paths that were asked for; the current folder if there are none."""
    paths = [Path(os.path.abspath(argument)) for argument in arguments or ["."]]
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise CannotRun("\n".join(f"{path}: no such file or folder" for path in missing))
    return paths


def _context(start: Path, options: dict[str, Any]) -> tuple[Settings, Project]:
    """The settings in force at a folder, and the project around it."""
    settings = Settings()
    if options["config"]:
        settings = configuration.load(options["config"])
    elif not options["isolated"]:
        path = configuration.find_config(start)
        settings = configuration.load(path) if path else settings
    changes: dict[str, Any] = {
        name: tuple(part.strip() for value in options[name] for part in value.split(","))
        for name in ("select", "extend_select", "ignore")
        if options.get(name)
    }
    if options.get("min_confidence"):
        changes["min_confidence"] = Confidence[options["min_confidence"].upper()]
    if options.get("min_severity"):
        changes["min_severity"] = Severity[options["min_severity"].upper()]
    changes |= {name: options[name] for name in _OVERRIDES if options.get(name)}
    changes["target"] = {**settings.target, **_targets(options)}
    settings = replace(settings, **changes)
    configuration.check_selectors(settings, "command line")
    root = configuration.project_root(start)
    return settings, Project(root, (*settings.exclude, *settings.extend_exclude), settings.target)


_OVERRIDES = (
    "fix",
    "unsafe_fixes",
    "output_format",
    "baseline",
    "statistics",
    "exit_zero",
    "exit_non_zero_on_fix",
    "force_exclude",
    "markdown",
    "jobs",
    "no_cache",
    "cache_dir",
)
"""Options that stand for a setting as they are."""


def _cache_folder(settings: Settings) -> Path | None:
    if settings.no_cache:
        return None
    if settings.cache_dir is not None:
        return settings.cache_dir
    from platformdirs import user_cache_path

    try:
        folder = user_cache_path("precision-lint")
    except RuntimeError:  # a user without a home; older releases return a relative path
        return None
    return folder if folder.is_absolute() else None


def _targets(options: dict[str, Any]) -> dict[str, str]:
    targets = {}
    for target in options["target"]:
        name, equals, version = target.partition("=")
        if not (name and equals):
            raise ConfigError(f"--target: `{target}` is not NAME=VERSION")
        targets[name] = configuration.check_version(name, version, "--target")
    for name in ("torch", "triton"):
        if (version := options.get(f"target_{name}")) is not None:
            targets[name] = configuration.check_version(name, version, f"--target-{name}")
    return targets


def _job(
    project: Project, settings: Settings, options: dict[str, Any], paths: Sequence[Path]
) -> Job:
    fix = None
    if settings.unsafe_fixes:
        fix = Applicability.UNSAFE
    elif settings.fix or options["diff"]:
        fix = Applicability.SAFE
    return Job(project, settings, fix, write=not options["diff"], named=frozenset(paths))


def _finish(
    results: list[Result], job: Job, options: dict[str, Any], stream: TextIO | None = None
) -> int:
    """Print what a run found, and say with which code to exit."""
    settings, project = job.settings, job.project
    for result in results:
        for note in result.notes:
            _note(note)
        if result.failure:
            CannotRun(result.failure).show()
    has_failed = any(result.failure for result in results)
    if options["diff"]:
        from precision_lint.report.patch import write_patch

        changed = [result for result in results if result.before is not None]
        for result in changed:
            assert result.before is not None
            assert result.text is not None
            write_patch(result.before, result.text, project.root, sys.stdout.buffer)
        return FAILED if has_failed else FINDINGS if changed and not settings.exit_zero else OK

    findings = [finding for result in results for finding in result.findings]
    sources = {result.path: result.text for result in results if result.text is not None}
    if options["write_baseline"]:
        from precision_lint import baseline

        baseline.write(options["write_baseline"], findings, sources, project.root)
        _note(f"{options['write_baseline']}: holds {_plural(len(findings), 'finding')} now")
        return FAILED if has_failed else OK
    if settings.baseline is not None:
        from precision_lint import baseline

        findings = baseline.subtract(settings.baseline, findings, sources, project.root)
    # "All checks passed!" is not for a run in which a check failed.
    is_for_people = settings.output_format in {"full", "concise"}
    if findings or not (has_failed and is_for_people):
        with _output(options, stream) as out:
            _report(findings, sources, job, out)
    fixed = sum(len(result.fixed) for result in results)
    if fixed:
        touched = sum(bool(result.fixed) for result in results)
        _note(f"fixed {_plural(fixed, 'finding')} in {_plural(touched, 'file')}")
    if has_failed:
        return FAILED
    if settings.exit_zero:
        return OK
    return FINDINGS if findings or (fixed and settings.exit_non_zero_on_fix) else OK


def _report(
    findings: list[Finding], sources: dict[Path, SourceText], job: Job, out: TextIO
) -> None:
    from precision_lint.report import write
    from precision_lint.report.terminal import wants_color

    format = job.settings.output_format
    write(
        format,
        findings,
        sources,
        out,
        color=wants_color(out, os.environ),
        # A person opens a path from where they are, a program from the top of the project.
        root=Path.cwd() if format in {"full", "concise"} else job.project.root,
        statistics=job.settings.statistics,
    )


@contextmanager
def _output(options: dict[str, Any], stream: TextIO | None) -> Iterator[TextIO]:
    path = options["output_file"]
    if path is None:
        yield stream or sys.stdout
        return
    with path.open("w", encoding="utf-8", errors="backslashreplace") as out:
        yield out


def _show_settings(settings: Settings, project: Project) -> None:
    click.echo(f"project root: {project.root}")
    click.echo(f"configuration: {settings.config_file or 'none'}")
    for key, value in vars(settings).items():
        if key != "config_file":
            shown = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            click.echo(f"{key.replace('_', '-')}: {shown}")
    click.echo(f"rules: {', '.join(sorted(settings.selected()))}")


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _note(message: str) -> None:
    click.echo(f"note: {message}", err=True)
