"""Loops over words that are known: each pass is followed with its own word."""

from __future__ import annotations

import pytest

from tests.source.config.reading import commands, variables

UNKNOWN = "\0"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("for p in fp16 bf16; do\n  run --p $p\ndone\nrun --p $p\n",
         [["run", "--p", "fp16"], ["run", "--p", "bf16"], ["run", "--p", UNKNOWN]]),
        ("for a in 1 2; do for b in x y; do run $a$b; done; done\n",
         [["run", "1x"], ["run", "1y"], ["run", "2x"], ["run", "2y"]]),
        ('KINDS=(fp16 bf16)\nfor k in "${KINDS[@]}"; do run $k; done\n',
         [["run", "fp16"], ["run", "bf16"]]),
        ("for p in a b; do\n  q=$p-x\n  run $q\ndone\n", [["run", "a-x"], ["run", "b-x"]]),
        ("for p in $LIST; do run $p; done\n", [["run", UNKNOWN]]),
        ("for p in *.yaml; do run $p; done\n", [["run", UNKNOWN]]),
        ("for p in 1 2 3 4 5 6 7 8 9; do run $p; done\n", [["run", UNKNOWN]]),
        ("for ((i=0; i<2; i++)); do run $i; done\n", [["run", UNKNOWN]]),
        ("for p in a b; do\ncat > f <<EOF\n$p\nEOF\ndone\n", [["cat"], ["cat"]]),
        ("run() {\n  for p in a b; do go $p; done\n}\n", [["go", UNKNOWN]]),
        ("for p in a b; do if x; then run $p; fi; done | tee log\n",
         [["x"], ["run", "a"], ["x"], ["run", "b"], ["tee", "log"]]),
    ],
)  # fmt: skip
def test_the_commands_of_a_loop(script: str, expected: list[list[str]]) -> None:
    assert commands(script) == expected


def test_nothing_that_a_loop_assigns_is_known_after_it() -> None:
    assert variables("q=0\nfor p in a b; do q=$p; done\nr=1\n") == {"r": "1"}


def test_the_passes_of_a_script_are_limited() -> None:
    loops = "".join(f"for a{n} in 1 2 3 4; do " for n in range(8))
    script = f"{loops}run {''.join(f'$a{n}' for n in range(8))}{'; done' * 8}\n"
    assert 1 < len(commands(script)) <= 300
