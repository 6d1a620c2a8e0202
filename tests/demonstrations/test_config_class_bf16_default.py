"""What transformers makes of arguments whose class switches bf16 on."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@dataclass
class Fixed(transformers.TrainingArguments):  # type: ignore[misc, name-defined]
    bf16: bool = True


@dataclass
class Resolved(transformers.TrainingArguments):  # type: ignore[misc, name-defined]
    bf16: bool | None = None

    def __post_init__(self) -> None:
        if self.bf16 is None:
            self.bf16 = not self.fp16
        super().__post_init__()


def test_the_other_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="At most one of fp16 and bf16 can be True"):
        Fixed(output_dir="out", use_cpu=True, fp16=True)


def test_a_class_that_resolves_it_takes_both() -> None:
    assert Resolved(output_dir="out", use_cpu=True).bf16
    assert not Resolved(output_dir="out", use_cpu=True, fp16=True).bf16


def with_defaults(**overrides: object) -> object:
    defaults = {"output_dir": "out", "use_cpu": True, "bf16": True}
    return transformers.TrainingArguments(**defaults, **overrides)


def test_defaults_of_a_function_and_what_its_caller_asks_for_are_both_on() -> None:
    with pytest.raises(ValueError, match="At most one of fp16 and bf16 can be True"):
        with_defaults(fp16=True)
    assert with_defaults(weight_decay=0.01)
