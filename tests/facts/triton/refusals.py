"""Bodies of kernels with loops, functions, products and helpers, and what Triton makes of them.

The kernel around them is that of `branches`, with blocks of two dimensions beside: `x2` and `y2` of
the pointer `p`, `f2` of the float32 pointer `q`; `c`, a scalar of `p`.
"""

from __future__ import annotations

from textwrap import dedent, indent

from tests.facts.triton.branches import ALWAYS, HALF, NEVER

KERNEL = """\
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
{helpers}

@triton.jit
def kernel(p, q, o, s, flag, n, nn, C: tl.constexpr, CF: tl.constexpr):
    offs = tl.arange(0, 64)
    x = tl.load(p + offs)
    c = tl.load(p)
    at = offs[:, None] * 64 + offs[None, :]
    x2 = tl.load(p + at)
    y2 = tl.load(p + at + 1)
    f2 = tl.load(q + at)
{body}
    tl.store(o + offs, x)


def launch(p, o, scaled):
    q = torch.empty(64, dtype=torch.float32)
    kernel[(1,)](p, q, o, 0.5, bool(scaled), p.numel(), None, 1, 0.5)
"""

HELPERS = {
    "two_returns": """
@triton.jit
def two_returns(x, s, wanted):
    if wanted:
        return x * s
    return x
""",
    "either_return": """
@triton.jit
def either_return(x, s, wanted):
    if wanted:
        return x * s
    else:
        return x
""",
    "early_return": """
@triton.jit
def early_return(x, s, WANTED: tl.constexpr):
    if WANTED:
        return x * s
    return x
""",
    "decided_return": """
@triton.jit
def decided_return(x, s, WANTED: tl.constexpr):
    if WANTED:
        return x * s
    else:
        return x
""",
    "literal_return": """
@triton.jit
def literal_return(x, wanted):
    if wanted:
        return tl.sum(x.to(tl.float32), 0)
    return 0.0
""",
    "number_return": """
@triton.jit
def number_return(x, wanted):
    if wanted:
        return tl.sum(x.to(tl.float32), 0)
    return 0
""",
    "tuple_return": """
@triton.jit
def tuple_return(x, s, wanted):
    if wanted:
        return x * s, x
    return x, x
""",
    "looping_return": """
@triton.jit
def looping_return(x, n):
    for i in range(0, n):
        if i > 3:
            return x
    return x
""",
    "doubled": """
@triton.jit
def doubled(x):
    return tl.exp(x) * 2
""",
}

# name: (body, kind, dtypes of p for which Triton refuses it)
Table = dict[str, tuple[str, str, set[str]]]

