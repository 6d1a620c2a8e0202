"""resolve_dtype and mask_value."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from precision_lint.runtime import cross_entropy, mask_value, resolve_dtype  # noqa: E402

MASKED = [
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz),
]


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        (("bf16", "bfloat16", "torch.bfloat16", "BF16", " bf16 "), torch.bfloat16),
        (("fp16", "half", "float16", "f16", "torch.half", "Float16"), torch.float16),
        (("fp32", "float", "float32", "f32", "single", "torch.float"), torch.float32),
        (("fp64", "double", "float64", "f64"), torch.float64),
        (("e4m3", "e4m3fn", "fp8_e4m3", "F8_E4M3", "float8_e4m3fn"), torch.float8_e4m3fn),
        (("e5m2", "fp8_e5m2", "F8_E5M2", "torch.float8_e5m2"), torch.float8_e5m2),
        (("fp8_e4m3fnuz", "float8_e4m3fnuz"), torch.float8_e4m3fnuz),
        (("long", "int64", "i64"), torch.int64),
        (("int", "i32"), torch.int32),
        (("byte", "u8"), torch.uint8),
        (("bool",), torch.bool),
        (("cfloat",), torch.complex64),
    ],
)
def test_names(names, dtype):
    assert {resolve_dtype(name) for name in names} == {dtype}


def test_every_torch_dtype_resolves_from_itself_and_its_name():
    for dtype in {d for d in vars(torch).values() if isinstance(d, torch.dtype)}:
        assert resolve_dtype(dtype) is dtype
        assert resolve_dtype(str(dtype)) is dtype


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bflaot16", "did you mean 'bfloat16'"),
        ("fp61", "'fp16'"),
        ("fp8", "'e4m3' .* or 'e5m2'"),
        ("tf32", "not a dtype"),
        ("auto", "checkpoint"),
    ],
)
def test_unknown_name(name, hint):
    with pytest.raises(ValueError, match=hint):
        resolve_dtype(name)


def test_nothing_close():
    with pytest.raises(ValueError, match=r"unknown dtype 'quux'$"):
        resolve_dtype("quux")


@pytest.mark.parametrize("value", [None, 16, True, float])
def test_not_a_name(value):
    with pytest.raises(TypeError, match=r"takes a torch\.dtype or its name"):
        resolve_dtype(value)


@pytest.mark.parametrize("dtype", MASKED, ids=str)
def test_mask_value_is_exact_and_masks(dtype):
    value = mask_value(dtype)
    stored = torch.tensor([value], dtype=torch.float64).to(dtype)
    assert stored.double().item() == value
    # Scores far above it get probability 1, it gets 0.
    assert torch.softmax(torch.cat([stored.float(), torch.zeros(1)]), 0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("dtype", MASKED[:4], ids=str)
def test_two_masks_add_up_to_a_finite_value(dtype):
    mask = torch.full((1, 4), mask_value(dtype), dtype=dtype)
    both = mask + mask
    assert both.isfinite().all()
    assert both[0, 0].item() == torch.finfo(dtype).min
    # With finfo.min the sum is -inf and a row that is masked throughout is NaN.
    assert torch.softmax(both, -1).isfinite().all()


@pytest.mark.parametrize("dtype", MASKED[:4], ids=str)
def test_mask_value_fills(dtype):
    mask = torch.tensor([[True, False], [True, True]])
    filled = torch.zeros(2, 2, dtype=dtype).masked_fill(mask, mask_value(dtype))
    expected = torch.tensor([[0.0, 1.0], [0.5, 0.5]], dtype=dtype)
    torch.testing.assert_close(torch.softmax(filled, -1), expected)


def test_mask_value_takes_names():
    assert mask_value("fp16") == -32752.0


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.int64, torch.complex64, torch.float8_e8m0fnu, torch.float4_e2m1fn_x2],
    ids=str,
)
def test_mask_value_of_a_dtype_without_one(dtype):
    with pytest.raises(TypeError, match="floating dtype of the scores"):
        mask_value(dtype)


def test_repaired_models_still_compile_whole():
    @torch.compile(backend="eager", fullgraph=True)
    def loss(x, target, temperature):
        masked = x.masked_fill(x > 1, mask_value(x.dtype))
        return cross_entropy(masked, target, logit_scale=temperature)

    x, target = torch.randn(3, 7, dtype=torch.bfloat16, requires_grad=True), torch.tensor([0, 1, 2])
    for temperature in (1.0, 0.5, 0.25):  # the third call has a symbolic float
        masked = x.masked_fill(x > 1, mask_value(x.dtype))
        expected = cross_entropy(masked, target, logit_scale=temperature)
        torch.testing.assert_close(loss(x, target, temperature), expected)
