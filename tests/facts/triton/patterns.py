"""The 87 situations in which the type rules of Triton's front end were measured.

The kernel around them (see `KERNEL`) has `x`, a block loaded from the pointer `p` whose dtype
varies; `q` and `k`, pointers to float32 and int32; a float `s` and the ints `flag` and `n`, which
are run-time arguments; `nothing`, which is None; the compile-time `C` (true) and `FACTOR` (0.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

ALWAYS = frozenset({"bf16", "fp16", "fp32"})
HALF = ALWAYS - {"fp32"}
NEVER: frozenset[str] = frozenset()

KERNEL = """\
import triton
import triton.language as tl
{helper}

@triton.jit
def kernel(p, q, k, out, s, flag, n, nothing, C: tl.constexpr, FACTOR: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(p + at)
{body}
    tl.store(out + at, x)


def launch(p, out):
    import torch

    q = torch.empty(64, dtype=torch.float32)
    k = torch.empty(64, dtype=torch.int32)
    kernel[(1,)](p, q, k, out, 0.25, p.dim(), p.numel(), None, 1, 0.5)
"""

CONSTANTS = {"nothing": None, "C": 1, "FACTOR": 0.5}


def types(dtype: str) -> dict[str, str]:
    """The run-time parameters if `p` points to this dtype."""
    pointers = {"p": f"*{dtype}", "q": "*fp32", "k": "*i32", "out": f"*{dtype}"}
    return {**pointers, "s": "fp32", "flag": "i32", "n": "i32"}


@dataclass(frozen=True)
class Pattern:
    """Lines of a kernel, and of which family the refusal is for which dtypes of `p`."""

    body: str
    family: str = ""
    fails_for: frozenset[str] = NEVER
    helper: str = ""

    @property
    def source(self) -> str:
        """A module with a kernel around the lines, and its launch."""
        helper = f"\n\n@triton.jit\n{dedent(self.helper).strip()}\n" if self.helper else ""
        return KERNEL.format(helper=helper, body=indent(dedent(self.body).strip(), "    "))


RUN_TIME_BRANCHES = {
    "if_runtime_scalar_mul": Pattern("if flag:\n    x = x * s", "branch", HALF),
    "if_runtime_scalar_mul_aug": Pattern("if flag:\n    x *= s", "branch", HALF),
    "if_runtime_eq_zero": Pattern("if s != 0.0:\n    x = x * s", "branch", HALF),
    "if_runtime_program_id": Pattern("if tl.program_id(0) == 0:\n    x = x * s", "branch", HALF),
    "if_runtime_loaded_scalar": Pattern(
        "first = tl.load(q)\nif first > 0.0:\n    x = x * first", "branch", HALF
    ),
    "if_runtime_literal_float_mul": Pattern("if flag:\n    x = 3.0 * x"),
    "if_runtime_literal_int_mul": Pattern("if flag:\n    x = 3 * x"),
    "if_runtime_constexpr_float_mul": Pattern("if flag:\n    x = FACTOR * x"),
    "if_runtime_literal_div": Pattern("if flag:\n    x = x / 4.0", "branch", HALF),
    "if_runtime_to_fp32": Pattern("if flag:\n    x = x.to(tl.float32)", "branch", HALF),
    "if_runtime_mul_then_cast_back": Pattern("if flag:\n    x = (x * s).to(x.dtype)"),
    "if_runtime_cast_before": Pattern("x = x.to(tl.float32)\nif flag:\n    x = x * s"),
    "if_runtime_exp": Pattern("if flag:\n    x = tl.exp(x.to(tl.float32))", "branch", HALF),
    "if_runtime_inplace_rename_ok": Pattern(
        "if flag:\n    scaled = x * s\n    tl.store(out + at, scaled)"
    ),
    "if_elif_chain": Pattern(
        "if flag == 3:\n    x = x\nelif flag == 4:\n    x = x * s\nelse:\n    x = 2 + x",
        "branch",
        HALF,
    ),
    "if_nested_constexpr_in_runtime": Pattern(
        "if flag:\n    if C:\n        x = x * s", "branch", HALF
    ),
    "if_nested_runtime_in_constexpr": Pattern(
        "if C:\n    if flag:\n        x = x * s", "branch", HALF
    ),
    "if_constexpr_and_runtime": Pattern("if C and flag > 0:\n    x = x * s", "branch", HALF),
    "bool_and_runtime": Pattern("if (n > 0) & (flag > 0):\n    x = x * s", "branch", HALF),
    "where_instead_of_if": Pattern("x = tl.where(flag > 0, x * s, x)"),
    "if_else_both_promote": Pattern(
        "if flag:\n    x = x * s\nelse:\n    x = x.to(tl.float32)", "branch", HALF
    ),
    "if_else_only_else_promotes": Pattern(
        "if flag:\n    x = 2 + x\nelse:\n    x = x * s", "branch", HALF
    ),
    "if_runtime_with_return_redefine": Pattern(
        "if flag:\n    x = x * s\n    tl.store(out + at, x)\n    return", "branch", HALF
    ),
    "if_runtime_with_return_else_redefine": Pattern(
        "if flag:\n    return\nelse:\n    x = x * s", "branch", HALF
    ),
    "if_runtime_return_in_nested": Pattern(
        "if flag:\n    x = x * s\n    if flag > 2:\n        return", "branch", HALF
    ),
    "if_block_condition": Pattern("if x > 0:\n    x = x", "condition", ALWAYS),
}

COMPILE_TIME_BRANCHES = {
    "if_constexpr_scalar_mul": Pattern("if C:\n    x = x * s"),
    "if_constexpr_false_scalar_mul": Pattern("if not C:\n    x = x * s"),
    "if_constexpr_expr": Pattern("if C == 1:\n    x = x * s"),
    "if_is_none": Pattern("if nothing is not None:\n    x = x * s"),
}

OTHER_TYPES_IN_BRANCHES = {
    "if_runtime_int_to_int64": Pattern(
        "row = tl.program_id(0)\nif flag:\n    row = row.to(tl.int64) * 8\nx = x + row",
        "branch",
        ALWAYS,
    ),
    "if_runtime_int_literal_redefine": Pattern(
        "row = 0\nif flag:\n    row = tl.program_id(0)\nx = x + row"
    ),
    "if_runtime_float_literal_redefine_block": Pattern(
        "total = 0.0\nif flag:\n    total = tl.sum(x.to(tl.float32), 0)\nx = x + total"
    ),
    "if_runtime_float_literal_redefine_by_bf16": Pattern(
        "peak = 0.0\nif flag:\n    peak = tl.max(x, 0)\nx = x + peak"
    ),
    "if_runtime_scalar_to_block": Pattern(
        "extra = 0.0\nif flag:\n    extra = x.to(tl.float32)\nx = x + extra", "branch", ALWAYS
    ),
    "if_runtime_ptr_redefine": Pattern(
        "source = p\nif flag:\n    source = q\nx = x + tl.load(source)", "branch", HALF
    ),
    "tuple_in_branch": Pattern(
        "pair = (x, x)\nif flag:\n    pair = (x * s, x)\nx = pair[0]", "branch", HALF
    ),
}

NEW_IN_BRANCHES = {
    "if_else_new_var_mismatch": Pattern(
        "if flag:\n    y = x * s\nelse:\n    y = x\nx = y", "mismatch", HALF
    ),
    "if_else_new_var_int_float": Pattern(
        "if flag:\n    y = 3\nelse:\n    y = 4.0\nx = x + y", "mismatch", ALWAYS
    ),
    "if_else_new_var_none_vs_tensor": Pattern(
        "if flag:\n    y = x\nelse:\n    y = None\nx = x", "none", ALWAYS
    ),
    "if_then_only_new_var_used_after": Pattern("if flag:\n    y = x * s\nx = y", "name", ALWAYS),
    "if_then_only_new_var_unused": Pattern("if flag:\n    y = x * s\n    tl.store(out + at, y)"),
    "if_runtime_loss_ce_label": Pattern("""
        label = flag
        if label != -100:
            loss = tl.sum(x.to(tl.float32), 0)
        else:
            loss = 0.0
        tl.store(q, loss)
    """),
    "if_runtime_loss_bf16_vs_literal": Pattern("""
        label = flag
        if label != -100:
            loss = tl.max(x, 0)
        else:
            loss = 0.0
        tl.store(q, loss)
    """),
    "if_runtime_loss_int_literal": Pattern(
        """
        label = flag
        if label != -100:
            loss = tl.sum(x.to(tl.float32), 0)
        else:
            loss = 0
        tl.store(q, loss)
        """,
        "mismatch",
        ALWAYS,
    ),
}

LOOPS = {
    "for_acc_bf16_plus_fp32": Pattern(
        """
        acc = tl.zeros([64], dtype=tl.bfloat16)
        for i in range(0, n):
            acc += x.to(tl.float32)
        x = acc
        """,
        "loop",
        ALWAYS,
    ),
    "for_acc_fp32_plus_bf16_ok": Pattern("""
        acc = tl.zeros([64], dtype=tl.float32)
        for i in range(0, n):
            acc += x
        x = acc
    """),
    "for_acc_literal_float_plus_scalar_fp32": Pattern("""
        acc = 0.0
        for i in range(0, n):
            acc += tl.sum(x.to(tl.float32), 0)
        x = x + acc
    """),
    "for_acc_literal_float_plus_bf16_scalar": Pattern("""
        acc = 0.0
        for i in range(0, n):
            acc += tl.max(x, 0)
        x = x + acc
    """),
    "for_acc_literal_int_plus_float": Pattern(
        """
        acc = 0
        for i in range(0, n):
            acc += tl.sum(x.to(tl.float32), 0)
        x = x + acc
        """,
        "loop",
        ALWAYS,
    ),
    "for_acc_literal_float_plus_block": Pattern(
        """
        acc = 0.0
        for i in range(0, n):
            acc += x.to(tl.float32)
        x = x + acc
        """,
        "loop",
        ALWAYS,
    ),
    "for_max_neginf_bf16": Pattern("""
        peak = -float("inf")
        for i in range(0, n):
            peak = tl.maximum(peak, tl.max(x, 0))
        x = x + peak
    """),
    "for_max_neginf_fp32": Pattern("""
        peak = -float("inf")
        for i in range(0, n):
            peak = tl.maximum(peak, tl.max(x.to(tl.float32), 0))
        x = x + peak
    """),
    "for_online_softmax_bf16": Pattern("""
        peak = tl.full([1], -float("inf"), tl.float32)
        total = tl.zeros([1], tl.float32)
        for i in range(0, n):
            higher = tl.maximum(peak, tl.max(x, 0))
            total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher), 0)
            peak = higher
        x = total
    """),
    "for_x_scaled_in_loop": Pattern("for i in range(0, n):\n    x = x * s", "loop", HALF),
    "for_x_literal_scaled": Pattern("for i in range(0, n):\n    x = 0.25 * x"),
    "for_x_div_literal": Pattern("for i in range(0, n):\n    x = x / 4.0", "loop", HALF),
    "for_if_runtime_inside": Pattern(
        "for i in range(0, n):\n    if i > 5:\n        x = x * s", "branch", HALF
    ),
    "for_if_constexpr_inside": Pattern(
        "for i in range(0, n):\n    if C:\n        x = x * s", "loop", HALF
    ),
    "for_inner_var_defined_inside_ok": Pattern("""
        for i in range(0, n):
            y = tl.load(p + at)
            if C:
                y = y * s
            tl.store(out + at, y)
    """),
    "for_inner_var_runtime_if": Pattern(
        """
        for i in range(0, n):
            y = tl.load(p + at)
            if flag:
                y = y * s
            tl.store(out + at, y)
        """,
        "branch",
        HALF,
    ),
    "for_reuse_name_changes_dtype": Pattern(
        """
        y = tl.load(p + at)
        for i in range(0, n):
            y = tl.load(p + at).to(tl.float32)
            tl.store(out + at, y)
        """,
        "loop",
        HALF,
    ),
    "for_static_range": Pattern("for i in tl.static_range(0, 3):\n    x = x * s"),
    "for_range_constexpr_bounds": Pattern("for i in range(0, 3):\n    x = x * s", "loop", HALF),
    "for_tl_range": Pattern("for i in tl.range(0, n):\n    x = x * s", "loop", HALF),
    "for_ptr_int32_to_int64": Pattern(
        """
        start = 0
        for i in range(0, n):
            start += tl.program_id(0).to(tl.int64)
        x = tl.load(p + start + at)
        """,
        "loop",
        ALWAYS,
    ),
    "for_constexpr_reassign": Pattern(
        "SIZE: tl.constexpr = 64\nfor i in range(0, n):\n    SIZE = SIZE * 2\nx = x",
        "loop",
        ALWAYS,
    ),
    "for_constexpr_local_reassign": Pattern(
        "count = C\nfor i in range(0, n):\n    count = count + 1\nx = x + count"
    ),
    "for_tuple_carry": Pattern(
        """
        pair = (x, 0.0)
        for i in range(0, n):
            pair = (x * s, 1.0)
        x = pair[0]
        """,
        "loop",
        HALF,
    ),
    "while_acc": Pattern(
        """
        acc = tl.zeros([64], dtype=tl.bfloat16)
        i = 0
        while i < n:
            acc = acc + x * s
            i += 1
        x = acc
        """,
        "loop",
        ALWAYS,
    ),
    "while_counter_i64": Pattern(
        "i = 0\nwhile i < n:\n    i = i + tl.program_id(0).to(tl.int64)\nx = x", "loop", ALWAYS
    ),
    "while_x_scaled": Pattern("i = 0\nwhile i < n:\n    x = x * s\n    i += 1", "loop", HALF),
}

TERNARIES = {
    "tern_runtime_mismatch": Pattern("x = x * s if flag else x", "ternary", HALF),
    "tern_runtime_literal": Pattern("y = 3.0 if flag else 4\nx = x + y", "ternary", ALWAYS),
    "tern_runtime_scalar_bf16_vs_literal": Pattern("y = tl.max(x, 0) if flag else 0.0\nx = x + y"),
    "tern_constexpr": Pattern("x = x * s if C else x"),
}

HELPERS = {
    "helper_return_mismatch": Pattern(
        "x = scaled(x, s, flag)",
        "return",
        HALF,
        """
        def scaled(x, s, wanted):
            if wanted:
                return x * s
            return x
        """,
    ),
    "helper_return_mismatch_else": Pattern(
        "x = scaled(x, s, flag)",
        "return",
        HALF,
        """
        def scaled(x, s, wanted):
            if wanted:
                return x * s
            else:
                return x
        """,
    ),
    "helper_return_constexpr_if": Pattern(
        "x = scaled(x, s, C)",
        "return",
        HALF,
        """
        def scaled(x, s, WANTED: tl.constexpr):
            if WANTED:
                return x * s
            return x
        """,
    ),
    "helper_return_literal_vs_fp32": Pattern(
        "x = x + total(x, flag)",
        helper="""
        def total(x, wanted):
            if wanted:
                return tl.sum(x.to(tl.float32), 0)
            return 0.0
        """,
    ),
    "helper_return_literal_vs_bf16": Pattern(
        "x = x + peak(x, flag)",
        helper="""
        def peak(x, wanted):
            if wanted:
                return tl.max(x, 0)
            return 0.0
        """,
    ),
    "helper_return_in_loop": Pattern(
        "x = early(x, n)",
        "return in a loop",
        ALWAYS,
        """
        def early(x, n):
            for i in range(0, n):
                if i > 5:
                    return x
            return x
        """,
    ),
    "helper_return_none_vs_tensor": Pattern(
        "perhaps(x, flag)",
        helper="""
        def perhaps(x, wanted):
            if wanted:
                return x
        """,
    ),
    "helper_mul_promotes_caller_reassign_in_runtime_if": Pattern(
        "if flag:\n    x = scaled(x, s)",
        "branch",
        HALF,
        """
        def scaled(x, s):
            return s * x
        """,
    ),
    "helper_softcap_constexpr": Pattern(
        "if C:\n    x = scaled(x, s)",
        helper="""
        def scaled(x, s):
            return s * x
        """,
    ),
}

STORES = {
    "store_fp32_to_bf16": Pattern("tl.store(p + at, x.to(tl.float32))"),
    "store_fp32_to_int": Pattern("tl.store(k + at, x.to(tl.float32))"),
}

PATTERNS: dict[str, Pattern] = {
    **RUN_TIME_BRANCHES,
    **COMPILE_TIME_BRANCHES,
    **OTHER_TYPES_IN_BRANCHES,
    **NEW_IN_BRANCHES,
    **LOOPS,
    **TERNARIES,
    **HELPERS,
    **STORES,
}