LOOPS: Table = {
    "bf16 accumulator": (
        "a = tl.zeros([64], dtype=tl.bfloat16)\nfor i in range(0, n):\n    a += x.to(tl.float32)",
        "loop",
        ALWAYS,
    ),
    "fp16 accumulator": (
        "a = tl.full([64], 0.0, tl.float16)\nfor i in range(0, n):\n    a = a + s * x",
        "loop",
        ALWAYS,
    ),
    "accumulator like the elements": (
        "a = tl.zeros([64], dtype=x.dtype)\nfor i in range(0, n):\n    a += s * x",
        "loop",
        HALF,
    ),
    "accumulator for tl.dot": (
        "a = tl.zeros([64, 64], dtype=tl.float16)\nfor i in range(0, n):\n    a += tl.dot(x2, y2)",
        "loop",
        ALWAYS,
    ),
    "fp32 accumulator": (
        "a = tl.zeros([64], dtype=tl.float32)\nfor i in range(0, n):\n    a += x",
        "loop",
        NEVER,
    ),
    "scaled": ("for i in range(0, n):\n    x = s * x", "loop", HALF),
    "scaled in place": ("for i in range(0, n):\n    x *= s", "loop", HALF),
    "divided": ("for i in range(0, n):\n    x = x / 2.0", "loop", HALF),
    "halved": ("for i in range(0, n):\n    x = x * 0.5", "loop", NEVER),
    "constant bounds": ("for i in range(0, 4):\n    x = s * x", "loop", HALF),
    "compile-time bounds": ("for i in range(C):\n    x = s * x", "loop", HALF),
    "tl.range": ("for i in tl.range(0, n, num_stages=2):\n    x = s * x", "loop", HALF),
    "static_range": ("for i in tl.static_range(0, 4):\n    x = s * x", "loop", NEVER),
    "static_range around a loop": (
        "for i in tl.static_range(0, 2):\n    for j in range(0, n):\n        x = s * x",
        "loop",
        HALF,
    ),
    "while": ("i = 0\nwhile i < n:\n    x = s * x\n    i += 1", "loop", HALF),
    "while counter": (
        "i = 0\nwhile i < n:\n    i += tl.program_id(0).to(tl.int64) + 1",
        "loop",
        ALWAYS,
    ),
    "nested": ("for i in range(0, n):\n    for j in range(0, n):\n        x = s * x", "loop", HALF),
    "compile-time branch": ("for i in range(0, n):\n    if C:\n        x = s * x", "loop", HALF),
    "compile-time else": (
        "for i in range(0, n):\n    if C:\n        x = s * x\n    else:\n        x = x + 1",
        "loop",
        HALF,
    ),
    "decided branch": (
        "for i in range(0, n):\n    if nn is not None:\n        x = s * x",
        "loop",
        NEVER,
    ),
    "new in the body": (
        "for i in range(0, n):\n    y = tl.load(p + offs)\n    y = s * y\n    x += y.to(x.dtype)",
        "loop",
        NEVER,
    ),
    "name used again": (
        "y = tl.load(p + offs)\nfor i in range(0, n):\n    y = tl.load(p + offs).to(tl.float32)\n"
        "    tl.store(o + offs, y)",
        "loop",
        HALF,
    ),
    "int and floats": (
        "a = 0\nfor i in range(0, n):\n    a += tl.sum(x.to(tl.float32), 0)\nx = x + a",
        "loop",
        ALWAYS,
    ),
    "float and floats": (
        "a = 0.0\nfor i in range(0, n):\n    a += tl.sum(x.to(tl.float32), 0)\nx = x + a",
        "loop",
        NEVER,
    ),
    "float and block": (
        "a = 0.0\nfor i in range(0, n):\n    a += x.to(tl.float32)",
        "loop",
        ALWAYS,
    ),
    "running maximum": (
        'm = -float("inf")\nfor i in range(0, n):\n    m = tl.maximum(m, tl.max(x, 0))\nx = x + m',
        "loop",
        NEVER,
    ),
    "wider offset": (
        "k = 0\nfor i in range(0, n):\n    k += tl.program_id(0).to(tl.int64)\nx = x + k",
        "loop",
        ALWAYS,
    ),
    "offset by the index": ("k = 0\nfor i in range(0, n):\n    k += i\nx = x + k", "loop", NEVER),
    "the index itself": (
        "i = tl.program_id(0).to(tl.int64)\nfor i in range(0, n):\n    x = x + 1",
        "loop",
        NEVER,
    ),
    "pointer moved": (
        "pp = p + offs\nfor i in range(0, n):\n    x += tl.load(pp)\n    pp += 64",
        "loop",
        NEVER,
    ),
    "tuple": ("t = (x, x)\nfor i in range(0, n):\n    t = (s * x, x)\nx = t[0]", "loop", HALF),
    "unpacked": ("y, z = x, x\nfor i in range(0, n):\n    y, z = s * y, z\nx = z", "loop", HALF),
    "compile-time value": (
        "k: tl.constexpr = 2\nfor i in range(0, n):\n    k = k * 2",
        "loop",
        ALWAYS,
    ),
    "compile-time parameter": ("for i in range(0, n):\n    C = C + 1", "loop", ALWAYS),
    "none": ("y = None\nfor i in range(0, n):\n    y = x", "loop", ALWAYS),
    "cast back": ("for i in range(0, n):\n    x = (s * x).to(x.dtype)", "loop", NEVER),
    "also in tl.dot": (
        "for i in range(0, n):\n    f2 += tl.dot(x2, y2)\n    x2 = x2 * s\nx = x + tl.sum(f2, 0)",
        "loop",
        HALF,
    ),
    "float bounds": ("for i in range(0, s):\n    x = x + 1", "argument", ALWAYS),
}

