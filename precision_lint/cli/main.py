"""The command line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from precision_lint.cli import console
from precision_lint.cli.outcome import FAILED, FINDINGS, INTERRUPTED, OK, finish, is_for_people
from precision_lint.cli.scan_options import scan_options
from precision_lint.engine.failures import internal_error, is_interrupt
from precision_lint.engine.job import Result
from precision_lint.engine.options import Options
from precision_lint.engine.parallel import WorkerDied
from precision_lint.engine.run import lint_bytes, run
from precision_lint.engine.session import Session
from precision_lint.engine.settings import ConfigError
from precision_lint.engine.shard import Shard
from precision_lint.model.finding import Confidence, Severity
from precision_lint.model.formats import FORMATS
from precision_lint.model.version import __version__
from precision_lint.project.discovery import Excludes, kind_of

if TYPE_CHECKING:
    from precision_lint.engine.explain_config import Explanation

_Level = TypeVar("_Level", Confidence, Severity)
_Command = TypeVar("_Command", bound=Callable[..., Any])


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


def _level(kind: type[_Level], default: _Level, help: str) -> Callable[[_Command], _Command]:
    """An option that takes a member of an enumeration by its name."""
    name = f"--min-{kind.__name__.lower()}"
    return click.option(
        name,
        type=click.Choice([str(member) for member in kind], case_sensitive=False),
        callback=lambda _, __, value: value and kind[value.upper()],
        help=f"{help} [default: {default}]",
    )


def _selectors(name: str, help: str) -> Callable[[_Command], _Command]:
    """An option that takes codes, prefixes and names: with commas, or several times."""
    return click.option(
        name,
        multiple=True,
        metavar="RULES",
        callback=lambda _, __, values: tuple(
            part.strip() for value in values for part in value.split(",")
        ),
        help=help,
    )


def _shard(text: str) -> Shard:
    try:
        return Shard.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_preview = click.option("--preview", is_flag=True, help="Also run preview rules.")
_path = click.Path(path_type=Path)
_config = click.option("--config", type=_path, help="Use this configuration file.")
_isolated = click.option("--isolated", is_flag=True, help="Ignore configuration files.")
_target = click.option(
    "--target", multiple=True, metavar="NAME=VERSION", help="Version of a library."
)
_jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="Number of processes. [default: one per core]",
)
_target_gpu = click.option("--target-gpu", metavar="NAME", help="The GPU of the runs, such as T4.")
_target_torch = click.option("--target-torch", metavar="VERSION", help="Version of torch.")
_target_triton = click.option("--target-triton", metavar="VERSION", help="Version of triton.")
_no_cache = click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")
_cache_dir = click.option("--cache-dir", type=_path, help="Cache directory.")
_color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use color. [default: auto]",
)
_output_file = click.option(
    "-o",
    "--output-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report to a file.",
)


@cli.command(short_help="Check files; the default.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="Also apply unsafe fixes (implies --fix).")
@click.option("--diff", is_flag=True, help="Print what --fix would change; write nothing.")
@click.option("--add-ignore", metavar="REASON", help="Write a suppression for every finding.")
@click.option("--show-fixes", is_flag=True, help="List what was fixed, by file and rule.")
@_selectors("--select", "Enable only these rules: codes, prefixes or names.")
@_selectors("--extend-select", "Enable additional rules.")
@_selectors("--ignore", "Disable rules.")
@_preview
@_level(Confidence, Confidence.MEDIUM, "Hide less certain findings.")
@_level(Severity, Severity.INFO, "Hide less severe findings.")
@click.option("--output-format", type=click.Choice(FORMATS), help="[default: full]")
@click.option("--all", is_flag=True, help="Show every finding of a rule that has many.")
@_output_file
@click.option("--statistics", is_flag=True, help="Print counts per rule instead of findings.")
@click.option(
    "--group-by",
    type=click.Choice(["rule", "folder", "owner"]),
    help="Print counts per rule, folder or code owner.",
)
@_color
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if anything was fixed.")
@_config
@_isolated
@click.option("--force-exclude", is_flag=True, help="Exclude files even if named explicitly.")
@click.option("--markdown", is_flag=True, help="Also check the code fences of Markdown files.")
@click.option("--baseline", type=_path, help="Report only findings not in this baseline.")
@click.option("--write-baseline", type=_path, help="Write all findings to a baseline.")
@click.option(
    "--prune-baseline", is_flag=True, help="Remove what no longer occurs from the baseline."
)
@click.option("--since", metavar="REV", help="Report only findings on lines changed since then.")
@click.option("--stdin-filename", metavar="PATH", help="File name for standard input (-).")
@_target
@_target_torch
@_target_triton
@_target_gpu
@_jobs
@_no_cache
@_cache_dir
@click.option("--watch", is_flag=True, help="Check again after every change, until interrupted.")
@click.option(
    "--shard",
    metavar="I/N",
    callback=lambda _, __, value: value and _shard(value),
    help="Check share I of N shares of the files; see `merge`.",
)
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option(
    "--show-settings", is_flag=True, help="Print the settings in force and the configuration file."
)
def check(paths: tuple[str, ...], **values: Any) -> int:
    """Check files, print findings, and fix them with --fix."""
    from precision_lint.engine.revisions import NoRevision

    options = Options(**values)
    try:
        return _check(paths, options)
    except NoRevision as problem:
        raise CannotRun(f"--since {options.since}: {problem}") from None


@cli.command(short_help="Explain a code, a name or a pasted error message.")
@click.argument("what", nargs=-1, required=True, metavar="CODE|NAME|MESSAGE...")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
def explain(what: tuple[str, ...], output_format: str) -> None:
    """Print the pages of rules and pitfalls.

    They are found by code, name, family (MP2) or pitfall (A01), or by the text of an error message;
    `-` reads the message from standard input: `python train.py 2>&1 | precision-lint explain -`.
    """
    from precision_lint.cli.explain import NoPage, explained, print_page, render, render_json

    text = sys.stdin.buffer.read().decode("utf-8", "replace") if what == ("-",) else None
    try:
        found = explained(() if text is not None else what, text)
    except NoPage as problem:
        raise CannotRun(str(problem)) from None
    if output_format == "json":
        sys.stdout.write(render_json(found))
    else:
        print_page(render(found), sys.stdout)


@cli.command("explain-config", short_help="Show the effective precision of a run.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--diff",
    "compared",
    nargs=2,
    metavar="OLD NEW",
    help="Show what changed in the runs: between two files, or two revisions of git.",
)
@click.option("--output-format", type=click.Choice(["text", "markdown", "json"]), default="text")
@_config
@_isolated
@_target
@_target_gpu
def explain_config(
    paths: tuple[str, ...],
    compared: tuple[str, str] | None,
    output_format: str,
    config: Path | None,
    isolated: bool,
    target: tuple[str, ...],
    target_gpu: str | None,
) -> None:
    """Print the effective precision of each run, the origin of every value, and conflicts.

    PATHS are launch scripts, configuration files or folders; none means the current folder.
    """
    options = Options(config=config, isolated=isolated, target=target, target_gpu=target_gpu)
    if compared:
        _compare_configs(compared, paths, options, output_format)
    elif output_format == "markdown":
        raise CannotRun("--output-format markdown goes with --diff")
    else:
        _explain_config(Session.open(_existing(paths), options), output_format)


@cli.command(short_help="Show what breaks in each precision of the runs.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--output-format",
    type=click.Choice(["text", "markdown", "json", "html"]),
    default="text",
    help="[default: text]",
)
@_output_file
@_selectors("--select", "Enable only these rules: codes, prefixes or names.")
@_selectors("--extend-select", "Enable additional rules.")
@_selectors("--ignore", "Disable rules.")
@_preview
@_level(Confidence, Confidence.MEDIUM, "Hide less certain findings.")
@_level(Severity, Severity.INFO, "Hide less severe findings.")
@_config
@_isolated
@_target
@_target_torch
@_target_triton
@_target_gpu
@_jobs
@_no_cache
@_cache_dir
@_color
def matrix(paths: tuple[str, ...], output_format: str, **values: Any) -> int:
    """Show which precisions the runs of a project offer, and what breaks in each.

    The rows are the programs that can be started and the commands that start them, the columns are
    fp32, tf32, fp16, bf16 and fp8. PATHS are files or folders; none means the current folder.
    """
    from precision_lint.cli.matrix import show

    return show(Session.open(_existing(paths), Options(**values)), output_format)


@cli.command(short_help="List the rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
def rules(output_format: str) -> None:
    """Print the catalogue of rules."""
    from precision_lint.cli.explain import print_catalogue

    print_catalogue(output_format, sys.stdout)


@cli.command(short_help="Make one report of several.")
@click.argument("reports", nargs=-1, required=True, type=_path)
@_output_file
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
def merge(reports: tuple[Path, ...], output_file: Path | None, exit_zero: bool) -> int:
    """Make one report of those that shards of a run wrote, in JSON or SARIF.

    It is the one that a single run would have written, and so is the exit code.
    """
    from precision_lint.cli.outcome import output
    from precision_lint.report.merge import NotMergeable, merged

    try:
        text, count = merged({str(path): path.read_text("utf-8") for path in reports})
    except (NotMergeable, UnicodeError) as problem:
        raise CannotRun(str(problem)) from problem
    with output(output_file, None) as out:
        out.write(text)
    return FINDINGS if count and not exit_zero else OK


@cli.command(short_help="Copy helpers that fixes import into the project.")
@click.argument("helpers", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write. [default: that of `fix.helper-module` in the configuration]",
)
@_config
@_isolated
def vendor(
    helpers: tuple[str, ...], output: Path | None, config: Path | None, isolated: bool
) -> None:
    """Write helpers such as to_numpy to a file of the project, which then needs no new dependency.

    Fixes import from there if the configuration names it as `fix.helper-module`.
    """
    from precision_lint.cli.vendor import CannotVendor
    from precision_lint.cli.vendor import vendor as write_helpers
    from precision_lint.engine.writing import NotWritten

    session = Session.open([Path.cwd()], Options(config=config, isolated=isolated))
    try:
        write_helpers(helpers, output, session)
    except (CannotVendor, NotWritten) as problem:
        raise CannotRun(str(problem)) from problem


@cli.command(short_help="Check many repositories, with Ray.")
@scan_options
@_selectors("--select", "Enable only these rules: codes, prefixes or names.")
@_selectors("--extend-select", "Enable additional rules.")
@_selectors("--ignore", "Disable rules.")
@_preview
@_level(Confidence, Confidence.MEDIUM, "Hide less certain findings.")
@_level(Severity, Severity.INFO, "Hide less severe findings.")
@click.option("--config", type=_path, help="Use this configuration file; no other one counts.")
@_target
@_target_torch
@_target_triton
@_target_gpu
def scan(inputs: tuple[str, ...], repositories: Path | None, **values: Any) -> None:
    """Check many repositories, each by itself, and write the findings to Parquet files.

    PARQUET are files, folders of them or URIs, with a row for each file of a repository and the
    columns repo, path, content and, if there is one, commit. The rows of a repository may be
    anywhere.

    FOLDER gets two tables, findings/*.parquet and repositories/*.parquet. A scan that was stopped
    goes on where it was. What is wrong with one repository is written to its row of the second
    table, and does not end the scan.

    This needs Ray: pip install "precision-lint[scan]".
    """
    if not inputs and repositories is None:
        raise click.UsageError("name Parquet files, or a list with --repositories")
    try:
        from precision_lint.cli.scan import PROBLEMS, Request
        from precision_lint.cli.scan import scan as scan_all
    except ModuleNotFoundError as error:
        raise CannotRun(f'{error.name} is missing: pip install "precision-lint[scan]"') from error
    request, others = Request.of(inputs, repositories, values)
    settings = Session.open([Path.cwd()], Options(isolated=True, **others)).settings
    gc.enable()
    try:
        scan_all(request, settings)
    except PROBLEMS as problem:
        raise CannotRun(str(problem)) from problem


@cli.command(short_help="Run the language server.")
def server() -> None:
    """Run the language server, for an editor, on stdin and stdout."""
    try:
        from precision_lint.cli.server import serve
    except ModuleNotFoundError as error:
        raise CannotRun(f'{error.name} is missing: pip install "precision-lint[server]"') from error
    gc.enable()
    serve()


class CannotRun(click.ClickException):
    """The tool cannot do its job."""

    exit_code = FAILED


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The `precision-lint` command."""
    if arguments is not None:
        sys.exit(_run(arguments))
    # The process ends soon: looking for garbage among millions of nodes would be all for nothing.
    gc.disable()
    code = _run(None)
    gc.freeze()
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command; whatever happens, there is an exit code and no traceback."""
    # The caller may have closed a stream.
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
        console.usage_error(error)
        return error.exit_code
    except (ConfigError, WorkerDied) as error:
        console.error(str(error))
        return FAILED
    except BrokenPipeError:
        # The reader has seen enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except OSError as error:
        console.error(str(error))
        return FAILED
    except Exception as error:
        if is_interrupt(error):
            return INTERRUPTED
        console.error(internal_error(error))
        return FAILED
    return code or OK


def _check(arguments: Sequence[str], options: Options) -> int:
    if "-" in arguments or (not arguments and options.stdin_filename):
        return _check_stdin(arguments, options)
    if options.watch:
        _watch(arguments, options)
    session = _opened(_existing(arguments), options)
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
        session = _opened(_existing(arguments), options)
        is_writing = session.job().fix is not None or options.write_baseline or options.output_file
        if is_writing or options.prune_baseline or not is_for_people(session):
            raise CannotRun("--watch reports to people, and writes no file")
        return session

    gc.enable()
    watch(opened, lambda session: _results(session.files(console.note), session))


def _opened(paths: Sequence[Path], options: Options) -> Session:
    """The session of a check; a note for what is selected and cannot run."""
    session = Session.open(paths, options)
    if options.since and session.job().fix is not None:
        raise CannotRun("--since chooses what is reported: fixes are made without it")
    for selector in session.settings.without_preview():
        console.note(f"`{selector}` is in preview and runs only with --preview")
    return session


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


def _explain_config(session: Session, output_format: str) -> None:
    from precision_lint.report import write_runs
    from precision_lint.report.terminal import wants_color

    found = _explanation(session)
    color = wants_color(sys.stdout, os.environ)
    write_runs(output_format, found, sys.stdout, color=color, root=Path.cwd())


def _compare_configs(
    compared: tuple[str, str], paths: Sequence[str], options: Options, output_format: str
) -> None:
    from precision_lint.engine.compare_configs import changes
    from precision_lint.engine.revisions import NoRevision, folder_of
    from precision_lint.report import write_changes
    from precision_lint.report.terminal import wants_color

    color = wants_color(sys.stdout, os.environ)
    old, new = compared
    if os.path.isfile(old) and os.path.isfile(new):
        files = [_explanation(Session.open(_existing([one]), options)) for one in compared]
        found = list(changes(files[0], files[1], None))
        write_changes(output_format, found, sys.stdout, color=color, root=Path.cwd())
        return
    root = Session.open(_existing(paths), options).project.root
    inside = [path.relative_to(root) for path in _existing(paths)]
    try:
        with folder_of(old, root) as before, folder_of(new, root) as after:
            trees = [
                [path for one in inside if (path := tree / one).exists()]
                for tree in (before, after)
            ]
            explained = [_explanation(Session.open(tree, options)) for tree in trees if tree]
            if len(explained) < len(trees):
                raise CannotRun("the paths are not in both revisions")
            found = list(changes(explained[0], explained[1], (before, after)))
            write_changes(output_format, found, sys.stdout, color=color, root=after)
    except NoRevision as problem:
        message = f"{old} and {new} are neither two files nor two revisions: {problem}"
        raise CannotRun(message) from None


def _explanation(session: Session) -> Explanation:
    from precision_lint.engine.explain_config import CannotExplain, explained_runs

    named = [path for path in session.paths if not path.is_dir()]
    files = sorted({*named, *session.project_files(console.note)})
    try:
        least = session.settings.min_confidence
        return explained_runs(files, session.project, named, console.note, least)
    except CannotExplain as problem:
        raise CannotRun(str(problem)) from problem


def _existing(arguments: Sequence[str]) -> list[Path]:
    """The paths that were given; the current folder if there are none."""
    paths = [Path(os.path.abspath(argument)) for argument in arguments or ["."]]
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        hints = {paths[0]: _like_command(arguments[0])} if arguments else {}
        *others, last = [f"{path}: no such file or folder{hints.get(path, '')}" for path in missing]
        for message in others:
            console.error(message)
        raise CannotRun(last)
    return paths


def _like_command(argument: str) -> str:
    """A suggestion if the first argument is no path, and almost the name of a command."""
    from difflib import get_close_matches

    close = [] if os.path.exists(argument) else get_close_matches(argument, cli.commands, 1)
    return f"; did you mean `precision-lint {close[0]}`?" if close else ""


def _show_settings(session: Session) -> None:
    settings = session.settings
    console.say(f"project root: {session.project.root}")
    console.say(f"configuration: {settings.config_file or 'none'}")
    for key, value in vars(settings).items():
        if key != "config_file":
            shown = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            console.say(f"{key.replace('_', '-')}: {shown}")
    console.say(f"rules: {', '.join(sorted(settings.selected()))}")
