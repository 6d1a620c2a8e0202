"""What older versions of Triton promote, as measured on them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.facts.triton.dtypes import combine, combine_with_number, promote
from precision_lint.facts.triton.interpreter import Interpreter
from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.module import Module
from precision_lint.facts.triton.values import Tensor
from precision_lint.rules import triton_half_accumulation
from precision_lint.source.text.text import SourceText
from tests.context import python_file
from tests.facts.triton import branches


def dtype(expression: str, version: tuple[int, int]) -> str:
    """The dtype of an expression of `b` (bf16), `h` (fp16) and `i` (int8), all blocks."""
    source = (
        "import triton\nimport triton.language as tl\n"
        f"@triton.jit\ndef kernel(b, h, i):\n    return {expression}\n"
    )
    module = Module(ast.parse(source), SourceText(Path("kernels.py"), source))
    names = {"b": "bf16", "h": "fp16", "i": "int8"}
    values = {name: Tensor(frozenset({dtype}), 1) for name, dtype in names.items()}
    found = Interpreter(module, version).run(module.functions["kernel"], values)
    assert isinstance(found, Tensor)
    (only,) = found.dtypes
    return only


@pytest.mark.parametrize(
    ("expression", "changed_in", "before", "after"),
    [
        ("b * 2.0", (3, 2), "fp32", "bf16"),
        ("b + 1", (3, 2), "fp32", "bf16"),
        ("h * 2.0", (3, 2), "fp32", "fp16"),
        ("b * 1e300", (3, 2), "fp64", "bf16"),
        ("tl.where(b > 0, b, 0.0)", (3, 2), "fp32", "bf16"),
        ("tl.sum(b, 0)", (3, 3), "fp32", "bf16"),
        ("tl.sum(i, 0)", (3, 3), "int8", "int32"),
        ("tl.maximum(b, 0.0)", (3, 9), "fp32", "bf16"),
        ("tl.maximum(h, 0.0)", (3, 9), "fp32", "fp16"),
        ("tl.clamp(b, 0.0, 1.0)", (3, 9), "fp32", "bf16"),
        ("tl.clamp(h, 0.0, 1.0)", (3, 9), "fp32", "fp16"),
        ("tl.fma(h, 2.0, h)", (3, 9), "fp32", "fp16"),
        ("tl.cumsum(b, 0)", (3, 9), "fp32", "bf16"),
    ],
)
def test_versions_differ(expression, changed_in, before, after):
    major, minor = changed_in
    assert dtype(expression, (major, minor - 1)) == before
    assert dtype(expression, changed_in) == after


@pytest.mark.parametrize("version", [(3, 0), (3, 5), (3, 9)])
def test_versions_agree(version):
    assert dtype("b / 2.0", version) == "fp32"
    assert dtype("b * h", version) == "fp16"
    assert dtype("b * i", version) == "fp32"
    assert dtype("h * i", version) == "fp16"
    assert dtype("tl.maximum(h, 0)", version) == "fp16"
    assert dtype("tl.fma(h, h, h)", version) == "fp16"
    assert dtype("tl.max(b, 0)", version) == "fp32"


@pytest.mark.parametrize("version", [(2, 0), (2, 2), (3, 0)])
@pytest.mark.parametrize("name", ["sum", "cumsum"])
def test_old_versions_widen_sums_of_bfloat16(name, version):
    assert dtype(f"tl.{name}(b, 0)", version) == "fp32"


@pytest.mark.parametrize("version", [(2, 0), (2, 2), (3, 0), (3, 9)])
@pytest.mark.parametrize("name", ["sum", "cumsum"])
def test_no_version_widens_sums_of_float16(name, version):
    assert dtype(f"tl.{name}(h, 0)", version) == "fp16"


@pytest.mark.parametrize("name", ["sum", "cumsum"])
@pytest.mark.parametrize(("version", "said"), [((2, 2), "float16"), ((3, 9), "half precision")])
def test_a_finding_says_if_it_is_about_float16_alone(name, version, said):
    source = (
        "import triton\nimport triton.language as tl\n"
        "@triton.jit\ndef kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) + tl.arange(0, BLOCK)\n"
        f"    tl.store(out_ptr + at, tl.{name}(tl.load(x_ptr + at), 0))\n"
    )
    text = SourceText(Path("kernels.py"), source)
    (kernel,) = find_kernels(ast.parse(source), text, version)
    (found,) = triton_half_accumulation.check_kernel(kernel, python_file(text))
    assert found.message == f"`tl.{name}` stays in {said}: convert to float32 first"


def test_a_literal_factor_fails_where_literals_promote():
    source = branches.source(branches.BRANCHES["literal factor"][0])

    def found(version: tuple[int, int]) -> list[str]:
        text = SourceText(Path("kernels.py"), source)
        kernels = find_kernels(ast.parse(source), text, version)
        return [r.subject for kernel in kernels for r in kernel.rejections]

    assert found((3, 1)) == ["x"]
    assert found((3, 2)) == []


def test_promotion_is_symmetric():
    for left in ("int1", "int8", "uint8", "int64", "fp16", "bf16", "fp32", "fp64", "fp8e5"):
        for right in ("int1", "int32", "uint32", "fp16", "bf16", "fp32", "fp64"):
            for division in (False, True):
                assert promote(left, right, division) == promote(right, left, division)


def test_sets_hold_every_outcome():
    assert combine(frozenset({"bf16", "fp32"}), frozenset({"fp16"})) == {"fp16", "fp32"}
    assert combine(frozenset({"fp8e5"}), frozenset({"int32"})) == set()
    number = frozenset({"fp32"})
    assert combine_with_number(frozenset({"bf16", "int32"}), number) == {"bf16", "fp32"}
    assert combine_with_number(frozenset({"bf16"}), number, division=True) == {"fp32"}
