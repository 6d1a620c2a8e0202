"""Promotion, operator by operator and dtype by dtype: torch is the oracle."""

from __future__ import annotations

import ast
import operator as python
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.dtypes._generated.promotion_table import PROMOTED
from precision_lint.facts.dtypes.domain.calls import Region
from precision_lint.facts.dtypes.domain.terms import Parameter, Term
from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    SOME_DTYPE,
    SOME_TENSOR,
    UNKNOWN,
    Constant,
    Dtype,
    ModelOutput,
    Sequence,
    Tensor,
    Value,
    Variable,
    caller_chosen,
    tensor,
)
from precision_lint.facts.dtypes.operators.promotion import compare, operator, promote, unary
from precision_lint.facts.dtypes.syntax.definitions import Function, Module
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText

OPERATORS: list[tuple[type[ast.operator], Callable[[Any, Any], Any]]] = [
    (ast.Add, python.add),
    (ast.Sub, python.sub),
    (ast.Mult, python.mul),
    (ast.Div, python.truediv),
    (ast.FloorDiv, python.floordiv),
    (ast.Mod, python.mod),
    (ast.Pow, python.pow),
    (ast.BitAnd, python.and_),
    (ast.BitOr, python.or_),
    (ast.BitXor, python.xor),
    (ast.LShift, python.lshift),
    (ast.RShift, python.rshift),
]
NUMBERS = (True, 2, 1.5, 1j)
REFUSED = (RuntimeError, TypeError, NotImplementedError)


def operands(torch: Any, dtype: str) -> list[tuple[Value, Any]]:
    """A tensor of a dtype with dimensions and one without, as we see them and as torch does."""
    ones = torch.ones(2).to(getattr(torch, dtype))
    return [(tensor(dtype), ones), (tensor(dtype, scalar=True), ones[0])]


@pytest.mark.parametrize("dtype", sorted(PROMOTED))
@pytest.mark.parametrize(("op", "function"), OPERATORS, ids=lambda value: value.__name__)
def test_operators(op: type[ast.operator], function: Callable[[Any, Any], Any], dtype: str) -> None:
    torch = pytest.importorskip("torch")
    others = [pair for other in PROMOTED for pair in operands(torch, other)]
    others += [(Constant(number), number) for number in NUMBERS]
    for left, ours in operands(torch, dtype):
        for right, theirs in others:
            for sides in ((left, right, ours, theirs), (right, left, theirs, ours)):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        result = function(*sides[2:])
                except REFUSED:
                    continue
                actual = str(result.dtype).removeprefix("torch.")
                found = operator(*sides[:2], op)
                assert found == tensor(actual, scalar=result.dim() == 0), sides[2:]


@pytest.mark.parametrize("default", ["bfloat16", "float16", "float64"])
def test_the_default_dtype(default: str) -> None:
    torch = pytest.importorskip("torch")
    torch.set_default_dtype(getattr(torch, default))
    try:
        for number in (1.5, 1j):
            result = str((torch.ones(2, dtype=torch.int64) * number).dtype)
            found = operator(tensor("int64"), Constant(number), ast.Mult, None, default)
            assert found == tensor(result.removeprefix("torch."))
    finally:
        torch.set_default_dtype(torch.float32)


def test_ranks_of_several_operands() -> None:
    torch = pytest.importorskip("torch")
    ints = torch.ones(2, dtype=torch.int64)
    wide, half = torch.tensor(1.0), torch.ones(2, dtype=torch.bfloat16)
    expected = torch.addcmul(ints.bfloat16(), wide, half).dtype
    found = promote([tensor("int64"), tensor("float32", scalar=True), tensor("bfloat16")])
    assert found == tensor(str(expected).removeprefix("torch."))


