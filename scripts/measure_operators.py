"""Measure result dtypes by running torch, and write `precision_lint/dtypes/operators.py`.

    python scripts/measure_operators.py

Every expression runs on CPU with `x` in bfloat16, float32, int64 and bool. What comes out is the
class of the operator; autocast's lists are read from the header that the torch wheel carries.
Re-run it with a newer torch to bring the table up to date.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F

TARGET = Path(__file__).resolve().parent.parent / "precision_lint" / "dtypes" / "operators.py"

# One call of each operator on `x` of shape [2, 4]; `i` are int64 class ids, `m` a bool mask.
EXPRESSIONS = """
x.abs() x.neg() x.sign() x.exp() x.exp2() x.expm1() x.log() x.log2() x.log10() x.log1p()
x.sqrt() x.rsqrt() x.reciprocal() x.square() x.sin() x.cos() x.tan() x.tanh() x.asin() x.acos()
x.atan() x.sinh() x.cosh() x.sigmoid() x.relu() x.erf() x.erfc() x.floor() x.ceil() x.round()
x.trunc() x.frac() x.logit() x.softmax(-1) x.log_softmax(-1) x.sum() x.nansum() x.mean()
x.nanmean() x.prod() x.std() x.var() x.amax() x.amin() x.norm() x.logsumexp(-1) x.cumsum(-1)
x.cumprod(-1) x.median() x.logcumsumexp(-1) x.diff() x.clone() x.detach() x.contiguous()
x.flatten() x.ravel() x.squeeze() x.t() x.transpose(0,1) x.permute(1,0) x.movedim(0,1)
x.swapaxes(0,1) x.view(-1) x.reshape(-1) x.unsqueeze(0) x.expand(2,4) x.expand_as(x)
x.repeat(2,2) x.repeat_interleave(2) x.tile(2) x.flip(0) x.roll(1) x.tril() x.triu()
x.diagonal() x.diag() x.clamp(0,1) x.clamp_min(0) x.clamp_max(1) x.clip(0,1) x.masked_fill(m,0)
x.masked_select(m) x.gather(1,ix) x.index_select(0,ix0) x.take_along_dim(ix,1) x.narrow(0,0,1)
x.select(0,0) x.unfold(1,2,1) x.view_as(x) x.reshape_as(x) x.cpu() x.requires_grad_(False)
x.detach_() x.zero_() x.fill_(1) x.copy_(x) x.nan_to_num() x.lerp(x,0.5) x.pow(2) x.add(x)
x.sub(x) x.mul(x) x.div(x) x.true_divide(x) x.floor_divide(2) x.remainder(2) x.fmod(2)
x.maximum(x) x.minimum(x) x.matmul(x.t()) x.mm(x.t()) x.new_zeros(2) x.new_ones(2)
x.new_empty(2) x.new_full((2,),1) x.unique() x.bernoulli() x.any() x.all() x.isnan() x.isinf()
x.isfinite() x.eq(0) x.lt(0) x.gt(0) x.ge(0) x.le(0) x.ne(0) x.logical_not() x.logical_and(x)
x.logical_or(x) x.argmax() x.argmin() x.argsort() x.nonzero() x.count_nonzero() x.numel()
x.size() x.dim() x.tolist() x.element_size() x.stride() x.is_floating_point() x.float()
x.double() x.half() x.bfloat16() x.long() x.int() x.short() x.bool() x.byte() x.char()
x.type_as(x) torch.zeros_like(x) torch.ones_like(x) torch.empty_like(x) torch.full_like(x,1)
torch.rand_like(x) torch.randn_like(x) torch.cat([x,x]) torch.stack([x,x]) torch.hstack([x,x])
torch.vstack([x,x]) torch.concat([x,x]) torch.einsum("ij,kj->ik",x,x) torch.outer(x[0],x[0])
torch.bmm(x[None],x.t()[None]) torch.atan2(x,x) torch.hypot(x,x) torch.logaddexp(x,x)
torch.cosine_similarity(x,x) torch.multinomial(x.abs()+1,1) torch.searchsorted(x,x)
torch.bucketize(x,x[0]) torch.kron(x,x) torch.tensordot(x,x,dims=([1],[1])) torch.cov(x)
torch.rsqrt(x) F.softmax(x,-1) F.log_softmax(x,-1) F.gelu(x) F.silu(x) F.relu(x) F.elu(x)
F.leaky_relu(x) F.softplus(x) F.mish(x) F.hardtanh(x) F.logsigmoid(x) F.dropout(x)
F.layer_norm(x,(4,)) F.rms_norm(x,(4,)) F.normalize(x) F.cross_entropy(x,i) F.nll_loss(x,i)
F.mse_loss(x,x) F.l1_loss(x,x) F.smooth_l1_loss(x,x) F.huber_loss(x,x) F.kl_div(x,x)
F.binary_cross_entropy_with_logits(x,x) F.cosine_similarity(x,x) F.pairwise_distance(x,x)
F.pad(x,(1,1)) F.interpolate(x[None],size=8) F.linear(x,x) F.one_hot(i,4) F.gumbel_softmax(x)
F.scaled_dot_product_attention(x[None],x[None],x[None])
"""
INPUTS = (torch.bfloat16, torch.float32, torch.int64, torch.bool)


def dtype_name(value: object) -> str:
    if isinstance(value, (tuple, list)) and value and isinstance(value[0], torch.Tensor):
        value = value[0]
    if isinstance(value, torch.Tensor):
        return str(value.dtype).removeprefix("torch.")
    return "python"


def measure(expression: str) -> list[str]:
    """The result dtype for each of INPUTS; "error" where torch raises."""
    results = []
    for dtype in INPUTS:
        scope = {
            "torch": torch,
            "F": F,
            "x": torch.tensor([[1, 0, 1, 1], [0, 1, 1, 0]], dtype=dtype),
            "i": torch.tensor([0, 1]),
            "ix": torch.tensor([[0], [1]]),
            "ix0": torch.tensor([0]),
            "m": torch.tensor([[True, False, True, False]] * 2),
        }
        try:
            results.append(dtype_name(eval(expression, scope)))
        except (RuntimeError, TypeError, IndexError, ValueError):
            results.append("error")
    return results


def classify(results: list[str]) -> str | None:
    """One word for the row: a fixed dtype, `python`, `same`, `sum`, `float`; None if it is none.

    `sum` keeps floats and turns integers into int64, `float` turns them into float32 or raises.
    """
    match results:
        case ["error", *_]:
            return None
        case [bf16, fp32, _, _] if bf16 == fp32:
            return bf16
        case ["bfloat16", "float32", "int64", "bool" | "error"]:
            return "same"
        case ["bfloat16", "float32", "int64", "int64"]:
            return "sum"
        case ["bfloat16", "float32", "float32" | "error", _]:
            return "float"
    return None


def autocast_list(macro: str) -> list[str]:
    header = Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
    body = re.search(rf"#define {macro}\(_\)((?:.*\\\n)*.*)", header.read_text())
    assert body, macro
    return sorted(set(re.findall(r"_\((\w+)", body.group(1))))


def main() -> None:
    warnings.simplefilter("ignore")
    table: dict[str, str] = {}
    for expression in EXPRESSIONS.split():
        match = re.match(r"(?:x|torch|F)\.(\w+)\(", expression)
        assert match, expression
        kind = classify(measure(expression))
        if kind is not None:
            table.setdefault(match.group(1), kind)
    low = autocast_list("AT_FORALL_LOWER_PRECISION_FP")
    wide = autocast_list("AT_FORALL_FP32") + autocast_list("AT_FORALL_FP32_SET_OPT_DTYPE")
    lines = [
        '"""Result dtypes of torch operators by name, measured.',
        "",
        f"Written by scripts/measure_operators.py with torch {torch.__version__.split('+')[0]}:",
        "do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
        "",
        "RESULT: Mapping[str, str] = {",
        *(f'    "{name}": "{kind}",' for name, kind in sorted(table.items())),
        "}",
        '"""`same` as the input; `sum`: floats the same, integers int64; `float`: floats the same,',
        'integers float32 or an error; `python`: no tensor; else the dtype itself."""',
        "",
        "AUTOCAST_LOWER: frozenset[str] = frozenset(",
        "    {",
        *(f'        "{name}",' for name in low),
        "    }",
        ")",
        '"""Run in the autocast dtype on CUDA (ATen/autocast_mode.h)."""',
        "",
        "AUTOCAST_FLOAT32: frozenset[str] = frozenset(",
        "    {",
        *(f'        "{name}",' for name in sorted(set(wide))),
        "    }",
        ")",
        '"""Run in float32 on CUDA (ATen/autocast_mode.h)."""',
        "",
    ]
    TARGET.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
