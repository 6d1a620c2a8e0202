"""The table of refused dtypes against recorded runs (`scripts/measure_refusals.py`)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from precision_lint.facts.dtypes.libraries.refusals import REFUSALS

RECORD = json.loads((Path(__file__).parent / "refusals.json").read_text("utf-8"))


def test_every_row_was_measured() -> None:
    assert RECORD.keys() == REFUSALS.keys()


@pytest.mark.parametrize("name", REFUSALS)
def test_a_row_says_what_happened(name: str) -> None:
    row, refusal = RECORD[name], REFUSALS[name]
    assert (row["float32"] == "works") is ("float32" not in refusal.dtypes)
    assert row["float16"] != "works"
    if "…" not in refusal.error:
        said = refusal.error.format(dtype="float16")
        assert row["float16"].startswith(said)
    if refusal.tensors:
        assert row["tensor float32"] == "works"
        assert row["tensor float16"] == row["float16"]


@pytest.mark.parametrize("name", [name for name, row in REFUSALS.items() if not row.tensors])
def test_tensors_fail_in_any_dtype_where_they_are_not_listed(name: str) -> None:
    if not re.match(r"scipy\.signal|json", name):
        assert RECORD[name]["tensor float32"] != "works"