MATH: Table = {
    "exp": ("x = tl.exp(x)", "math", HALF),
    "exp of a scalar": ("x = x + tl.exp(c)", "math", HALF),
    "exp of a sum": ("x = tl.exp(x + 1.0)", "math", HALF),
    "method": ("x = x.exp()", "math", HALF),
    "sigmoid": ("x = x * tl.sigmoid(x)", "math", HALF),
    "tl.math": ("x = tl.math.rsqrt(x)", "math", HALF),
    "sqrt_rn": ("x = tl.sqrt_rn(x)", "math", HALF),
    "div_rn": ("x = tl.div_rn(x, x)", "math", HALF),
    "div_rn of two dtypes": ("f2 = tl.div_rn(x2, f2)", "math", HALF),
    "fdiv": ("x = tl.fdiv(x, x)", "math", NEVER),
    "libdevice": ("x = libdevice.tanh(x)", "math", HALF),
    "libdevice of two": ("x = libdevice.pow(x, 2.0)", "math", HALF),
    "libdevice, fast": ("x = libdevice.fast_expf(x)", "math", HALF),
    "libdevice, fast, of float32": ("x = libdevice.fast_expf(x.to(tl.float32))", "math", NEVER),
    "libdevice of float32": ("x = libdevice.tanh(x.to(tl.float32))", "math", NEVER),
    "of an int": ("x = x + tl.exp(offs)", "math", ALWAYS),
    "of a float argument": ("x = x + tl.exp(s)", "math", NEVER),
    "of promoted": ("x = tl.exp(x - tl.max(x, 0)) + tl.log(x * s) + tl.sin(x / 2)", "math", NEVER),
    "of bfloat16": ("x = tl.exp(x.to(tl.bfloat16))", "math", ALWAYS),
    "in a branch": ("if flag:\n    y = tl.exp(x)\n    tl.store(o + offs, y)", "math", HALF),
    "in an argument": ("x = tl.where(x > 0, x, tl.exp(x))", "math", HALF),
    "in a helper": ("x = doubled(x)", "math", HALF),
    "in a helper, widened": ("x = doubled(x.to(tl.float32))", "math", NEVER),
    "softmax": ("x = tl.softmax(x) + tl.abs(x)", "math", NEVER),
    "tested dtype": (
        "if x.dtype == tl.float32:\n    x = tl.exp(x)\nelse:\n    x = tl.exp(x.to(tl.float32))",
        "math",
        NEVER,
    ),
    "atomic_max": ("tl.atomic_max(p + offs, x)", "atomic", HALF),
    "atomic_xchg": ("tl.atomic_xchg(p + offs, x)", "atomic", HALF),
    "atomic_add": ("tl.atomic_add(p + offs, x)", "atomic", NEVER),
    "bitcast": ("x = x.to(tl.int32, bitcast=True)", "bitcast", HALF),
    "narrow bitcast": ("x = x.to(tl.int16, bitcast=True)", "bitcast", {"fp32"}),
    "zeros without dtype": ("y = tl.zeros([64])", "argument", ALWAYS),
}

