"""Bodies of kernels with a branch, and for which pointer dtypes Triton rejects the branch.

The kernel around them (see `KERNEL`) has `x`, a block loaded from the pointer `p` whose dtype
varies; a float `s`, a flag and an int `n` that are run-time arguments; `q`, a float32 pointer;
`nn`, which is None; the compile-time `C` (true) and `CF` (0.5).
"""

from __future__ import annotations

from textwrap import dedent, indent

HALF = {"bf16", "fp16"}
ALWAYS = {*HALF, "fp32"}
NEVER: set[str] = set()

KERNEL = """\
import torch
import triton
import triton.language as tl
{helpers}

@triton.jit
def kernel(p, q, o, s, flag, n, nn, C: tl.constexpr, CF: tl.constexpr):
    offs = tl.arange(0, 64)
    x = tl.load(p + offs)
{body}
    tl.store(o + offs, x)


def launch(p, o, scaled):
    q = torch.empty(64, dtype=torch.float32)
    kernel[(1,)](p, q, o, 0.5, bool(scaled), p.numel(), None, 1, 0.5)
"""

HELPERS = {
    "scaled": """
@triton.jit
def scaled(x, s):
    return x * s
""",
    "scaled_if": """
@triton.jit
def scaled_if(x, s, wanted):
    if wanted:
        x = x * s
    return x
""",
}

