"""The matrix as one page of HTML that needs nothing else: no script, no style sheet, no font."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from precision_lint.engine import registry
from precision_lint.engine.matrix import Cell, Matrix, Row
from precision_lint.model.finding import Finding
from precision_lint.model.precision import PRECISIONS
from precision_lint.report import matrix_words as words
from precision_lint.report.ink import revealed
from precision_lint.report.model import Report

_STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  color: #1f2328; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid #d0d7de; padding: .35rem .6rem; vertical-align: top; text-align: left; }
td.cell, thead th + th { text-align: center; width: 5.5rem; }
td.ok { background: #dafbe1; } td.findings { background: #fff8c5; font-weight: 600; }
td.refused { background: #ffebe9; } td.unknown { background: #ddf4ff; }
td.not-offered { color: #8c959f; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
details { margin: .25rem 0; color: #57606a; } ul { margin: .25rem 0; padding-left: 1.2rem; }
.error { color: #cf222e; } .warning { color: #9a6700; } .info { color: #0969da; }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; } th, td { border-color: #30363d; }
  td.ok { background: #12261e; } td.findings { background: #272115; }
  td.refused { background: #301b1f; } td.unknown { background: #121d2f; }
  details { color: #9198a1; }
  .error { color: #ff7b72; } .warning { color: #d29922; } .info { color: #58a6ff; }
}
"""


def render(matrix: Matrix, report: Report) -> Iterator[str]:
    """The page."""
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Precision matrix</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        "<h1>Precision matrix</h1>\n"
    )
    if matrix.rows:
        yield from _table(matrix, report)
        yield f"<p>{escape(words.LEGEND)}</p>\n"
    else:
        yield f"<p>{escape(words.NOTHING)}</p>\n"
    found = words.findings(matrix, report)
    if found:
        yield "<h2>Findings</h2>\n<ul>\n"
        for each in found:
            where = "; ".join(f"{precisions}: {rows}" for precisions, rows in each.where)
            yield f"<li>{_finding(each.finding, report)}<br>{_text(where)}</li>\n"
        yield "</ul>\n"
    if matrix.elsewhere:
        yield "<h2>Findings in code that none of these runs is seen to reach</h2>\n<ul>\n"
        for finding in matrix.elsewhere:
            yield f"<li>{_finding(finding, report)}</li>\n"
        yield "</ul>\n"
    yield "</body>\n</html>\n"


def _table(matrix: Matrix, report: Report) -> Iterator[str]:
    head = "".join(f'<th scope="col">{precision}</th>' for precision in PRECISIONS)
    yield f'<table>\n<thead><tr><th scope="col">run</th>{head}</tr></thead>\n<tbody>\n'
    for row in matrix.rows:
        cells = "".join(_cell(row.cells[precision], report) for precision in PRECISIONS)
        yield f'<tr><th scope="row">{_head(row, report)}</th>{cells}</tr>\n'
    yield "</tbody>\n</table>\n"


def _head(row: Row, report: Report) -> str:
    items = [
        f"<li>{precision}: {_text(text)}</li>"
        for precision, cell in row.cells.items()
        if (text := words.offered(cell, report))
    ]
    items += [
        f"<li>not understood: {_text(text)}</li>" for text in words.not_understood(row, report)
    ]
    if text := words.alike(row, report):
        items.append(f"<li>{_text(text)}</li>")
    inner = (
        f"<details><summary>offers</summary><ul>{''.join(items)}</ul></details>" if items else ""
    )
    return f"<code>{_text(words.label(row.candidate, report))}</code>{inner}"


def _cell(cell: Cell, report: Report) -> str:
    kind = cell.state.replace(" ", "-")
    title = "; ".join(f"{one.code} {report.row(one.place)}" for one in cell.findings)
    hint = f' title="{_text(title)}"' if title else ""
    return f'<td class="cell {kind}"{hint}>{_text(words.state(cell))}</td>'


def _finding(finding: Finding, report: Report) -> str:
    url = escape(registry.rule(finding.code).url)
    kind = str(finding.severity)
    return (
        f'<span class="{kind}">{kind}</span> <a href="{url}">{finding.code}</a> '
        f"<code>{_text(report.position(finding.place))}</code>: {_text(finding.message)}"
    )


def _text(text: str) -> str:
    """A text of the project: nothing in it is markup, and nothing in it is invisible."""
    return escape(revealed(text))