PRODUCTS: Table = {
    "same": ("f2 = tl.dot(x2, y2)", "dot", NEVER),
    "float32 and elements": ("f2 = tl.dot(f2, x2)", "dot", HALF),
    "elements and float32": ("f2 = tl.dot(x2, f2)", "dot", HALF),
    "scaled": ("f2 = tl.dot(x2 * s, y2)", "dot", HALF),
    "probabilities": ("m = tl.softmax(tl.dot(x2, y2))\nf2 = tl.dot(m, y2)", "dot", HALF),
    "probabilities cast": (
        "m = tl.softmax(tl.dot(x2, y2))\nf2 = tl.dot(m.to(y2.dtype), y2)",
        "dot",
        NEVER,
    ),
    "bfloat16 by name": ("f2 = tl.dot(x2.to(tl.bfloat16), f2)", "dot", ALWAYS),
    "int32": ("f2 = tl.dot(x2.to(tl.int32), y2.to(tl.int32))", "dot", ALWAYS),
    "int8": ("f2 = tl.dot(x2.to(tl.int8), y2.to(tl.int8))", "dot", NEVER),
    "transposed": ("f2 = tl.dot(tl.trans(x2), y2)", "dot", NEVER),
    "bf16 out": ("f2 = tl.dot(x2, y2, out_dtype=tl.bfloat16)", "dot", ALWAYS),
    "fp16 out": ("f2 = tl.dot(x2, y2, out_dtype=tl.float16)", "dot", NEVER),
    "bf16 accumulator": (
        "a = tl.zeros([64, 64], dtype=tl.bfloat16)\nf2 = tl.dot(x2, y2, a)",
        "dot",
        ALWAYS,
    ),
    "bf16 accumulator on the spot": (
        "f2 = tl.dot(x2, y2, acc=tl.zeros([64, 64], tl.bfloat16))",
        "dot",
        ALWAYS,
    ),
    "fp32 accumulator": ("f2 = tl.dot(x2, y2, f2)", "dot", NEVER),
    "accumulator and out": ("f2 = tl.dot(x2, y2, f2, out_dtype=tl.float16)", "dot", ALWAYS),
}

RETURNS: Table = {
    "two returns": ("x = two_returns(x, s, flag)", "return", HALF),
    "two returns, decided": ("x = two_returns(x, s, C == 1)", "return", HALF),
    "either return": ("x = either_return(x, s, flag)", "return", HALF),
    "early return": ("x = early_return(x, s, C)", "return", HALF),
    "decided return": ("x = decided_return(x, s, C)", "return", NEVER),
    "float literal": ("x = x + literal_return(x, flag)", "return", NEVER),
    "int literal": ("x = x + number_return(x, flag)", "return", ALWAYS),
    "tuples": ("x, y = tuple_return(x, s, flag)", "return", HALF),
    "widened": ("x = two_returns(x.to(tl.float32), s, flag)", "return", NEVER),
    "in a loop": ("x = looping_return(x, n)", "return in a loop", ALWAYS),
    "in a loop of the kernel": (
        "for i in range(0, n):\n    if flag:\n        return",
        "return in a loop",
        ALWAYS,
    ),
    "in an unrolled loop": (
        "for i in tl.static_range(0, 2):\n    if flag:\n        return",
        "return in a loop",
        NEVER,
    ),
    "ternary": ("x = s * x if flag else x", "ternary", HALF),
    "ternary, other side": ("x = x if flag else x.to(tl.float32)", "ternary", HALF),
    "ternary of literals": ("x = x + (1.0 if flag else 0)", "ternary", ALWAYS),
    "ternary of a scalar": ("x = x + (tl.max(x, 0) if flag else 0.0)", "ternary", NEVER),
    "ternary, compile-time": ("x = s * x if C else x", "ternary", NEVER),
    "ternary with a cast": ("x = (s * x).to(x.dtype) if flag else x", "ternary", NEVER),
    "block and scalar": ("x = x + (f2 if flag else 0.0)", "ternary", ALWAYS),
    "in one block only": ("if flag:\n    y = s * x\nx = y", "name", ALWAYS),
    "in a loop only": ("for i in range(0, n):\n    y = s * x\nx = y", "name", ALWAYS),
    "none in a block": ("if flag:\n    y = x\nelse:\n    y = None", "none", ALWAYS),
    "block as a condition": ("if x > 0:\n    x = x + 1", "condition", ALWAYS),
}

REFUSALS: Table = {
    f"{kind}: {name}": row
    for kind, table in (
        ("loop", LOOPS),
        ("math", MATH),
        ("dot", PRODUCTS),
        ("return", RETURNS),
    )
    for name, row in table.items()
}


def source(body: str) -> str:
    """A module with a kernel around `body`, and its launch."""
    helpers = "\n".join(text for name, text in HELPERS.items() if f"{name}(" in body)
    return KERNEL.format(helpers=helpers, body=indent(dedent(body), "    "))
