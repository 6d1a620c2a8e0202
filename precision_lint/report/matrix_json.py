"""The matrix as JSON; docs/matrix.md describes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TypeAlias

from precision_lint.engine.matrix import Cell, Matrix, Row
from precision_lint.engine.matrix_candidate import Candidate
from precision_lint.facts.runs.options.offers import Offer
from precision_lint.model.finding import Finding, Span
from precision_lint.model.precision import PRECISIONS
from precision_lint.report.json_report import dumps, record, start_of
from precision_lint.report.model import Report

_Key: TypeAlias = "tuple[str, Span, str, str]"


def render(matrix: Matrix, report: Report) -> Iterator[str]:
    """One object: the columns, the rows, and the findings, which cells refer to by their index."""
    known = {one.sort_key: one for row in matrix.rows for one in row.findings}
    known |= {one.sort_key: one for one in matrix.elsewhere}
    ordered = sorted(known.values(), key=lambda one: one.sort_key)
    index = {one.sort_key: number for number, one in enumerate(ordered)}
    found = {
        "precisions": list(PRECISIONS),
        "rows": [_row(row, index) for row in matrix.rows],
        "findings": [_finding(one, report) for one in ordered],
        "elsewhere": [index[one.sort_key] for one in matrix.elsewhere],
        "silent": matrix.silent,
    }
    yield dumps(found, indent=2) + "\n"


def _row(row: Row, index: dict[_Key, int]) -> dict[str, object]:
    one = row.candidate
    return {
        **_where(one),
        "frameworks": list(one.frameworks),
        "cells": {precision: _cell(cell, index) for precision, cell in row.cells.items()},
        "any_precision": [index[each.sort_key] for each in row.others],
        "not_understood": [{"text": each.text, **start_of(each.place)} for each in one.unread],
        "alike": [_where(each) for each in row.alike],
    }


def _where(one: Candidate) -> dict[str, object]:
    return {
        "kind": one.kind,
        "program": os.path.abspath(one.program) if one.program is not None else None,
        "started": one.started or None,
        **start_of(one.place),
    }


def _cell(cell: Cell, index: dict[_Key, int]) -> dict[str, object]:
    return {
        "state": cell.state,
        "offers": [_offer(one) for one in cell.offers],
        "findings": [index[one.sort_key] for one in cell.findings],
    }


def _offer(one: Offer) -> dict[str, object]:
    return {
        "kind": one.kind,
        "setting": one.setting or None,
        "value": one.value,
        "default": one.is_default,
        "why": one.why or None,
        **start_of(one.place),
    }


def _finding(one: Finding, report: Report) -> dict[str, object]:
    kept = {name: value for name, value in record(one, report).items() if name != "fix"}
    return {**kept, "why": one.why, "precisions": list(one.precisions)}
