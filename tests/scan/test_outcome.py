"""Outcomes of the parts of a repository become one."""

from __future__ import annotations

from itertools import permutations

from precision_lint.scan.outcome import Collector, Outcome, Status

PARTS = [
    Outcome("r", "c", 1, 3, files=9, size=90, seconds=1, cpu_seconds=2, peak_memory=5,
            records=({"filename": "b.py"},), notes=("n",)),
    Outcome("r", "c", 2, 3, Status.TIMEOUT, "stopped", 9, 90, seconds=10, cpu_seconds=9),
    Outcome("r", "c", 3, 3, files=9, size=90, seconds=1, cpu_seconds=2, peak_memory=7,
            records=({"filename": "a.py"},), notes=("n",)),
]  # fmt: skip


def test_parts_in_any_order() -> None:
    for order in permutations(PARTS):
        collector = Collector()
        (whole,) = [found for part in order if (found := collector.add(part)) is not None]
        assert whole.status is Status.TIMEOUT
        assert whole.message == "part 2 of 3: timeout: stopped"
        assert (whole.files, whole.size, whole.parts) == (9, 90, 3)
        assert (whole.seconds, whole.cpu_seconds, whole.peak_memory) == (12, 13, 7)
        assert [record["filename"] for record in whole.records] == ["a.py", "b.py"]
        assert whole.notes == ("n",)


def test_two_commits_are_two_repositories() -> None:
    collector = Collector()
    assert collector.add(Outcome("r", "1", 1, 2)) is None
    assert collector.add(Outcome("r", "2", 2, 2)) is None
    assert collector.add(Outcome("r", "2", 1, 2)) == Outcome("r", "2", 1, 2)


def test_the_way_to_another_machine() -> None:
    for outcome in PARTS:
        assert Outcome.from_json(outcome.to_json()) == outcome
    odd = Outcome("r", message="\udcff")  # a name that is no text, in a message of the system
    assert Outcome.from_json(odd.to_json()).message == "\ufffd"
