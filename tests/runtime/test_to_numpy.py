"""to_numpy over dtypes, shapes, strides and autograd states."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from precision_lint.runtime import to_numpy  # noqa: E402

KEPT = {
    torch.bool: np.bool_,
    **{getattr(torch, n): getattr(np, n) for n in ("uint8", "uint16", "uint32", "uint64")},
    **{getattr(torch, n): getattr(np, n) for n in ("int8", "int16", "int32", "int64")},
    **{getattr(torch, n): getattr(np, n) for n in ("float16", "float32", "float64")},
    **{getattr(torch, n): getattr(np, n) for n in ("complex64", "complex128")},
}
WIDENED = {
    torch.bfloat16: np.float32,
    torch.complex32: np.complex64,
    **{
        getattr(torch, f"float8_{n}"): np.float32
        for n in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")
    },
}


@st.composite
def tensors(draw, dtypes):
    """Any bit pattern, in any shape up to 3-D, through a random chain of views."""
    dtype = draw(st.sampled_from(sorted(dtypes, key=str)))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == torch.bool:
        t = torch.tensor(draw(st.lists(st.booleans(), min_size=count, max_size=count)))
        t = t.bool()
    else:
        raw = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
        t = torch.tensor(list(raw), dtype=torch.uint8).view(dtype)
    t = t.reshape(shape)
    if shape and draw(st.booleans()):
        t = t.transpose(0, -1)
    if shape and draw(st.booleans()):
        t = t[::2]
    if draw(st.booleans()):
        t = t.expand(2, *t.shape)
    return t


@given(tensors(KEPT))
def test_kept_dtypes_share_memory(t):
    array = to_numpy(t)
    assert (array.dtype, array.shape) == (KEPT[t.dtype], tuple(t.shape))
    np.testing.assert_array_equal(array, t.numpy())
    if t.numel():
        assert array.__array_interface__["data"][0] == t.data_ptr()


@given(tensors(WIDENED))
def test_widened_dtypes_keep_every_value(t):
    array = to_numpy(t)
    assert (array.dtype, array.shape) == (WIDENED[t.dtype], tuple(t.shape))
    np.testing.assert_array_equal(array, np.array(t.tolist(), dtype=array.dtype).reshape(t.shape))


@given(tensors([torch.bfloat16, torch.float16, torch.float32]), st.booleans())
@settings(max_examples=40)
def test_tensors_in_a_graph(t, leaf):
    x = t.clone().requires_grad_()
    x = x if leaf else x * 1
    np.testing.assert_array_equal(to_numpy(x), to_numpy(t))
    assert x.requires_grad


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", [torch.complex32, torch.complex64, torch.complex128], ids=str)
def test_conjugate_and_negative_bits(dtype):
    z = torch.tensor([1 + 2j, 3 - 4j]).to(dtype)
    assert z.conj().is_conj()
    assert z.conj().imag.is_neg()
    assert to_numpy(z.conj()).tolist() == [1 - 2j, 3 + 4j]
    assert to_numpy(z.conj().imag).tolist() == [-2, 4]


def test_negative_bit_in_bfloat16():
    t = torch._neg_view(torch.tensor([1.0, -2.0], dtype=torch.bfloat16))
    assert t.is_neg()
    assert to_numpy(t).tolist() == [-1.0, 2.0]


def test_parameter_and_inference_tensor():
    assert to_numpy(torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))).tolist() == [1, 1]
    with torch.inference_mode():
        t = torch.ones(2, dtype=torch.bfloat16)
    assert to_numpy(t).tolist() == [1, 1]


def test_narrow_bytes_are_what_moves(monkeypatch):
    moved = []
    to_host = torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda t: (moved.append(t.dtype), to_host(t))[1])
    to_numpy(torch.ones(2, dtype=torch.bfloat16))
    assert moved == [torch.bfloat16]


def test_arrays_pass_through():
    array = np.ones(2)
    assert to_numpy(array) is array


@pytest.mark.parametrize("value", [[1.0, 2.0], 1.0, None, np.float32(1)])
def test_neither_tensor_nor_array(value):
    with pytest.raises(TypeError, match=r"takes a torch\.Tensor, not"):
        to_numpy(value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse(dtype, layout):
    with pytest.raises(TypeError, match=r"Use Tensor\.to_dense\(\) first"):
        to_numpy(getattr(torch.eye(2, dtype=dtype), layout)())


@pytest.mark.parametrize(
    "dtype", [torch.uint4, torch.int2, torch.bits8, torch.float4_e2m1fn_x2], ids=str
)
def test_packed_dtypes(dtype):
    with pytest.raises(TypeError, match=f"no counterpart of {dtype}; unpack it"):
        to_numpy(torch.empty(2, dtype=dtype))


@pytest.mark.filterwarnings("ignore")
def test_quantized():
    t = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    with pytest.raises(TypeError, match=r"call dequantize\(\)"):
        to_numpy(t)


def test_meta():
    with pytest.raises(NotImplementedError, match="no data"):
        to_numpy(torch.empty(2, device="meta", dtype=torch.bfloat16))
