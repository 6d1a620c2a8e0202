"""The precision of what frameworks read, and of the findings in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.frameworks.precision import combined, precisions_of
from precision_lint.facts.frameworks.runs import runs
from tests.cli.running import project
from tests.context import recording

HF = "output_dir: o\nlearning_rate: 1.0e-5\nper_device_train_batch_size: 2\n"


@pytest.mark.parametrize(
    ("text", "precisions"),
    [
        (HF + "bf16: true\n", ("bf16",)),
        (HF + "fp16: true\nbf16: true\n", ("fp16", "bf16")),
        (HF, ("fp32",)),
        (HF + "tf32: true\n", ("tf32",)),
        (HF + "tf32: true\nbf16: true\n", ("bf16",)),
        (HF + "torch_dtype: float16\n", ("fp16",)),
        (HF + "bf16: ${oc.env:BF16}\n", ()),
        ("compute_environment: X\ndistributed_type: NO\ndowncast_bf16: 'no'\n", ()),
        ("compute_environment: X\ndistributed_type: NO\nmixed_precision: fp8\n", ("fp8",)),
    ],
)
def test_the_precision_of_a_file(text: str, precisions: tuple[str, ...], tmp_path: Path) -> None:
    facts = recording(project(tmp_path, {"a.yaml": text}), ())
    file = facts.config_files.at(tmp_path / "a.yaml")
    assert file is not None
    (run,) = runs(file, facts)
    assert precisions_of(run) == precisions


def test_what_computes_in_few_bits_counts_first() -> None:
    assert combined([("compute", "fp32"), ("weights", "bf16")]) == ("bf16",)
    assert combined([("compute", "fp16"), ("weights", "bf16")]) == ("fp16",)
    assert combined([("compute", "fp16"), ("compute", None)]) == ("fp16",)
    assert combined([("compute", None), ("weights", "fp32")]) == ()
    assert combined([("matmul", "tf32")]) == ("tf32",)
    assert combined([("matmul", None)]) == ("fp32",)
    assert combined([]) == ()
