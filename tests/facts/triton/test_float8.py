"""What becomes of float8 elements, held against the compiler, machine code included."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.language import NEWEST, Version
from precision_lint.facts.triton.rejections import ReportedError
from precision_lint.fixers import triton
from precision_lint.model.finding import apply_edits
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText
from tests.facts.triton.compiling import Job, verdicts

FLOAT8 = {"fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}

KERNEL = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel(p, h, f, o, s, flag, n):
    offs = tl.arange(0, 64)
    at = offs[:, None] * 64 + offs[None, :]
    x, x2 = tl.load(p + offs), tl.load(p + at)
    half, half2 = tl.load(h + offs), tl.load(h + at)
    wide, wide2 = tl.load(f + offs), tl.load(f + at)
    found = {expression}
    tl.store(o + {place}, found)


def launch(x, h, f, out):
    import torch

    f = torch.empty(64, 64, dtype=torch.float32)
    kernel[(1,)](x.to(torch.{dtype}), h.half(), f.float(), out.float(), 0.5, x.dim(), x.numel())
"""

ACCEPTED = {
    "converted": "x.to(tl.float32) * 2.0",
    "converted to half": "x.to(tl.float16) + half",
    "argument": "x * s",
    "half": "x * half",
    "float32": "x + wide",
    "quotient": "x / x",
    "selected": "tl.where(wide > 0, x, x)",
    "extremum": "tl.max(x, 0) + wide",
    "difference to a maximum": "x - tl.max(x, 0)",
    "softmax": "tl.softmax(x)",
    "sum in float32": "tl.sum(x, 0, dtype=tl.float32) + wide",
    "function of float32": "tl.exp(x * s)",
    "product": "tl.dot(x2, x2)",
    "product in float16": "tl.dot(x2.to(tl.float16), half2)",
    "ternary": "x if flag else x",
    "asked": "x.to(tl.float32) * 2.0 if x.dtype.is_fp8() else x * 2.0",
    "rounded": "wide.to(x.dtype)",
}

# name: (expression, kind, is there a remedy)
REFUSED = {
    "square": ("x * x", "float8", True),
    "sum of two": ("x + x", "float8", True),
    "literal factor": ("x * 2.0", "float8", True),
    "literal in front": ("1.0 - x", "float8", True),
    "negative": ("-x", "float8", True),
    "total": ("tl.sum(x, 0) + wide", "float8", True),
    "cumulative": ("tl.cumsum(x, 0)", "float8", True),
    "rounded in the kernel": ("wide.to(tl.float8e5) * wide.to(tl.float8e5)", "float8", True),
    "factor of an integer": ("x * tl.program_id(0)", "float8", True),
    "masked by a product": ("(offs < 9) * x", "float8", True),
    "exp": ("tl.exp(x)", "math", True),
    "sigmoid": ("tl.sigmoid(x)", "math", True),
    "libdevice": ("libdevice.tanh(x)", "math", True),
    "product with half": ("tl.dot(x2, half2)", "dot", True),
    "half with it": ("tl.dot(half2, x2)", "dot", True),
    "product with float32": ("tl.dot(x2, wide2)", "dot", False),
    "atomic": ("tl.atomic_add(p + offs, x) * s", "atomic", False),
    "ternary of two": ("x if flag else wide", "ternary", True),
    "wrong bits": ("x.to(tl.float16, bitcast=True)", "bitcast", False),
}


def source(expression: str, dtype: str) -> str:
    place = "at" if "dot(" in expression else "offs"
    return KERNEL.format(expression=expression, place=place, dtype=FLOAT8[dtype])


def rejections(text: str, version: Version = NEWEST) -> list[ReportedError]:
    file = SourceText(Path("kernels.py"), text)
    tree = parse_python(file).tree
    return [r for kernel in find_kernels(tree, file, version) for r in kernel.rejections]


def repaired(text: str) -> str:
    for _ in range(4):
        fixes = [fix for r in rejections(text) if (fix := triton.fix(r.remedy)) is not None]
        text = apply_edits(text, fixes[0].edits) if fixes else text
    return text


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], str]:
    """The compiler's words by expression, state and dtype."""
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("float8")
    keys, jobs = [], []
    expressions = [*ACCEPTED.items(), *((name, row[0]) for name, row in REFUSED.items())]
    for name, expression in expressions:
        for dtype in FLOAT8:
            written = source(expression, dtype)
            for state, text in (("as written", written), ("repaired", repaired(written))):
                path = folder / f"kernel_{len(jobs)}.py"
                path.write_text(text.partition("\n\n\ndef launch(")[0])
                types = {"p": f"*{dtype}", "h": "*fp16", "f": "*fp32", "o": "*fp32", "s": "fp32"}
                types |= {"flag": "i32", "n": "i32"}
                keys.append((name, state, dtype))
                jobs.append(Job(str(path), "kernel", types, {}, wants="machine code"))
    return dict(zip(keys, verdicts(jobs, folder), strict=True))


@pytest.mark.parametrize("dtype", FLOAT8)
@pytest.mark.parametrize("name", ACCEPTED)
def test_what_compiles(name, dtype, compiled):
    assert compiled[name, "as written", dtype] == ""
    assert rejections(source(ACCEPTED[name], dtype)) == []


@pytest.mark.parametrize("dtype", FLOAT8)
@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not(name, dtype, compiled):
    expression, kind, has_remedy = REFUSED[name]
    found = rejections(source(expression, dtype))
    assert {rejection.kind for rejection in found} == {kind}
    assert all(r.always and r.is_of_float8 and bool(r.remedy) == has_remedy for r in found)
    error = compiled[name, "as written", dtype]
    words = (
        found[0].compiler_message.removeprefix("KeyError: ").replace("[...]", "").split("types")[0]
    )
    assert words in error or "aborts" in error
    assert (compiled[name, "repaired", dtype] == "") == has_remedy
    assert (rejections(repaired(source(expression, dtype))) == []) == has_remedy


@pytest.mark.parametrize("version", [(3, 3), (3, 5), (3, 7)])
def test_quotients_stay_float8_in_older_versions(version):
    text = source("tl.exp(x / x)", "fp8e5")
    assert rejections(text) == []
    assert [r.after for r in rejections(text, version)] == ["fp8e5[...]"]


def test_a_flag_may_know_what_is_float8():
    text = source("x * 2.0 if FLAG else x * s", "fp8e5").replace("flag,", "FLAG: tl.constexpr,")
    (rejection,) = rejections(text)
    assert rejection.is_conditional


@pytest.mark.parametrize(
    ("argument", "is_float8"),
    [
        ("x.to(torch.float8_e4m3fn)", True),
        ("x.to(torch.float8_e4m3fnuz).contiguous()", True),
        ("torch.empty(64, dtype=torch.float8_e5m2fnuz)", True),
        ("x.to(torch.float8_e5m2).view(-1)", True),
        ("x.to(torch.float8_e5m2).view(torch.uint8)", False),
        ("x.to(torch.float8_e5m2).view(storage_dtype)", False),
        ("x.view(torch.float8_e5m2)", True),
        ("x", False),
    ],
)
def test_what_launches_show(argument, is_float8):
    text = source("x * x", "fp8e5").replace("x.to(torch.float8_e5m2)", argument)
    assert bool(rejections(text)) == is_float8
