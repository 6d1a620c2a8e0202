"""Which functions are kernels, what their parameters are, what a launch proves."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.facts.triton.kernels import Kernel, find_kernels
from precision_lint.facts.triton.remedies import Conversion
from precision_lint.source.text.text import SourceText

HALF = {"bf16", "fp16"}

SCALE = """
def scale({parameters}):
    offs = tl.arange(0, 64)
    x = tl.load(p + offs)
    if flag:
        x = x * s
    tl.store(p + offs, x)
"""


def kernels(source: str) -> tuple[Kernel, ...]:
    return find_kernels(ast.parse(source), SourceText(Path("kernels.py"), source))


def scale(parameters: str = "p, s, flag", launch: str = "", header: str = "") -> Kernel:
    (kernel,) = kernels(
        "import torch\nimport triton\nimport triton.language as tl\n"
        f"{header or '@triton.autotune(configs=[], key=[])'}\n@triton.jit"
        f"{SCALE.format(parameters=parameters)}\n{launch}"
    )
    return kernel


def fails(kernel: Kernel) -> set[str]:
    return set().union(*(rejection.fails_for for rejection in kernel.rejections))


@pytest.mark.parametrize(
    ("imports", "decorators", "language"),
    [
        ("import triton\nimport triton.language as tl", "@triton.jit", "tl"),
        (
            "import triton\nimport triton.language as tl",
            "@triton.jit(do_not_specialize=['s'])",
            "tl",
        ),
        ("import triton as t\nimport triton.language as lang", "@t.jit", "lang"),
        ("from triton import jit, language as tl", "@jit", "tl"),
        ("import triton\nfrom triton import language", "@triton.jit", "language"),
        ("import triton", "@triton.jit", "triton.language"),
        ("from mine.compat import tl, triton", "@triton.jit", "tl"),
        ("from .compat import triton, tl as lang", "@triton.jit", "lang"),
        (
            "try:\n    import triton\n    import triton.language as tl\nfinally:\n    pass",
            "@triton.jit",
            "tl",
        ),
        (
            "import triton\nimport triton.language as tl",
            "@triton.heuristics({'flag': lambda args: args['s'] != 1})\n@triton.jit",
            "tl",
        ),
    ],
)
def test_however_triton_is_imported(imports, decorators, language):
    body = SCALE.format(parameters="p, s, flag").replace("tl.", f"{language}.")
    source = f"{imports}\n{decorators}{body}\ndef f(x, y):\n    scale[(1,)](x, y, bool(y))\n"
    (kernel,) = kernels(source)
    (rejection,) = kernel.rejections
    assert (kernel.name, rejection.subject, rejection.fails_for) == ("scale", "x", HALF)
    assert isinstance(rejection.remedy, Conversion)
    assert rejection.remedy.dtype == f"{language}.float32"


def test_other_decorators_and_names_are_not_triton():
    assert kernels(f"import numba\n@numba.jit{SCALE.format(parameters='p, s, flag')}") == ()
    assert kernels(f"@triton.jit{SCALE.format(parameters='p, s, flag')}") == ()


def test_a_helper_is_no_kernel_of_its_own():
    source = "import triton\nimport triton.language as tl\n@triton.jit" + SCALE.format(
        parameters="p, s, flag"
    )
    assert kernels(source) == ()


def test_kinds_of_parameters():
    (kernel,) = kernels("""
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, index_ptr, n, eps, BLOCK: tl.constexpr, WIDE: "tl.constexpr", m: tl.int32,
           desc, other):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at, mask=at < n)
    x = tl.load(x_ptr + index) + eps + m + desc.load([0])
    tl.store(x_ptr + index, x)
