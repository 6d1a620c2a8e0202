"""The words of the matrix that all of its formats share: rows, cells, offers, findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from precision_lint.engine.matrix import Cell, Matrix, Row
from precision_lint.engine.matrix_candidate import Candidate
from precision_lint.facts.runs.options.offers import Offer
from precision_lint.model.finding import Finding
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import PRECISIONS, Precision
from precision_lint.report.model import Report

NOTHING = "No entry point or launch here says anything of precision."
LEGEND = (
    "ok: offered, understood, nothing found; a number: findings; refused: the run does not start; "
    "unknown: not understood; -: not offered"
)
_LONGEST = 70
_MOST_ALIKE = 5
_MOST_OFFERS = 4
_MOST_UNREAD = 4


@frozen
class Told:
    """A finding, and the rows and precisions in which it happens."""

    finding: Finding
    where: tuple[tuple[str, str], ...]
    """The precisions, and the names of the rows."""


def label(one: Candidate, report: Report) -> str:
    """`train.py`, `run.sh:3: Hugging Face Trainer, started as train.py`."""
    where = report.relative(one.place.path) if one.is_whole else report.row(one.place)
    names = " and ".join(one.frameworks)
    started = f"starts {one.started}" if one.started else ""
    what = ", ".join(filter(None, (names, started)))
    return f"{where}: {what}" if what else where


def name(one: Candidate, report: Report) -> str:
    """A row by its place alone."""
    return report.relative(one.place.path) if one.is_whole else report.row(one.place)


def alike(row: Row, report: Report) -> str:
    """`the same for 3 more: a.sh:1, b.sh:1, c.sh:1`; empty if there are none."""
    if not row.alike:
        return ""
    shown = [name(one, report) for one in row.alike[:_MOST_ALIKE]]
    more = ", …" if len(row.alike) > _MOST_ALIKE else ""
    return f"the same for {len(row.alike)} more: {', '.join(shown)}{more}"


def state(cell: Cell) -> str:
    """A cell in a word."""
    match cell.state:
        case "findings":
            return str(len(cell.findings))
        case "not offered":
            return "-"
    return cell.state


def offered(cell: Cell, report: Report) -> str:
    """What offers a precision: `--dtype bf16 (default) (train.py:5)`; empty if nothing does."""
    known = (one for one in cell.offers if one.kind != "not followed")
    texts = list(dict.fromkeys(_offer(one, report) for one in known))
    more = ", …" if len(texts) > _MOST_OFFERS else ""
    return ", ".join(texts[:_MOST_OFFERS]) + more


def _offer(one: Offer, report: Report) -> str:
    place = report.row(one.place)
    why = f": {cut(one.why)}" if one.why and one.kind == "refused" else ""
    if one.kind == "refused":
        return f"{_setting(one)} refused ({place}){why}"
    default = " (default)" if one.is_default and one.setting else ""
    return f"{_setting(one)}{default} ({place})"


def _setting(one: Offer) -> str:
    if not one.setting:
        return f"`{cut(one.why)}`" if one.why else "by default"
    match one.value:
        case None:
            return cut(one.setting)
        case True if one.setting.startswith("--"):
            return one.setting
        case bool():
            return f"{one.setting} {'on' if one.value else 'off'}"
    return f"{one.setting} {cut(str(one.value))}"


def not_understood(row: Row, report: Report) -> Iterator[str]:
    """`--dtype (train.py:5)`; the first of many."""
    unread = row.candidate.unread
    for one in unread[:_MOST_UNREAD]:
        yield f"{cut(one.text)} ({report.row(one.place)})"
    if len(unread) > _MOST_UNREAD:
        yield f"{len(unread) - _MOST_UNREAD} more"


def findings(matrix: Matrix, report: Report) -> Sequence[Told]:
    """Each finding of a row once, in order of place, with the precisions and the rows."""
    where: dict[object, dict[Precision | None, list[str]]] = {}
    known: dict[object, Finding] = {}
    for row in matrix.rows:
        shown = name(row.candidate, report)
        if row.alike:
            shown = f"{shown} and {len(row.alike)} more"
        found = [(precision, one) for precision, cell in row.cells.items() for one in cell.findings]
        for precision, one in (*found, *((None, one) for one in row.others)):
            known[one.sort_key] = one
            where.setdefault(one.sort_key, {}).setdefault(precision, []).append(shown)
    return [
        Told(known[key], tuple(_by_rows(where[key])))
        for key in sorted(known, key=lambda key: known[key].sort_key)
    ]


def _by_rows(found: dict[Precision | None, list[str]]) -> Iterator[tuple[str, str]]:
    """The precisions that have the same rows, together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for precision in (*PRECISIONS, None):
        if precision in found:
            groups.setdefault(tuple(found[precision]), []).append(precision or "any precision")
    for rows, precisions in groups.items():
        more = f", and {len(rows) - _MOST_ALIKE} more" if len(rows) > _MOST_ALIKE else ""
        yield ", ".join(precisions), ", ".join(rows[:_MOST_ALIKE]) + more


def cut(text: str) -> str:
    """A text of at most some characters."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