# name: (body, dtypes of p for which a branch is rejected)
BRANCHES: dict[str, tuple[str, set[str]]] = {
    # a variable that is there before the branch
    "times an argument": ("if flag:\n    x = s * x", HALF),
    "times an argument in place": ("if flag:\n    x *= s", HALF),
    "negated flag": ("if not flag:\n    x = x - s", HALF),
    "divided": ("if flag:\n    x = x / 2.0", HALF),
    "cast": ("if flag:\n    x = x.to(tl.float32)", HALF),
    "function": ("if flag:\n    x = tl.exp(x.to(tl.float32))", HALF),
    "reduction": ("if flag:\n    x = x - tl.max(x, 0)", HALF),
    "times an int argument": ("if flag:\n    x = x * n", {"bf16"}),
    "times a variable that holds a literal": ("k = 2.0\nif flag:\n    x = x * k", HALF),
    "times float32 elements": ("if flag:\n    x = x * tl.load(q)", HALF),
    "helper": ("if flag:\n    x = scaled(x, s)", HALF),
    "branch in a helper": ("x = scaled_if(x, s, flag)", HALF),
    "branch in a helper, decided": ("x = scaled_if(x, s, C)", NEVER),
    "branch in a helper, literal": ("x = scaled_if(x, s, True)", NEVER),
    "both blocks": ("if flag:\n    x = s * x\nelse:\n    x = x.to(tl.float32)", HALF),
    "else block": ("if flag:\n    x = x + 1\nelse:\n    x = s * x", HALF),
    "elif": (
        "if n == 0:\n    x = x + 1\nelif n == 1:\n    x = s * x\nelse:\n    x = x + 2",
        HALF,
    ),
    "last else": (
        "if n == 0:\n    x = x + 1\nelif n == 1:\n    x = x + 2\nelse:\n    x = s * x",
        HALF,
    ),
    "nested": ("if flag:\n    if n > 2:\n        x = s * x", HALF),
    "compile-time in run-time": ("if flag:\n    if C:\n        x = s * x", HALF),
    "run-time in compile-time": ("if C:\n    if flag:\n        x = s * x", HALF),
    "with a return": ("if flag:\n    x = s * x\n    tl.store(o + offs, x)\n    return", HALF),
    "return and else": ("if flag:\n    return\nelse:\n    x = s * x", HALF),
    "nested return": ("if flag:\n    x = s * x\n    if n > 1:\n        return", HALF),
    "in a loop": ("for i in range(0, n):\n    if i > 2:\n        x = s * x", HALF),
    "in a while": ("i = 0\nwhile i < n:\n    if flag:\n        x = s * x\n    i += 1", HALF),
    "defined in a loop": (
        "for i in range(0, n):\n    y = tl.load(p + offs)\n    if flag:\n        y = s * y\n"
        "    tl.store(o + offs, y)",
        HALF,
    ),
    "in an unrolled loop": (
        "for i in tl.static_range(0, 2):\n    if flag:\n        x = s * x",
        HALF,
    ),
    "tuple": ("t = (x, x)\nif flag:\n    t = (s * x, x)\nx = t[0]", HALF),
    "unpacked": ("y, z = x, x\nif flag:\n    y, z = s * x, x\nx = y + z", HALF),
    "bfloat16 by name": (
        "y = x.to(tl.bfloat16)\nif flag:\n    y = y * s\nx = y.to(x.dtype)",
        ALWAYS,
    ),
    "wider integer": (
        "r = tl.program_id(0)\nif flag:\n    r = r.to(tl.int64) * 2\nx = x + r",
        ALWAYS,
    ),
    "wider integer kept": (
        "r = tl.program_id(0).to(tl.int64)\nif flag:\n    r = r * 2 + n\nx = x + r",
        NEVER,
    ),
    "scalar to block": ("r = 0.0\nif flag:\n    r = x.to(tl.float32)\nx = x + r", ALWAYS),
    "block to scalar": ("r = offs\nif flag:\n    r = tl.sum(offs, 0)\nx = x + r", ALWAYS),
    "pointer to pointers": ("pp = p\nif flag:\n    pp = p + offs\nx = x + tl.load(pp)", ALWAYS),
    "other pointer": ("pp = p\nif flag:\n    pp = q\nx = x + tl.load(pp)", HALF),
    "same pointer moved": ("pp = p\nif flag:\n    pp += n\nx = x + tl.load(pp)", NEVER),
    "float over half elements": ("y = tl.load(p)\nif flag:\n    y = 0.0\nx = x + y", HALF),
    "half elements over float": ("y = 0.0\nif flag:\n    y = tl.load(p)\nx = x + y", HALF),
    "int over float": ("y = 0.0\nif flag:\n    y = 1\nx = x + y", ALWAYS),
    "sum of a mask": ("c = 0\nif flag:\n    c = tl.sum(offs < n, 0)\nx = x + c", ALWAYS),
    # types that stay
    "literal factor": ("if flag:\n    x = x * 2.0", NEVER),
    "int literal factor": ("if flag:\n    x = x * 2", NEVER),
    "compile-time factor": ("if flag:\n    x = x * CF", NEVER),
    "annotated local factor": ("k: tl.constexpr = 2.0\nif flag:\n    x = x * k", NEVER),
    "cast back": ("if flag:\n    x = (s * x).to(x.dtype)", NEVER),
    "cast back by pointer": ("if flag:\n    x = (s * x).to(p.dtype.element_ty)", NEVER),
    "cast before": ("x = x.to(tl.float32)\nif flag:\n    x = s * x", NEVER),
    "new name": ("if flag:\n    y = s * x\n    tl.store(o + offs, y)", NEVER),
    "where": ("x = tl.where(flag, s * x, x)", NEVER),
    "where in a branch": ("if flag:\n    x = tl.where(x > 0, x, 0.0)", NEVER),
    "maximum": ("if flag:\n    x = tl.maximum(x, 0.0)", NEVER),
    "same elements": ("if flag:\n    x = tl.load(p + offs + 64)", NEVER),
    "half elements as a factor": ("if flag:\n    x = x * tl.load(p)", NEVER),
    "literal over int": ("r = 0\nif flag:\n    r = tl.program_id(0)\nx = x + r", NEVER),
    "literal over sum": (
        "r = 0.0\nif flag:\n    r = tl.sum(x.to(tl.float32), 0)\nx = x + r",
        NEVER,
    ),
    "literal over maximum": ("r = 0.0\nif flag:\n    r = tl.max(x, 0)\nx = x + r", NEVER),
    "none before": ("y = None\nif flag:\n    y = s * x\nelse:\n    y = x * s\nx = x + 1", NEVER),
    # conditions
    "program id": ("if tl.program_id(0) == 0:\n    x = s * x", HALF),
    "pointer": ("if q:\n    x = s * x", HALF),
    "none for a pointer": ("if nn:\n    x = s * x", NEVER),
    "loaded scalar": ("t = tl.load(q)\nif t > 0:\n    x = t * x", HALF),
    "float argument": ("if s != 1.0:\n    x = s * x", HALF),
    "compile-time and run-time": ("if C and flag:\n    x = s * x", HALF),
    "run-time and compile-time": ("if n > 0 and C == 1:\n    x = s * x", HALF),
    "compile-time and run-time, else": (
        "if C and flag:\n    y = x\nelif not C:\n    x = x.to(tl.float32)",
        NEVER,
    ),
    "compile-time in compile-time and run-time": (
        "if C and flag:\n    if C:\n        y = x\n    else:\n        x = x * s",
        NEVER,
    ),
    "compile-time or run-time": ("if CF == 2 or flag:\n    x = s * x", HALF),
    "false and run-time": ("if False and flag:\n    x = s * x", NEVER),
    "bitwise": ("if (n > 0) & (n < 9):\n    x = s * x", HALF),
    "chained": ("if 0 < n < 9:\n    x = s * x", HALF),
    "assigned": ("wanted = n > 3\nif wanted:\n    x = s * x", HALF),
    "compile-time": ("if C:\n    x = s * x", NEVER),
    "not compile-time": ("if not C:\n    x = s * x", NEVER),
    "compile-time equality": ("if C == 1:\n    x = s * x", NEVER),
    "compile-time arithmetic": ("if C * 2 > 1:\n    x = s * x", NEVER),
    "is not None": ("if nn is not None:\n    x = s * x", NEVER),
    "is None": ("if nn is None:\n    x = s * x", NEVER),
    "dtype": (
        "if x.dtype == tl.float16:\n    x = x.to(tl.float32)\nif flag:\n    x = x + 1",
        NEVER,
    ),
    "dtype of a pointer": (
        "if p.dtype.element_ty == tl.bfloat16:\n    x = x.to(tl.float32)\nif flag:\n    x = s * x",
        {"fp16"},
    ),
    # a variable that is new in both blocks
    "new": ("if flag:\n    y = s * x\nelse:\n    y = x\nx = x + y", HALF),
    "new literals": ("if flag:\n    y = 1\nelse:\n    y = 2.0\nx = x + y", ALWAYS),
    "new int literal": (
        "if flag:\n    y = tl.sum(x.to(tl.float32), 0)\nelse:\n    y = 0\nx = x + y",
        ALWAYS,
    ),
    "new float literal": (
        "if flag:\n    y = tl.sum(x.to(tl.float32), 0)\nelse:\n    y = 0.0\nx = x + y",
        NEVER,
    ),
    "new maximum": ("if flag:\n    y = tl.max(x, 0)\nelse:\n    y = 0.0\nx = x + y", NEVER),
    "new half elements": ("if flag:\n    y = tl.load(p)\nelse:\n    y = 0.0\nx = x + y", HALF),
    "new float32 elements": ("if flag:\n    y = tl.load(q)\nelse:\n    y = 0.0\nx = x + y", NEVER),
    "new, compile-time": ("if C:\n    y = s * x\nelse:\n    y = x\nx = x + y", NEVER),
    "new in a nested branch": (
        "if flag:\n    if n > 1:\n        y = s * x\n    else:\n        y = x\n"
        "    x = (x + y).to(x.dtype)",
        HALF,
    ),
}


def source(body: str) -> str:
    """A module with a kernel around `body`, and its launch."""
    helpers = "\n".join(text for name, text in HELPERS.items() if f"{name}(" in body)
    return KERNEL.format(helpers=helpers, body=indent(dedent(body), "    "))
