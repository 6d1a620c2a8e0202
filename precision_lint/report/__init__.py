"""Reports of findings in the requested format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from precision_lint.model.finding import Finding
from precision_lint.report.ink import Ink
from precision_lint.report.model import Report
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from precision_lint.engine.compare_configs import ChangedRun
    from precision_lint.engine.explained import Explanation
    from precision_lint.engine.matrix import Matrix

_COUNTED = {
    "full": "render",
    "concise": "render",
    "json": "render_json",
    "json-lines": "render_json_lines",
}


def write(
    format: str,
    findings: Sequence[Finding],
    sources: Mapping[Path, SourceText],
    out: TextIO,
    *,
    color: bool,
    root: Path,
    statistics: bool = False,
    group_of: Callable[[Path], str] | None = None,
    most: int | None = None,
    fixed: Sequence[Finding] = (),
    show_fixes: bool = False,
) -> None:
    """Write sorted `findings` to `out`; a file without text in `sources` is shown without a frame.

    The formats for people also count the `fixed` findings, and list them with `show_fixes`.

    With `statistics` the formats for people and the JSON formats give counts per rule, or per group
    of files, instead of the findings; the exchange formats do not support counts and ignore it. The
    default format shows at most `most` findings of each rule.
    """
    ink = Ink(color, getattr(out, "encoding", None) or "utf-8")
    top = Path(os.path.abspath(root))
    report = Report(findings, sources, top, ink, most, tuple(fixed), show_fixes, group_of)
    # `json` is the name of a module of the standard library.
    module = "json_report" if format == "json" else format.replace("-", "_")
    function = "render"
    if statistics and format in _COUNTED:
        module, function = "grouped" if group_of else "statistics", _COUNTED[format]
    render = getattr(import_module(f"{__name__}.{module}"), function)
    out.writelines(render(report))


def write_fixes(fixed: Sequence[Finding], out: TextIO, *, color: bool, root: Path) -> None:
    """Write the number of fixes by file and rule to `out`."""
    from precision_lint.report.concise import fixes

    ink = Ink(color, getattr(out, "encoding", None) or "utf-8")
    out.writelines(fixes(fixed, Report((), {}, Path(os.path.abspath(root)), ink)))


def write_runs(format: str, found: Explanation, out: TextIO, *, color: bool, root: Path) -> None:
    """Write explained runs to `out`, as "text", "markdown" or "json"."""
    from precision_lint.report.runs import render, render_json
    from precision_lint.report.runs_markdown import render_markdown

    ink = Ink(color, getattr(out, "encoding", None) or "utf-8")
    report = Report((), {}, Path(os.path.abspath(root)), ink)
    renders = {"json": render_json, "markdown": render_markdown}
    out.writelines(renders.get(format, render)(found, report))


def write_changes(
    format: str, found: Sequence[ChangedRun], out: TextIO, *, color: bool, root: Path
) -> None:
    """Write what changed in runs to `out`, as "text", "markdown" or "json"."""
    from precision_lint.report import changes

    ink = Ink(color, getattr(out, "encoding", None) or "utf-8")
    report = Report((), {}, Path(os.path.abspath(root)), ink)
    renders = {"json": changes.render_json, "markdown": changes.render_markdown}
    out.writelines(renders.get(format, changes.render)(found, report))


def write_matrix(format: str, found: Matrix, out: TextIO, *, color: bool, root: Path) -> None:
    """Write a matrix to `out`, as "text", "markdown", "json" or "html"."""
    ink = Ink(color, getattr(out, "encoding", None) or "utf-8")
    report = Report((), {}, Path(os.path.abspath(root)), ink)
    module = "matrix" if format == "text" else f"matrix_{format}"
    render = import_module(f"{__name__}.{module}").render
    out.writelines(render(found, report))
