"""Bodies of kernels that compile and still go wrong, and what the compiler can say of them.

The kernel around them (see `KERNEL`) has `x`, a block loaded from the pointer `p` whose dtype
varies; `s` and `t`, run-time arguments that a launch passes as floats; a flag, and the ints `n` and
`stride`; and `o`, a pointer of the dtype of `p`.
"""

from __future__ import annotations

from textwrap import indent

HALF = {"bf16", "fp16"}
ALWAYS = {*HALF, "fp32"}
NEVER: set[str] = set()

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def add(left, right):
    return left + right


@triton.jit
def larger(left, right):
    return tl.maximum(left, right)


@triton.jit
def kernel(p, o, s, t, flag, n, stride, C: tl.constexpr):
    offs = tl.arange(0, 64)
    x = tl.load(p + offs)
{body}


def launch(p, o, s: float, t: float, n, stride):
    kernel[(1,)](p, o, s, t, True, n, stride, 1)
"""


def source(body: str) -> str:
    return KERNEL.format(body=indent(body, "    "))


# name: (what is computed, dtypes of p for which it is computed in half precision)
SUMS: dict[str, tuple[str, set[str]]] = {
    "sum": ("tl.sum(x, 0)", HALF),
    "sum of a method": ("x.sum(0)", HALF),
    "sum along an axis that stays": ("tl.sum(x, axis=0, keep_dims=True)", HALF),
    "cumsum": ("tl.cumsum(x, 0)", HALF),
    "cumprod": ("tl.cumprod(x, 0)", HALF),
    "reduction": ("tl.reduce(x, 0, add)", HALF),
    "scan": ("tl.associative_scan(x, 0, add)", HALF),
    "products": ("tl.sum(x * x, 0)", HALF),
    "of a literal factor": ("tl.sum(2.0 * x, 0)", HALF),
    "two loads": ("tl.sum(x * tl.load(o + offs), 0)", HALF),
    "to float16": ("tl.sum(x.to(tl.float16), 0)", ALWAYS),
    "rounded products": ("tl.sum((x.to(tl.float32) * s).to(tl.bfloat16), 0)", ALWAYS),
    "converted": ("tl.sum(x.to(tl.float32), 0)", NEVER),
    "with a dtype": ("tl.sum(x, 0, dtype=tl.float32)", NEVER),
    "times an argument": ("tl.sum(x * s, 0)", NEVER),
    "a quotient": ("tl.sum(x / 2.0, 0)", NEVER),
    "extremum": ("tl.max(x, 0)", NEVER),
    "a mask": ("tl.sum((x > 0).to(tl.int32), 0)", NEVER),
}

# name: body of a loop that adds to `acc`, dtypes of p for which that is half precision
ACCUMULATORS: dict[str, tuple[str, set[str]]] = {
    "float16": (
        "acc = tl.zeros([64], dtype=tl.float16)\n"
        "for i in range(n):\n    acc += tl.load(p + i * 64 + offs).to(tl.float16)",
        ALWAYS,
    ),
    "like the elements": (
        "acc = tl.zeros([64], dtype=x.dtype)\n"
        "for i in range(n):\n    acc = acc + tl.load(p + i * 64 + offs)",
        HALF,
    ),
    "starts with a load": (
        "acc = x\nfor i in range(n):\n    acc += tl.load(p + i * 64 + offs)",
        HALF,
    ),
    "float32": (
        "acc = tl.zeros([64], dtype=tl.float32)\n"
        "for i in range(n):\n    acc += tl.load(p + i * 64 + offs)",
        NEVER,
    ),
}

# name: (body, the parameters that are float64 in it, is it refused then)
DOUBLES: dict[str, tuple[str, list[str], bool]] = {
    "carried by a loop": (
        "m = 0.0\nfor i in range(n):\n    m = tl.maximum(m, tl.max(x * s, 0))\ntl.store(o, m)",
        ["s"],
        True,
    ),
    "an accumulator": (
        "acc = tl.zeros([64], dtype=tl.float32)\n"
        "for i in range(n):\n    acc += s * x\ntl.store(o + offs, acc)",
        ["s"],
        True,
    ),
    "in a branch": (
        "y = x.to(tl.float32)\nif flag:\n    y = y * s\ntl.store(o + offs, y)",
        ["s"],
        True,
    ),
    "of an if expression": (
        "y = x.to(tl.float32)\ntl.store(o + offs, y * s if flag else y)",
        ["s"],
        True,
    ),
    "a function of float32": ("tl.store(o + offs, tl.math.sqrt_rn(x * s))", ["s"], True),
    "a block": ("tl.store(o + offs, x * s)", ["s"], False),
    "two of them": ("tl.store(o + offs, x * s + t)", ["s", "t"], False),
    "selected": ("tl.store(o + offs, tl.where(x > 0, x, s))", ["s"], False),
    "a function": ("tl.store(o + offs, tl.exp(x * s))", ["s"], False),
    "one of them pinned": (
        "s = tl.cast(s, tl.float32)\ntl.store(o + offs, x * s + t)",
        ["t"],
        False,
    ),
    "pinned": ("y = x * tl.cast(s, tl.float32)\ntl.store(o + offs, y)", [], False),
    "only with scalars": ("tl.store(o, s * t)", [], False),
    "as a bound": ("tl.store(o + offs, x, mask=x > s)", [], False),
}

# name: (body with an `offset` that addresses memory, is it int32)
OFFSETS: dict[str, tuple[str, bool]] = {
    "row": ("row = tl.program_id(0)\noffset = row * stride\ntl.store(o + offset + offs, x)", True),
    "row of a block": (
        "row = tl.program_id(0) * 4 + 1\noffset = stride * row\ntl.store(o + offset + offs, x)",
        True,
    ),
    "wide row": (
        "row = tl.program_id(0).to(tl.int64)\noffset = row * stride\n"
        "tl.store(o + offset + offs, x)",
        False,
    ),
    "wide stride": (
        "row = tl.program_id(0)\noffset = row * stride.to(tl.int64)\n"
        "tl.store(o + offset + offs, x)",
        False,
    ),
    "wide part": (
        "row = tl.program_id(0)\noffset = row.to(tl.int64) * stride + tl.program_id(1) * stride\n"
        "tl.store(o + offset + offs, x)",
        False,
    ),
}

# name: what is computed, with a number that Triton converts to the dtype of p
NUMBERS: dict[str, str] = {
    "factor": "x * {}",
    "factor in front": "{} * x",
    "summand": "x + {}",
    "difference": "{} - x",
    "lower bound": "tl.maximum(x, {})",
    "selected": "tl.where(offs < n, x, {})",
    "compared": "x < {}",
    "compared in front": "{} > x",
    "of a sum": "tl.sum(x, 0) * {}",
}
VALUES = (
    *("0.0", "1.0", "0.1", "1e-5", "1e-6", "6e-7", "4e-7", "1e-7", "3e-8", "1e-8", "-1e-8"),
    *("1e-12", "65504.0", "65519.0", "65520.0", "65536", "100000", "1e10", "-1e9", "3.3e38"),
    "3.4e38",
)

# name: a product with blocks `x2` of p and `w2` of a float32 pointer, does it lose digits for every
# dtype of p
PRODUCTS: dict[str, tuple[str, bool]] = {
    "float32": ("tl.dot(w2, w2)", True),
    "scaled": ("tl.dot(x2 * s, x2 * s)", True),
    "probabilities": ("tl.dot(tl.exp(x2 * s), x2.to(tl.float32))", True),
    "transposed": ("tl.dot(tl.trans(w2), w2, acc=w2)", True),
    "shifted": ("tl.dot(x2.to(tl.float32) + 0.1, x2.to(tl.float32))", True),
    "converted": ("tl.dot(x2.to(tl.float32), x2.to(tl.float32))", False),
    "converted and transposed": ("tl.dot(tl.trans(x2.to(tl.float32)), x2.to(tl.float32))", False),
    "converted float8": ("tl.dot(x2.to(tl.float8e5).to(tl.float32), x2.to(tl.float32))", False),
    "converted int8": ("tl.dot(w2.to(tl.int8).to(tl.float32), x2.to(tl.float32))", False),
    "elements": ("tl.dot(x2, x2)", False),
    "float16": ("tl.dot(w2.to(tl.float16), w2.to(tl.float16))", False),
    "ieee": ('tl.dot(w2, w2, input_precision="ieee")', False),
    "by position": ('tl.dot(w2, w2, None, "ieee")', False),
    "not allowed": ("tl.dot(w2, w2, allow_tf32=False)", False),
}
