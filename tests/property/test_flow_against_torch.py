"""Whatever the program: the flow never excludes a dtype that torch gives, and mostly knows it."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from tests.property.torch_oracle import Tally, minimal, tally
from tests.property.torch_programs import random_program

SHARES = 10
PROGRAMS = 500
EXACT = 0.8


def report(total: Tally) -> str:
    """The first contradiction: its seed, its program and the least of it that contradicts."""
    seed, found = total.contradictions[0]
    source = random_program(seed).source
    return (
        f"{len(total.contradictions)} contradictions; the first, of seed {seed} at probe"
        f" {found.probe}: torch gives {found.actual}, the flow says {found.claimed}\n\n"
        f"{minimal(source, found.cause)}\nreduced from\n\n{source}"
    )


@pytest.mark.parametrize("share", range(SHARES))
def test_the_flow_agrees_with_torch(share: int) -> None:
    total = tally(range(share * PROGRAMS, (share + 1) * PROGRAMS))
    assert total.programs == PROGRAMS
    assert total.raised < 0.15 * PROGRAMS, "too many programs raise to say much"
    assert total.probes > 10 * PROGRAMS
    assert not total.contradictions, report(total)
    assert total.exact_share >= EXACT, total.lost.most_common(10)


def test_a_program_for_a_gpu_is_the_same_program_there() -> None:
    for seed in range(200):
        here, there = random_program(seed), random_program(seed, "cuda")
        assert there.constructs == here.constructs
        assert 'torch.set_default_device("cuda")\n' in there.source
        assert not re.search(r"\bcpu\b|from_numpy", there.source)
        assert there.source.count("probe(") == here.source.count("probe(")
