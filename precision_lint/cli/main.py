"""The command line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import click

from precision_lint.cli import console
from precision_lint.cli import shared_options as shared
from precision_lint.cli.outcome import FAILED, FINDINGS, INTERRUPTED, OK, CannotRun
from precision_lint.cli.paths import existing
from precision_lint.cli.scan_options import scan_options
from precision_lint.engine.failures import internal_error, is_interrupt
from precision_lint.engine.options import Options
from precision_lint.engine.parallel import WorkerDied
from precision_lint.engine.session import Session
from precision_lint.engine.settings import ConfigError
from precision_lint.model.formats import FORMATS
from precision_lint.model.version import __version__


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


@cli.command(short_help="Check files; the default.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="Also apply unsafe fixes (implies --fix).")
@click.option("--diff", is_flag=True, help="Print what --fix would change; write nothing.")
@click.option("--add-ignore", metavar="REASON", help="Suppress every finding, with a reason.")
@click.option("--show-fixes", is_flag=True, help="List what was fixed, by file and rule.")
@shared.selection
@click.option("--output-format", type=click.Choice(FORMATS), help="[default: full]")
@click.option("--all", is_flag=True, help="Show every finding of a rule that has many.")
@shared.output_file
@click.option("--statistics", is_flag=True, help="Print counts per rule instead of findings.")
@click.option(
    "--group-by",
    type=click.Choice(["rule", "folder", "owner"]),
    help="Print counts per rule, folder or code owner.",
)
@shared.color
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if anything was fixed.")
@shared.config
@shared.isolated
@click.option("--force-exclude", is_flag=True, help="Exclude files even if named explicitly.")
@click.option("--markdown", is_flag=True, help="Also check the code fences of Markdown files.")
@click.option("--baseline", type=shared.PATH, help="Report only findings not in this baseline.")
@click.option("--write-baseline", type=shared.PATH, help="Write all findings to a baseline.")
@click.option(
    "--prune-baseline", is_flag=True, help="Remove from the baseline what no longer occurs."
)
@click.option("--since", metavar="REV", help="Report only findings on lines changed since REV.")
@click.option("--stdin-filename", metavar="PATH", help="File name for standard input (-).")
@shared.targets
@shared.work
@click.option("--watch", is_flag=True, help="Check again after every change, until interrupted.")
@click.option(
    "--shard",
    metavar="I/N",
    callback=lambda _, __, value: value and shared.shard(value),
    help="Check only part I of N of the files; see `merge`.",
)
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option(
    "--show-settings", is_flag=True, help="Print the settings in force and the configuration file."
)
def check(paths: tuple[str, ...], **values: Any) -> int:
    """Check files, print findings, and fix them with --fix."""
    from precision_lint.cli.check import check as run_check

    return run_check(paths, Options(**values))


@cli.command(short_help="Explain a code, a name or a pasted error message.")
@click.argument("what", nargs=-1, required=True, metavar="CODE|NAME|MESSAGE...")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
def explain(what: tuple[str, ...], output_format: str) -> None:
    """Print the pages of rules and pitfalls.

    They are found by code, name, family (MP2, A) or pitfall (A01), or by the text of an error
    message; `-` reads the message from standard input: `python train.py 2>&1 | precision-lint
    explain -`.
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
@shared.config
@shared.isolated
@shared.target
@shared.target_gpu
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
    from precision_lint.cli.explain_config import compare, show

    options = Options(config=config, isolated=isolated, target=target, target_gpu=target_gpu)
    if compared:
        compare(compared, paths, options, output_format)
    else:
        show(Session.open(existing(paths), options), output_format)


@cli.command(short_help="Show what breaks in each precision of the runs.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--output-format",
    type=click.Choice(["text", "markdown", "json", "html"]),
    default="text",
    help="[default: text]",
)
@shared.output_file
@shared.selection
@shared.config
@shared.isolated
@shared.targets
@shared.work
@shared.color
def matrix(paths: tuple[str, ...], output_format: str, **values: Any) -> int:
    """Show which precisions the runs of a project offer, and what breaks in each.

    The rows are the programs that can be started and the commands that start them, the columns are
    fp32, tf32, fp16, bf16 and fp8. PATHS are files or folders; none means the current folder.
    """
    from precision_lint.cli.matrix import show

    return show(Session.open(existing(paths), Options(**values)), output_format)


@cli.command(short_help="List the rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
def rules(output_format: str) -> None:
    """Print the catalogue of rules."""
    from precision_lint.cli.explain import print_catalogue

    print_catalogue(output_format, sys.stdout)


@cli.command(short_help="Make one report of several.")
@click.argument("reports", nargs=-1, required=True, type=shared.PATH)
@shared.output_file
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
@shared.config
@shared.isolated
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
@shared.selection
@click.option(
    "--config", type=shared.PATH, help="Use this configuration file; no other one counts."
)
@shared.targets
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
    serve()


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
