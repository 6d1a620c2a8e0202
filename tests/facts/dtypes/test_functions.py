"""Factories, casts and operators, by what a call gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite, Region
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    UNKNOWN,
    Constant,
    Dtype,
    Model,
    Sequence,
    Tensor,
    Value,
    caller_chosen,
    tensor,
)
from precision_lint.facts.dtypes.operators import functions
from precision_lint.facts.origin import Choice, Origin, Setting
from precision_lint.model.finding import Span
from precision_lint.source.text.text import SourceText

SOURCE = SourceText(Path("case.py"), "call")
OPEN = tensor("bfloat16", scalar=None)
"""With or without a dimension."""
BF16, FP32, FP64, INT = (tensor(one) for one in ("bfloat16", "float32", "float64", "int64"))
BFLOAT16 = Dtype(frozenset({"bfloat16"}))
HALF_REGION = Region(None, BFLOAT16)
PARTLY_BF16 = Tensor(frozenset({"bfloat16"}), may_be_other=True)
BOTH = Tensor(frozenset({"int64", "float32"}))


def given(
    *values: Value, region: Region | None = None, default: str = "float32", **keywords: Value
) -> CallSite:
    named = {name: Argument(value, Span(0, 4)) for name, value in keywords.items()}
    arguments = tuple(Argument(value, Span(0, 4)) for value in values)
    return CallSite(SOURCE, Span(0, 4), arguments, named, region, default)


def numbers(*values: object) -> Sequence:
    items = tuple(map(Constant, values))
    return Sequence(UNKNOWN, items)


@pytest.mark.parametrize(
    ("name", "call", "expected"),
    [
        ("zeros", given(Constant(2)), FP32),
        ("zeros", given(Constant(2), default="bfloat16"), BF16),
        ("zeros", given(Constant(2), dtype=BFLOAT16), BF16),
        ("zeros", given(Sequence(BOTTOM, ())), tensor("float32", scalar=True)),
        ("tensor", given(Constant(1.0)), tensor("float32", scalar=True)),
        ("tensor", given(Constant(True)), tensor("bool", scalar=True)),
        ("tensor", given(Constant(1j)), tensor("complex64", scalar=True)),
        ("tensor", given(numbers(1, 2)), INT),
        ("tensor", given(numbers(1, 2.0)), FP32),
        ("tensor", given(numbers()), FP32),
        ("tensor", given(numbers(1.0), dtype=Constant(None)), FP32),
        ("as_tensor", given(BF16), BF16),
        ("full", given(numbers(2), Constant(1)), INT),
        ("full", given(numbers(2), fill_value=Constant(1.0)), FP32),
        ("arange", given(Constant(4)), INT),
        ("arange", given(Constant(0), Constant(1), Constant(0.1)), FP32),
        ("arange", given(UNKNOWN), BOTH),
        ("randint", given(Constant(4), numbers(2)), INT),
        ("FloatTensor", given(Constant(2)), FP32),
        ("where", given(BF16), Sequence(INT)),
        ("where", given(tensor("bool"), Constant(1.0), Constant(0.0)), FP32),
        ("max", given(BF16, FP32), FP32),
        ("cat", given(Sequence(UNKNOWN, (BF16, FP32))), FP32),
        ("add", given(BF16, FP32, out=BF16), BF16),
        ("softmax", given(BF16, Constant(-1), Dtype(frozenset({"float64"}))), FP64),
        ("nn.functional.softmax", given(BF16, Constant(-1), region=HALF_REGION), FP32),
        ("nn.functional.linear", given(FP32, caller_chosen(), region=HALF_REGION), BF16),
        (
            "nn.functional.linear",
            given(FP64, FP64, region=HALF_REGION),
            tensor("float64", scalar=None),
        ),
        ("nn.functional.softmax", given(BF16, region=Region("cpu", BFLOAT16)), BF16),
        ("nn.init.normal_", given(BF16), BF16),
    ],
)
def test_functions(name: str, call: CallSite, expected: Value) -> None:
    assert functions.function(f"torch.{name}", call) == expected


@pytest.mark.parametrize(
    ("name", "receiver", "call", "expected"),
    [
        ("to", FP32, given(BFLOAT16), BF16),
        ("to", FP32, given(Constant("cuda"), BFLOAT16), BF16),
        ("to", FP32, given(BFLOAT16, Constant("cuda")), BF16),
        ("to", BF16, given(Constant("cuda")), BF16),
        ("to", BF16, given(Constant(0)), BF16),
        ("to", BF16, given(UNKNOWN), PARTLY_BF16),
        ("to", BF16, given(UNKNOWN, UNKNOWN), PARTLY_BF16),
        ("to", BF16, given(dtype=Constant(None)), BF16),
        ("to", FP32, given(BF16), BF16),
        ("to", FP32, given(other=BF16), BF16),
        ("to", Model(FP32), given(BFLOAT16), Model(BF16)),
        ("type", FP32, given(), NON_TENSOR),
        ("type", FP32, given(Constant("torch.cuda.HalfTensor")), tensor("float16")),
        ("type_as", FP32, given(BF16), BF16),
        ("view", FP32, given(Constant(-1)), FP32),
        ("view", FP32, given(BFLOAT16), BF16),
        ("double", tensor("int64", scalar=True), given(), tensor("float64", scalar=True)),
        ("sum", BF16, given(), tensor("bfloat16", scalar=True)),
        ("sum", BF16, given(Constant(-1)), tensor("bfloat16", scalar=None)),
        ("sum", BF16, given(Constant(1)), BF16),
        ("sum", BF16, given(Constant(-1), keepdim=Constant(True)), BF16),
        ("sum", OPEN, given(Constant(1), keepdim=Constant(True)), BF16),
        ("sum", OPEN, given(Constant(-1), keepdim=Constant(True)), OPEN),
        ("sum", BF16, given(dtype=UNKNOWN), Tensor(may_be_other=True, scalar=True)),
        ("topk", BF16, given(Constant(1)), Sequence(tensor("bfloat16", "int64"), (BF16, INT))),
        ("max", BF16, given(dim=Constant(1)), Sequence(tensor("bfloat16", "int64"), (BF16, INT))),
        ("max", BF16, given(), tensor("bfloat16", scalar=True)),
        ("addmm_", FP32, given(BF16, BF16, region=HALF_REGION), FP32),
        ("new_zeros", BF16, given(Constant(2)), BF16),
        ("numpy", BF16, given(), NON_TENSOR),
        ("no_such_method", BF16, given(), Tensor(may_be_other=True)),
    ],
)
def test_methods(name: str, receiver: Value, call: CallSite, expected: Value) -> None:
    assert functions.method(name, receiver, call) == expected


def test_a_float_of_what_is_unknown_is_chosen() -> None:
    found = functions.function("torch.exp", given(UNKNOWN))
    assert found == caller_chosen()
    assert isinstance(found, Tensor)
    assert found.origin is not None


def test_a_setting_names_a_dtype() -> None:
    first, second = (Origin(SOURCE, Span(0, 4), text) for text in ("base.yaml", "bf16.yaml"))
    setting = Setting((Choice("fp32", first), Choice("bf16", second)))
    found = functions.as_dtype(setting)
    assert found == Dtype(frozenset({"float32", "bfloat16"}), may_be_other=True)
    assert found.origin == second
    # What is not half is taken at its word.
    fixed = functions.as_dtype(Setting((Choice("fp32", first),)))
    assert fixed == Dtype(frozenset({"float32"}))
    assert functions.as_dtype(Setting((Choice("auto", first),))) == Dtype(may_be_other=True)


@pytest.mark.parametrize("name", ["bfloat16", "torch.bfloat16", "bf16"])
def test_strings_name_dtypes(name: str) -> None:
    assert functions.as_dtype(Constant(name)) == BFLOAT16