""")
    assert {p.name: p.kind for p in kernel.parameters} == {
        "x_ptr": "pointer",
        "index_ptr": "pointer",
        "n": "scalar",
        "eps": "scalar",
        "BLOCK": "constexpr",
        "WIDE": "constexpr",
        "m": "scalar",
        "desc": "pointer",
        "other": "scalar",
    }
    bare = {p.name for p in kernel.parameters if p.annotation_at is not None}
    assert bare == {"x_ptr", "index_ptr", "n", "eps", "desc", "other"}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("p, s, flag", HALF),
        ("p, s, flag: tl.constexpr", set()),
        ("p, s: tl.constexpr, flag", set()),
        ("p, s: float, flag: bool", HALF),
        ("p, s: int, flag", {"bf16"}),
        ('p: "*fp32", s, flag', set()),
        ('p: "*bf16", s, flag', {*HALF, "fp32"}),
        ("p, s, flag, eps=1e-6", HALF),
    ],
)
def test_annotations(parameters, expected):
    assert fails(scale(parameters)) == expected


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        ("y = torch.empty(64)\n    scale[(1,)](y, 0.5, True)", set()),
        ("y = torch.empty(64, dtype=torch.float32)\n    scale[(1,)](y, 0.5, True)", set()),
        ("x = x.float()\n    scale[(1,)](x.contiguous(), 0.5, True)", set()),
        ("y = x.float()\n    scale[(1,)](y.contiguous(), 0.5, True)", set()),
        ("y = x.to(torch.bfloat16)\n    scale[(1,)](p=y, s=0.5, flag=True)", {*HALF, "fp32"}),
        ("y = torch.empty_like(x)\n    scale[(1,)](y, 0.5, True)", HALF),
        (
            "d = torch.float32\n    y = torch.zeros(4, dtype=d)\n    scale[(1,)](y, 0.5, x)",
            set(),
        ),
        ("y = x.half() if x.is_cuda else x.float()\n    scale[(1,)](y, 0.5, True)", HALF),
        (
            "y = x.view(-1)\n    y = y.t()\n    y = y.t()\n    y = y.t()\n    y = y.t()\n"
            "    scale[(1,)](y, 0.5, True)",
            HALF,
        ),
        ("scale[(1,)](*x)", HALF),
        ("scale[(1,)](x, 0.5, 1)", set()),
        ("scale[(1,)](x, 0.5, 1)\n    scale[(1,)](x, 0.5, 2)", HALF),
        ("scale[(1,)](x, 0.5, None)", set()),
        ("scale[(1,)](x, 1, True)", set()),
        ("scale[(1,)](x, 2, True)", {"bf16"}),
        ("scale[(1,)](x, x.numel(), True)", {"bf16"}),
    ],
)
def test_what_launches_prove(launch, expected):
    assert fails(scale(launch=f"def run(x):\n    {launch}\n")) == expected


@pytest.mark.parametrize(
    ("condition", "flag"),
    [
        ("flag", "flag"),
        ("not flag", "flag"),
        ("flag == 1", "flag"),
        ("s != 1.0", "s"),
        ("flag and s > 0", None),
        ("tl.program_id(0) == 0", None),
    ],
)
def test_the_flag_behind_a_condition(condition, flag):
    (kernel,) = kernels(
        "import triton\nimport triton.language as tl\n@triton.autotune([], [])\n@triton.jit"
        + SCALE.format(parameters="p, s, flag").replace("if flag", f"if {condition}")
    )
    (rejection,) = kernel.rejections
    assert (rejection.flag.name if rejection.flag else None) == flag


@pytest.mark.parametrize(
    "use",
    [
        "y = unknown(x)",
        "y = tl.dot(x[:, None], x[None, :])",
        "y = tl.load(p + offs, mask=x)",
        "y = x.to(tl.int16, bitcast=True)",
    ],
)
def test_uses_that_a_cast_could_disturb(use):
    source = SCALE.format(parameters="p, s, flag").replace("    if", f"    {use}\n    if")
    found = kernels(
        "import triton\nimport triton.language as tl\n@triton.autotune([], [])\n@triton.jit"
        + source
    )
    branches = [r for r in found[0].rejections if r.kind == "branch"]
    assert all(not isinstance(r.remedy, Conversion) or not r.remedy.is_safe for r in branches)


@pytest.mark.parametrize(
    ("pointer", "fails_for"),
    [
        ("x_ptr", HALF),
        ("grad", HALF),
        ("slope_ptr", HALF),
        ("positional", HALF),
        ("cu_seqlens", set()),
        ("seq_lens_ptr", set()),
        ("block_start_loc", set()),
        ("slot_mapping", set()),
        ("span_ends_ptr", set()),
        ("idx0", set()),
    ],
)
def test_what_is_called_like_a_count_may_be_one(pointer, fails_for):
    body = SCALE.replace("tl.load(p +", f"tl.load({pointer} +").replace("(p +", f"({pointer} +")
    (kernel,) = kernels(
        "import triton\nimport triton.language as tl\n@triton.autotune([], [])\n@triton.jit"
        + body.format(parameters=f"{pointer}, s, flag")
    )
    assert fails(kernel) == fails_for


def test_a_load_is_not_widened_where_that_breaks_something_else():
    source = SCALE.format(parameters="p, s, flag").replace(
        "    tl.store", "    for i in range(4):\n        x = tl.load(p + offs)\n    tl.store"
    )
    (kernel,) = kernels(
        "import triton\nimport triton.language as tl\n@triton.autotune([], [])\n@triton.jit"
        + source
    )
    (rejection,) = kernel.rejections
    assert isinstance(rejection.remedy, Conversion)
    assert not rejection.remedy.is_load
    assert not rejection.remedy.is_safe


@pytest.mark.parametrize(("wanted", "fails_for"), [("C", set()), ("D", HALF)])
def test_a_choice_holds_in_the_helpers_that_are_called_behind_it(wanted, fails_for):
    (kernel,) = kernels(f"""
import triton
import triton.language as tl

@triton.jit
def helper(x, s, WANTED: tl.constexpr):
    if WANTED:
        return x * s
    return x

@triton.autotune([], [])
@triton.jit
def one(p, s, C: tl.constexpr, D: tl.constexpr):
    if not C:
        tl.store(p, helper(tl.load(p), s, {wanted}))
""")
    assert fails(kernel) == fails_for


def test_what_a_helper_is_rejected_for_is_reported_once():
    found = kernels("""
import triton
import triton.language as tl

@triton.jit
def helper(x, s, flag):
    if flag:
        x = x * s
    return x

@triton.autotune([], [])
@triton.jit
def one(p, s, flag):
    tl.store(p, helper(tl.load(p), s, flag))

@triton.autotune([], [])
@triton.jit
def two(p, s, flag):
    tl.store(p, helper(tl.load(p), s, flag))
    tl.store(p, helper(tl.load(p), s, True))
""")
    assert [len(kernel.rejections) for kernel in found] == [1, 0]


def test_endless_helpers_end():
    (kernel,) = kernels("""
import triton
import triton.language as tl

@triton.jit
def deep(x):
    return deep(x) + deep(x)

@triton.autotune([], [])
@triton.jit
def kernel(p, flag):
    x = tl.load(p)
    for i in tl.static_range(4):
        for j in tl.static_range(4):
            for k in tl.static_range(4):
                x = deep(x)
    if flag:
        x = x * 1.5
""")
    assert kernel.rejections == ()


def test_deep_expressions_are_left_alone():
    source = (
        "import triton\nimport triton.language as tl\n@triton.autotune([], [])\n@triton.jit"
        + SCALE.format(parameters="p, s, flag").replace("x * s", "x" + " + s" * 2000)
    )
    assert kernels(source) == ()
