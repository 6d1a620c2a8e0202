"""Which conditions keep bfloat16 out."""

from __future__ import annotations

import pytest

from precision_lint.facts.dtypes.syntax.conditions import excludes_bfloat16


@pytest.mark.parametrize(
    "condition",
    [
        "dtype == torch.float16",
        'args.dtype == "fp16"',
        "cfg.fp16",
        "precision == 16",
        'precision in ("16", "16-mixed")',
        "use_half",
        "dtype != torch.bfloat16",
        "not args.bf16",
        "amp_dtype is torch.half",
        'args.precision == "fp32"',
        'use_amp and dtype == "float16"',
        'getattr(args, "fp16", False)',
        'cfg["fp16"] is True',
        "not (bf16 or device.type)",
        "args.no_bf16",
    ],
)
def test_excludes(condition: str) -> None:
    assert excludes_bfloat16(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "use_amp",
        'dtype in ["float16", "bfloat16"]',
        "dtype == torch.bfloat16",
        "args.bf16",
        "torch.cuda.is_available()",
        "args.gpu16x",
        "dtype is not None",
        "dtype not in (torch.float16, torch.float32)",
        'device == "cuda" or fp16',
        "not args.no_fp16 or args.bf16",
    ],
)
def test_does_not(condition: str) -> None:
    assert not excludes_bfloat16(condition)
