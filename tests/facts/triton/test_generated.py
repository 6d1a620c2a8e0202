"""Random kernels: the linter refuses none that compiles, and misses few that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.triton.agreement import Outcome, compare
from tests.facts.triton.generated import generate

KERNELS = 500
AGREEMENT = 0.99


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    pytest.importorskip("triton")
    folder: Path = tmp_path_factory.mktemp("generated")
    return compare(map(generate, range(KERNELS)), folder, ("bf16", "fp32"))


def test_nothing_that_compiles_is_refused(outcomes):
    wrong = [o for o in outcomes if o.is_false_error]
    assert not wrong, f"{wrong[0].dtype}, {sorted(wrong[0].linter)}:\n{wrong[0].kernel.source}"


def test_nearly_all_that_fails_is_seen(outcomes):
    missed = [o for o in outcomes if o.is_miss]
    assert len(missed) <= (1 - AGREEMENT) * len(outcomes), missed[0].kernel.source


def test_the_kernels_are_a_fair_sample(outcomes):
    failing = [outcome for outcome in outcomes if outcome.errors]
    assert 0.2 < len(failing) / len(outcomes) < 0.6
    only_half = {o.kernel.seed for o in failing} - {
        o.kernel.seed for o in failing if o.dtype == "fp32"
    }
    assert len(only_half) > KERNELS / 10


def test_a_kernel_follows_from_its_seed():
    assert generate(7) == generate(7)
    assert generate(7).source != generate(8).source