BF16, FP32, MAYBE = tensor("bfloat16"), tensor("float32"), tensor("float32", scalar=None)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(caller_chosen(), FP32, FP32, id="a proved float32 decides"),
        pytest.param(
            caller_chosen(),
            tensor("float32", scalar=True),
            caller_chosen(),
            id="but not if it is 0-d",
        ),
        pytest.param(caller_chosen(), tensor("int64"), caller_chosen(), id="integers never decide"),
        pytest.param(
            caller_chosen(), tensor("float16"), caller_chosen(), id="a half dtype does not decide"
        ),
        pytest.param(caller_chosen(), Constant(2.0), caller_chosen(), id="numbers never decide"),
        pytest.param(caller_chosen(), NON_TENSOR, caller_chosen(), id="nor do unknown numbers"),
        pytest.param(BF16, MAYBE, tensor("bfloat16", "float32"), id="a tensor that may be 0-d"),
        pytest.param(BF16, NON_TENSOR, BF16, id="arrays beside bfloat16 raise"),
        pytest.param(FP32, NON_TENSOR, tensor("float32", "float64"), id="an array may be float64"),
        pytest.param(
            BF16,
            UNKNOWN,
            Tensor(frozenset({"bfloat16"}), may_be_other=True),
            id="a number or a tensor",
        ),
        pytest.param(
            FP32,
            SOME_TENSOR,
            tensor("float32", "float64", "complex64", "complex128"),
            id="what float32 beside any tensor can be",
        ),
        pytest.param(BF16, SOME_TENSOR, SOME_TENSOR, id="nothing is known"),
        pytest.param(ModelOutput(BF16), Constant(2), BF16, id="what a model returned"),
        pytest.param(tensor("float8_e4m3fn"), FP32, SOME_TENSOR, id="torch raises"),
    ],
)
def test_what_is_not_exact(left: Value, right: Value, expected: Value) -> None:
    assert operator(left, right, ast.Mult) == expected
    assert operator(right, left, ast.Mult) == expected


@pytest.mark.parametrize(
    ("op", "device", "left", "expected"),
    [
        pytest.param(ast.MatMult, None, FP32, "bfloat16", id="matmul runs in the autocast dtype"),
        pytest.param(ast.MatMult, "cpu", FP32, "bfloat16", id="on CPU, too"),
        pytest.param(ast.MatMult, None, tensor("float64"), "float64", id="float64 is kept"),
        pytest.param(ast.Pow, "cuda", BF16, "float32", id="pow runs in float32 on CUDA"),
        pytest.param(ast.Pow, "cpu", BF16, "bfloat16", id="not so on CPU"),
        pytest.param(ast.Add, "cuda", BF16, "bfloat16", id="add is not on a list"),
    ],
)
def test_autocast(op: type[ast.operator], device: str | None, left: Tensor, expected: str) -> None:
    region = Region(device, Dtype(frozenset({"bfloat16"})))
    right = Constant(2) if op is ast.Pow else left
    found = operator(left, right, op, region)
    assert isinstance(found, Tensor)
    assert found.must_be(frozenset({expected}))


def test_autocast_whose_dtype_is_unknown() -> None:
    found = operator(BF16, BF16, ast.MatMult, Region("cuda", SOME_DTYPE))
    assert isinstance(found, Tensor)
    assert found.caller_chosen
    assert found.may_be(frozenset({"bfloat16"}))


def test_what_is_no_tensor() -> None:
    assert operator(NON_TENSOR, Constant(1), ast.Add) == NON_TENSOR
    assert operator(UNKNOWN, UNKNOWN, ast.Add) == UNKNOWN
    assert operator(Sequence(BF16), Constant(2), ast.Mult) == Sequence(BF16)


def test_unary_and_comparison() -> None:
    assert unary(BF16, ast.USub) == BF16
    assert unary(Constant(2), ast.USub) == Constant(-2)
    assert compare(BF16, Constant(1)) == tensor("bool")
    assert compare(MAYBE, Constant(1)) == tensor("bool", scalar=None)
    assert compare(UNKNOWN, Constant(1)) == UNKNOWN


def test_a_long_polynomial_does_not_keep_every_product_of_its_terms() -> None:
    """The spherical harmonics of a renderer have hundreds of products of some parameters."""
    module = Module(parse_python(SourceText(Path("/a.py"), "def f(): ...\n")))
    definition = module.top["f"]
    assert isinstance(definition, Function)
    terms = [Term(Parameter(definition, name)) for name in "abcdefghijklmnopqrstuvwx"]
    factors = [
        caller_chosen(given=Variable(frozenset(pair)))
        for pair in zip(terms[::2], terms[1::2], strict=True)
    ]
    product: Value = factors[0]
    for factor in factors[1:]:
        product = operator(product, factor, ast.Mult)
    assert isinstance(product, Tensor)
    assert product.caller_chosen
    assert len(product.clauses) <= 64
