"""Job arrays: each job takes the elements of all arrays that are at its own place."""

from __future__ import annotations

import pytest

from tests.source.config.reading import commands

UNKNOWN = "\0"
ARRAYS = "P=(fp16 bf16)\nL=(1 2)\n"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("run ${P[$SLURM_ARRAY_TASK_ID]} ${L[$SLURM_ARRAY_TASK_ID]}\n",
         [["fp16", "1"], ["bf16", "2"]]),
        ("run ${P[SLURM_ARRAY_TASK_ID]} x\n", [["fp16", "x"], ["bf16", "x"]]),
        ('p="${P[$I]}"\nrun --$p\n', [["--fp16"], ["--bf16"]]),
        ("i=$((SLURM_ARRAY_TASK_ID - 1))\nrun ${P[$i]}\n", [["fp16"], ["bf16"]]),
        ("#SBATCH --array=1\nrun ${P[$SLURM_ARRAY_TASK_ID]}\n", [["bf16"]]),
        ("#SBATCH --array=0-1%1\nrun ${P[$SLURM_ARRAY_TASK_ID]}\n", [["fp16"], ["bf16"]]),
        # What belongs together is not known.
        ("run ${P[$I]} ${L[$J]}\n", []),
        ("run ${P[$I / 2]} ${L[$I % 2]}\n", []),
        ("i=0\ni=$((i + 1))\ni=$(x)\nrun ${P[$i]}\n", []),
        # What is known needs no alternatives.
        ("run ${P[1]}\n", [["bf16"]]),
        ("i=0\nrun ${P[$i]} ${L[i]}\n", [["fp16", "1"]]),
        ("run ${P[2]}\n", []),
        ("for i in 0 1; do run ${P[$i]}; done\n", [["fp16"], ["bf16"]]),
        ("X=one\nrun ${X[$I]}\n", []),
    ],
)  # fmt: skip
def test_the_elements_of_arrays(script: str, expected: list[list[str]]) -> None:
    found = [rest for name, *rest in commands(ARRAYS + script) if name == "run"]
    assert [words for words in found if UNKNOWN not in "".join(words)] == expected
