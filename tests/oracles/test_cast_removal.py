"""Model code without one of its casts: the edits, the record of what they do, and the linter."""

from __future__ import annotations

import sys
from collections import Counter
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest

from tests.model_zoo import facts, mutants
from tests.model_zoo.removals import original_row, sites, without
from tests.model_zoo.scoring import score, table

PACKAGE = facts.installed_sources()
RECORD = mutants.load()

SAMPLED = 3
"""Files of the record that are linted here; `remove_casts.py --score` takes all."""

needs_sources = pytest.mark.skipif(
    PACKAGE is None, reason=f"transformers=={facts.TRANSFORMERS} is not installed"
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = x.to(torch.float32)\n", ["y = x\n"]),
        ("y = (a + b).to(x.dtype)\n", ["y = (a + b)\n"]),
        ("y = x.to(device, dtype=dtype)\n", ["y = x.to(device)\n"]),
        ("y = x.to(dtype=dtype, device=device)\n", ["y = x.to(device=device)\n"]),
        ("y = x.float() @ w.type_as(x)\n", ["y = x @ w.type_as(x)\n", "y = x.float() @ w\n"]),
        ("y = (\n    a\n    .float()\n)\n", ["y = (\n    a\n    \n)\n"]),
        ("y = torch.zeros(2, dtype=x.dtype)\n", ["y = torch.zeros(2)\n"]),
        ("y = s.softmax(-1, dtype=torch.float32)\n", ["y = s.softmax(-1)\n"]),
        ("m = torch.finfo(x.dtype).min\n", ["m = torch.finfo(torch.float32).min\n"]),
        ("y = x.to(torch.int64)\n", []),
        ("y = x.to(device)\n", []),
        ("y = torch.arange(2, dtype=torch.long)\n", []),
        ("m = torch.finfo(torch.float32).min\n", []),
        ("y = make(dtype=x.dtype)\n", []),
    ],
)
def test_a_removal_takes_one_choice_of_a_dtype_away(source: str, expected: list[str]) -> None:
    found = [without(source, site.removed, site.inserted) for site in sites(source)]
    assert found == expected


def test_rows_of_a_shorter_file_are_those_of_the_file() -> None:
    source = "y = x.to(\n    torch.float32\n)\nz = y\n"
    (site,) = sites(source)
    assert without(source, site.removed) == "y = x\nz = y\n"
    assert [original_row(row, site.removed) for row in (1, 2)] == [1, 4]


def test_the_record_is_whole(tmp_path: Path) -> None:
    assert len(RECORD.mutants) >= 1000
    assert len({(each.path, each.removed) for each in RECORD.mutants}) == len(RECORD.mutants)
    assert all("float32" in each.outcomes for each in RECORD.mutants)
    labels = Counter(each.label for each in RECORD.mutants)
    assert min(labels[label] for label in ("raises", "promotes", "narrows", "same")) > 50
    assert mutants.PATH.stat().st_size < 500_000
    mutants.save(RECORD, tmp_path / "mutants.json")
    assert mutants.load(tmp_path / "mutants.json") == RECORD


@needs_sources
def test_the_record_is_of_the_casts_of_these_files() -> None:
    assert PACKAGE is not None
    for path, recorded in islice(RECORD.by_file(), 0, None, 10):
        source = (PACKAGE / path).read_text("utf-8")
        known = {(site.kind, site.removed, site.inserted) for site in sites(source)}
        assert {(each.kind, each.removed, each.inserted) for each in recorded} <= known


@needs_sources
@pytest.mark.skipif(sys.version_info < (3, 11), reason="no positions of instructions")
def test_a_run_without_a_cast_does_what_is_recorded() -> None:
    torch = pytest.importorskip("torch")
    from tests.forking import forked
    from tests.model_zoo import running

    def run() -> list[list[object]]:
        torch.set_num_threads(1)
        (base,) = islice(running.bases("llama"), 1)
        return [
            [*site.removed, mutants.packed_outcomes(running.outcomes(base, site))]
            for site in base.sites
        ]

    recorded = {each.removed: each.outcomes for each in RECORD.mutants if each.model == "llama"}
    said = forked(run, 200)
    assert len(said) >= 5
    for *removed, outcomes in said:
        expected = mutants.packed_outcomes(recorded[tuple(removed)])
        # A machine that is busy may leave the slowest mode out.
        assert {"float32", "bfloat16"} <= outcomes.keys()
        assert outcomes == {mode: [*expected[mode]] for mode in outcomes}


MODEL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)

def scores(x):
    model = Model().to(torch.bfloat16)
    narrow = model(x)
    wide = narrow.float()
    return narrow.float().cpu().numpy(), wide
"""


def test_a_report_that_only_the_file_without_a_cast_has_is_found(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "model.py").write_text(MODEL, "utf-8")
    error = "TypeError: Got unsupported ScalarType BFloat16"
    same = mutants.Outcome("same")
    outcomes = {"narrow": mutants.Outcome("raises", error, 17), "wide": same}
    sample = []
    for site in sites(MODEL):
        if site.kind == "float":
            name = "narrow" if "numpy" in MODEL.split("\n")[site.removed[0] - 1] else "wide"
            by_mode = {"float32": same, "bfloat16": outcomes[name]}
            sample.append(mutants.Mutant(name, "model.py", "float", site.removed, "", by_mode))
    digests = {"model.py": sha256(MODEL.encode()).hexdigest()}
    scored = score(mutants.Record(tuple(sample), digests), package, tmp_path / "tree")
    found = {each.mutant.model: sorted(each.finding_rules) for each in scored}
    assert found == {"narrow": ["MP101"], "wide": []}
    assert "raise in half precision, found: 1 of 1 (100.0%)" in [*table(scored)]
    assert "do not raise, reported: 0 of 1 (0.0%)" in [*table(scored)]


@needs_sources
def test_what_does_not_raise_is_not_reported(tmp_path: Path) -> None:
    assert PACKAGE is not None
    small = sorted(RECORD.digests, key=lambda path: (PACKAGE / path).stat().st_size)
    kept = {path: RECORD.digests[path] for path in small[:SAMPLED]}
    sample = tuple(each for each in RECORD.mutants if each.path in kept)
    scored = score(mutants.Record(sample, kept), PACKAGE, tmp_path)
    print(*table(scored), sep="\n")
    assert len(scored) == len(sample) > 0
    silent = [each for each in scored if each.mutant.label in {"same", "narrows", "promotes"}]
    assert not [each for each in silent if each.rows_by_rule]
