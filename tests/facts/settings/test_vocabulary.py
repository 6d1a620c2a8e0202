"""Which names and values choose a precision, and which ones a person would look at."""

from __future__ import annotations

import pytest

from precision_lint.facts.settings.vocabulary import chooses_precision, is_setting_of_precision


@pytest.mark.parametrize(
    ("name", "value", "is_listed"),
    [
        ("precision", "32", True),
        ("precision", "33", False),
        ("num_fp16_layers", 4, True),
        ("precision_name", "tf32", True),
        ("weights_fp16_bytes", 655360, False),
        ("delta_precision", 181, False),
        ("dtype", None, True),
        ("dtype", "int64", False),
        ("log_dtype", "auto", False),
        ("fsdp_policy_mp", None, True),
        ("mp_policy", None, True),
        ("mp_policy", "auto", True),
        ("mp_policy", 4, False),
        ("mp", None, False),
        ("mp_size", None, False),
        ("policy", None, False),
        ("mp_policy_path", None, False),
        ("num_mp", None, False),
        ("fsdp_policy", None, False),
        ("load_8bit", False, True),
        ("load-4bit", True, True),
        ("load_8bit", None, True),
        ("use_8bit", False, True),
        ("qlora", True, True),
        ("qlora_rank", 8, False),
        ("quantization", None, True),
        ("quantization", "awq", True),
        ("quantization", 0.5, False),
        ("quantization_loss", True, False),
        ("quantization_bits", 4, True),
        ("quantization_bits", 64, False),
        ("wbits", 4, True),
        ("hash_bits", 8, False),
        ("bits", 16, False),
        ("load_8bit", "model.bin", False),
        ("use_8bit_adam", True, False),
        ("load_16bit_head", "x y", False),
    ],
)
def test_what_is_listed(name: str, value: object, is_listed: bool) -> None:
    assert is_setting_of_precision(name, value) is is_listed


@pytest.mark.parametrize(
    ("name", "value", "is_chosen"),
    [
        ("loss_scale", 128, True),
        ("kd_loss_scale", 0.5, False),
        ("r_loss_scaler", 10_000, False),
        ("init_loss_scale", 65_536, True),
    ],
)
def test_the_weight_of_a_term_is_no_scale(name: str, value: object, is_chosen: bool) -> None:
    assert chooses_precision(name, value) is is_chosen
