"""Measure result dtypes by running torch, and write the tables of `precision_lint/facts/dtypes`.

    python scripts/measure_operators.py

Every expression runs as a function of torch and as a method, with operands of all dtypes, of mixed
dtypes, of no dimension, and under autocast. What autocast does on CUDA is read from the record of
`measure_cuda.py` and from the lists in torch's own headers. Re-run it with a newer torch to bring
`operators.py` and `promotion_table.py` up to date.
"""

from __future__ import annotations

import ast
import inspect
import json
import logging
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from precision_lint.facts.dtypes.operators.signature import Operator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "precision_lint/facts/dtypes/_generated"
CUDA_RECORD = ROOT / "tests/facts/dtypes/cuda_operators.json"

# x, y, z can be operands; w has the dtype of x and is none; i and j are indices; m is a mask.
EXPRESSIONS = """
abs(x) absolute(x) neg(x) negative(x) positive(x) sign(x) sgn(x) signbit(x) exp(x) exp2(x) expm1(x)
log(x) log2(x) log10(x) log1p(x) sqrt(x) rsqrt(x) reciprocal(x) square(x) sin(x) cos(x) tan(x)
tanh(x) asin(x) acos(x) atan(x) arcsin(x) arccos(x) arctan(x) sinh(x) cosh(x) asinh(x) acosh(x)
atanh(x) arcsinh(x) arccosh(x) arctanh(x) sinc(x) sigmoid(x) relu(x) erf(x) erfc(x) erfinv(x)
floor(x) ceil(x) round(x) trunc(x) fix(x) frac(x) logit(x) deg2rad(x) rad2deg(x) lgamma(x)
digamma(x) i0(x) angle(x) conj(x) resolve_conj(x) resolve_neg(x) conj_physical(x) nan_to_num(x)
bitwise_not(x) logical_not(x) isnan(x) isinf(x) isfinite(x) isposinf(x) isneginf(x) isreal(x)
frexp(x) mvlgamma(x,1) polygamma(1,x) add(x,y) sub(x,y) subtract(x,y) mul(x,y) multiply(x,y)
div(x,y) divide(x,y) true_divide(x,y) floor_divide(x,y) remainder(x,y) fmod(x,y) pow(x,y)
float_power(x,y) maximum(x,y) minimum(x,y) fmax(x,y) fmin(x,y) atan2(x,y) arctan2(x,y) hypot(x,y)
logaddexp(x,y) logaddexp2(x,y) copysign(x,y) nextafter(x,y) heaviside(x,y) xlogy(x,y) ldexp(x,y)
dist(x,y) rsub(x,y) gcd(x,y) lcm(x,y) bitwise_and(x,y) bitwise_or(x,y) bitwise_xor(x,y)
bitwise_left_shift(x,y) bitwise_right_shift(x,y) logical_and(x,y) logical_or(x,y) logical_xor(x,y)
eq(x,y) ne(x,y) lt(x,y) le(x,y) gt(x,y) ge(x,y) greater(x,y) less(x,y) equal(x,y) isclose(x,y)
allclose(x,y) not_equal(x,y) greater_equal(x,y) less_equal(x,y) isin(x,y) addcmul(x,y,z)
addcdiv(x,y,z) lerp(x,y,z) where(m,x,y) clamp(x,y,z) clip(x,y,z) clamp_min(x,y) clamp_max(x,y)
sum(x) nansum(x) mean(x) nanmean(x) prod(x) std(x) var(x) std_mean(x) var_mean(x) amax(x) amin(x)
aminmax(x) norm(x) logsumexp(x,-1) cumsum(x,-1) cumprod(x,-1) cummax(x,-1) cummin(x,-1)
logcumsumexp(x,-1) median(x) nanmedian(x) quantile(x,0.5) nanquantile(x,0.5) diff(x) trapz(x)
trapezoid(x) cumulative_trapezoid(x) max(x) min(x) argmax(x) argmin(x) any(x) all(x)
count_nonzero(x) sort(x) topk(x,1) kthvalue(x,1) mode(x) argsort(x) msort(x) histc(x) trace(x)
renorm(x,2,0,1.0) gradient(x) histogram(x) clone(x) detach(x) contiguous(x) flatten(x) ravel(x)
squeeze(x) t(x) transpose(x,0,1) adjoint(x) permute(x,(1,0)) movedim(x,0,1) moveaxis(x,0,1)
swapaxes(x,0,1) swapdims(x,0,1) view(x,-1) reshape(x,-1) unsqueeze(x,0) expand(x,4,4) expand_as(x,w)
broadcast_to(x,(4,4)) repeat(x,2,2) repeat_interleave(x,2) tile(x,(2,)) flip(x,(0,)) fliplr(x)
flipud(x) roll(x,1) rot90(x) tril(x) triu(x) diagonal(x) diag(x) diag_embed(x) diagflat(x)
masked_fill(x,m,0) masked_select(x,m) masked_scatter(x,m,y) gather(x,1,j) index_select(x,0,i)
index_fill(x,0,i,0) index_add(x,0,i,y) index_copy(x,0,i,y) index_put(x,(i,),y[0]) scatter(x,1,j,y)
scatter_add(x,1,j,y) scatter_reduce(x,1,j,y,"sum") select_scatter(x,y[0],0,0) slice_scatter(x,y)
take(x,i) take_along_dim(x,j,1) narrow(x,0,0,1) narrow_copy(x,0,0,1) select(x,0,0) unfold(x,1,2,1)
view_as(x,w) reshape_as(x,w) cpu(x) requires_grad_(x,False) data_ptr(x) retain_grad(x) pin_memory(x)
share_memory_(x) as_strided(x,(2,2),(2,1)) unflatten(x,0,(2,2)) atleast_1d(x) atleast_2d(x)
atleast_3d(x) split(x,2) chunk(x,2) unbind(x) tensor_split(x,2) hsplit(x,2) vsplit(x,2)
split_with_sizes(x,[2,2]) unsafe_chunk(x,2) unsafe_split(x,2) dsplit(x[...,None],1)
meshgrid(x[0],x[0]) broadcast_tensors(x,w) cartesian_prod(x[0],x[0]) combinations(x[0])
block_diag(x,x) cat([x,y]) concat([x,y]) concatenate([x,y]) stack([x,y]) hstack([x,y]) vstack([x,y])
dstack([x,y]) row_stack([x,y]) column_stack([x,y]) nonzero(x) argwhere(x) to_dense(x) to_sparse(x)
coalesce(x) is_floating_point(x) is_complex(x) is_contiguous(x) numel(x) size(x) dim(x)
ndimension(x) stride(x) element_size(x) tolist(x) item(x[0,0]) storage_offset(x) is_nonzero(x[0,0])
is_same_size(x,w) get_device(x) nelement(x) new_zeros(x,2) new_ones(x,2) new_empty(x,2)
new_full(x,(2,),1) new_tensor(x,[1.0]) zeros_like(x) ones_like(x) empty_like(x) full_like(x,1)
rand_like(x) randn_like(x) randint_like(x,4) bernoulli(x*0) multinomial(x,1) poisson(x) unique(x)
unique_consecutive(x) bincount(i)  searchsorted(x,y) bucketize(x,y[0]) matmul(x,y)
mm(x,y) mv(x,y[0]) bmm(x[None],y[None]) dot(x[0],y[0]) vdot(x[0],y[0])  outer(x[0],y[0])
ger(x[0],y[0]) addmm(x,y,z) addmv(x[0],y,z[0]) addr(x,y[0],z[0]) addbmm(x,y[None],z[None])
baddbmm(x[None],y[None],z[None]) chain_matmul(x,y) kron(x,y) einsum("ij,jk->ik",x,y)
tensordot(x,y,1) cross(x[:3,:3],y[:3,:3]) cdist(x,y)   matrix_power(x,2)
matrix_exp(x) det(x) logdet(x) slogdet(x) inverse(x) pinverse(x) cholesky(x) qr(x) svd(x)
vander(x[0]) pdist(x) cosine_similarity(x,y) pairwise_distance(x,y) bilinear(x,x,y[None])
cholesky_solve(x,y) cholesky_inverse(x) orgqr(x,y[0]) triangular_solve(x,y) lu(x) linalg.norm(x)
linalg.vector_norm(x) linalg.matrix_norm(x) linalg.inv(x) linalg.pinv(x) linalg.det(x)
linalg.slogdet(x) linalg.solve(x,y) linalg.lstsq(x,y) linalg.cholesky(x) linalg.qr(x) linalg.svd(x)
linalg.svdvals(x) linalg.eig(x) linalg.eigh(x) linalg.eigvals(x) linalg.eigvalsh(x)
linalg.matrix_rank(x) linalg.matrix_power(x,2) linalg.cond(x) linalg.multi_dot([x,y])
linalg.cross(x[:3,:3],y[:3,:3]) linalg.vecdot(x,y) linalg.matmul(x,y) linalg.diagonal(x)
linalg.matrix_exp(x) linalg.inv_ex(x) linalg.lu(x) linalg.solve_triangular(x,y,upper=True)
linalg.householder_product(x,y[0]) linalg.tensorinv(x[None,:,:,None],ind=2) linalg.vander(x)
fft.fft(x) fft.ifft(x) fft.rfft(x) fft.irfft(x) fft.fft2(x) fft.ifft2(x) fft.rfft2(x) fft.irfft2(x)
fft.fftn(x) fft.ifftn(x) fft.rfftn(x) fft.irfftn(x) fft.fftshift(x) fft.ifftshift(x) fft.hfft(x)
fft.ihfft(x) stft(x[0],4,return_complex=True) istft(x,6) complex(x,y) polar(x,y) real(x) imag(x)
view_as_real(x) view_as_complex(x[...,:2]) special.expit(x) special.logit(x) special.erf(x)
special.erfc(x) special.erfinv(x) special.erfcx(x) special.log_softmax(x,-1) special.softmax(x,-1)
special.logsumexp(x,-1) special.xlogy(x,y) special.xlog1py(x,y) special.entr(x) special.exp2(x)
special.expm1(x) special.log1p(x) special.gammaln(x) special.digamma(x) special.psi(x) special.i0(x)
special.i0e(x) special.i1(x) special.i1e(x) special.ndtr(x) special.ndtri(x) special.log_ndtr(x)
special.sinc(x) special.round(x) special.zeta(x,y) special.polygamma(1,x) special.multigammaln(x,1)
special.gammainc(x,y) special.gammaincc(x,y) special.bessel_j0(x) special.bessel_j1(x) igamma(x,y)
igammac(x,y) softmax(x,-1) log_softmax(x,-1) softmin(x,-1) gumbel_softmax(x) gelu(x) silu(x) mish(x)
elu(x) selu(x) celu(x) leaky_relu(x) prelu(x,y[0]) rrelu(x) relu6(x) softplus(x) softsign(x)
hardtanh(x) hardswish(x) hardsigmoid(x) hardshrink(x) softshrink(x) tanhshrink(x) logsigmoid(x)
threshold(x,0.1,20) glu(x) relu_(x) dropout(x,0.5,True) alpha_dropout(x,0.5,True)
feature_dropout(x,0.5,True) feature_alpha_dropout(x,0.5,True) dropout1d(x,0.5)
dropout2d(x[None],0.5) dropout3d(x[None,None],0.5) layer_norm(x,(4,))
rms_norm(x,(4,)) group_norm(x,2) batch_norm(x,w[0],w[0]) instance_norm(x[None])
local_response_norm(x[None],2) normalize(x) linear(x,y) conv1d(x[None],y[...,None])
conv2d(x[None,None],y[None,None]) conv3d(x[None,None,None],y[None,None,None])
conv_transpose1d(x[None],y[...,None]) conv_transpose2d(x[None,None],y[None,None])
conv_transpose3d(x[None,None,None],y[None,None,None]) nn.functional.embedding(j,x)
nn.functional.embedding_bag(j,x) max_pool1d(x[None],2) max_pool2d(x[None],2)
max_pool3d(x[None,None],2) avg_pool1d(x[None],2) avg_pool2d(x[None],2) avg_pool3d(x[None,None],2)
adaptive_avg_pool1d(x[None],2) adaptive_avg_pool2d(x[None],2) adaptive_avg_pool3d(x[None,None],2)
adaptive_max_pool1d(x[None],2) adaptive_max_pool2d(x[None],2) adaptive_max_pool3d(x[None,None],2)
lp_pool1d(x[None],2,2) lp_pool2d(x[None],2,2) fold(x[None],(2,2),(2,2))
pixel_shuffle(x[:,None,None],2) pixel_unshuffle(x[None],2) channel_shuffle(x[None,...,None],2)
pad(x,(1,1)) interpolate(x[None],size=8) upsample(x[None],size=8)
grid_sample(x[None,None],y[None,:,:2,None].transpose(2,3)) affine_grid(x[None,:2,:3],(1,1,4,4))
one_hot(i,4) scaled_dot_product_attention(x[None],y[None],z[None]) cross_entropy(x,i) nll_loss(x,i)
mse_loss(x,y) l1_loss(x,y) smooth_l1_loss(x,y) huber_loss(x,y) kl_div(x,y)
binary_cross_entropy(x*0,y*0) binary_cross_entropy_with_logits(x,y) poisson_nll_loss(x,y)
gaussian_nll_loss(x,y,z) hinge_embedding_loss(x,y) cosine_embedding_loss(x,y,i)
margin_ranking_loss(x,y,z) triplet_margin_loss(x,y,z) triplet_margin_with_distance_loss(x,y,z)
soft_margin_loss(x,y) multi_margin_loss(x,i) multilabel_margin_loss(x,j)
multilabel_soft_margin_loss(x,y) ctc_loss(x[:,None],i[None,:1]+1,(4,),(1,))
fake_quantize_per_tensor_affine(x,1.0,0,0,255) float(x) double(x) half(x) bfloat16(x) long(x) int(x)
short(x) bool(x) byte(x) char(x) cfloat(x) cdouble(x) type_as(x,z) is_tensor(x) numpy(x)
"""
DTYPES = """
bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz
float8_e5m2fnuz float8_e8m0fnu bfloat16 float16 float32 float64 complex32 complex64 complex128
""".split()
MEASURED = """
bfloat16 float16 float32 float64 int64 int32 int16 int8 uint8 bool complex64 complex128
float8_e4m3fn float8_e5m2
""".split()
DTYPES_ON_CUDA = "float32 float16 bfloat16 float64 int64 bool float8_e4m3fn".split()
FLOATS = DTYPES_ON_CUDA[:4]
INTEGERS = "uint8 int8 int16 int32 int64".split()
REAL = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
COMPLEX = {real: name for name, real in REAL.items()}
_TO_DEFAULT = dict.fromkeys(["bool", *INTEGERS, "uint16", "uint32", "uint64"], "default")

KINDS: Mapping[str, Mapping[str, str]] = {
    "same": {},
    "sum": dict.fromkeys(["bool", *INTEGERS], "int64"),
    "number": {"bool": "int64"},
    "float": _TO_DEFAULT,
    "real": REAL,
    "real float": {**_TO_DEFAULT, **REAL},
    "complex": {
        **COMPLEX,
        "bfloat16": "complex64",
        **dict.fromkeys(_TO_DEFAULT, "complex default"),
    },
    "truth": {name: "bool" for name in DTYPES if name != "uint8"},
    "double": dict.fromkeys(DTYPES, "float64") | dict.fromkeys(REAL, "complex128"),
}
"""What each dtype becomes; a dtype that is not there stays. The first that fits is the kind."""

FLOATING_KINDS = ("float", "real float", "complex")
"""The kinds of operators that reject integers: nobody can tell what these would become."""

FAILURES = (RuntimeError, TypeError, IndexError, ValueError, AttributeError, AssertionError)
Result = tuple[str, ...] | None
"""The dtype of the result, or of each item after "[": None where torch raises."""


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@dataclass(frozen=True)
class Form:
    """One way to write an expression: the source, and the name of what it calls."""

    table: str
    name: str
    source: str
    called: Any
    variables: tuple[tuple[str, int], ...]
    """The operands that it has and their position among the arguments."""


def attribute(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name, None)
    return owner


def forms(expression: str) -> Iterator[Form]:
    """The expression as each function of torch of that name, and as a method."""
    call = ast.parse(expression, mode="eval").body
    assert isinstance(call, ast.Call), expression
    name = ast.unparse(call.func)
    variables = tuple(
        (node.id, position)
        for position, argument in enumerate(call.args)
        for node in ast.walk(argument)
        if isinstance(node, ast.Name) and node.id in "xyz"
    )
    rest = expression[len(name) :]
    for prefix, module in (("", torch), ("nn.functional.", F)):
        called = attribute(module, name)
        if callable(called):
            yield Form("FUNCTIONS", prefix + name, f"torch.{prefix}{name}{rest}", called, variables)
    first = ast.unparse(call.args[0])
    if hasattr(torch.Tensor, name) and first[0] in "xi":
        others = [ast.unparse(other) for other in (*call.args[1:], *call.keywords)]
        source = f"({first}).{name}({', '.join(others)})"
        yield Form("METHODS", name, source, getattr(torch.Tensor, name), variables)


def describe(value: object) -> tuple[str, ...]:
    if isinstance(value, torch.Tensor):
        return (name_of(value.dtype),)
    if isinstance(value, (tuple, list)) and value and isinstance(value[0], torch.Tensor):
        return ("[", *(name_of(item.dtype) for item in value))
    return ("python",)


def scope(
    dtypes: Mapping[str, str],
    device: str = "cpu",
    scalars: str = "",
    vectors: str = "",
    size: int = 4,
) -> dict[str, object]:
    """The variables of the expressions; those of `scalars` have no dimension, of `vectors` one."""
    square = torch.eye(size, device=device) * 2 + 1
    tensors = {
        name: square[(0,) * ((name in vectors) + 2 * (name in scalars))].to(getattr(torch, dtype))
        for name, dtype in dtypes.items()
    }
    return {
        "torch": torch,
        **tensors,
        "i": torch.arange(size, device=device),
        "j": torch.zeros([] if scalars else [size] * 2, dtype=torch.int64, device=device),
        "m": torch.ones([] if scalars else [size] * 2, dtype=torch.bool, device=device),
    }


def run(form: Form, dtypes: Mapping[str, str], device: str = "cpu", scalars: str = "") -> Any:
    """The result of one form; None where torch raises."""
    try:
        return eval(form.source, scope({"w": dtypes["x"], **dtypes}, device, scalars))
    except FAILURES:
        return None


def measure(
    form: Form, dtypes: Mapping[str, str], device: str = "cpu", scalars: str = ""
) -> Result:
    value = run(form, dtypes, device, scalars)
    return None if value is None else describe(value)


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    yield
    torch.set_default_dtype(before)


def uniform(dtype: str) -> dict[str, str]:
    return dict.fromkeys("xyz", dtype)


def becomes(kind: str, dtype: str, default: str = "float32") -> str:
    """What a kind makes of a dtype."""
    match KINDS[kind].get(dtype, dtype) if kind in KINDS else kind:
        case "default":
            return default
        case "complex default":
            return COMPLEX[default]
        case name:
            return name


def classify(measured: Mapping[tuple[str, str], str]) -> str | None:
    """The kind of a result, from the dtypes measured by (operand dtype, default dtype)."""
    outcomes = set(measured.values())
    if len(outcomes) == 1 and (len(measured) > 2 or outcomes & {"python"}):
        return outcomes.pop()
    takes_integers = any(key[0] in _TO_DEFAULT for key in measured)
    for kind in KINDS if takes_integers else FLOATING_KINDS:
        if all(becomes(kind, *key) == dtype for key, dtype in measured.items()):
            return kind
    return None


def kinds_of(form: Form) -> tuple[str, str] | None:
    """The result of an operator as the table has it, and the kind of its first tensor."""
    measured: dict[tuple[str, str], tuple[str, ...]] = {}
    for dtype in MEASURED:
        if (result := measure(form, uniform(dtype))) is not None:
            measured[dtype, "float32"] = result
    with default_dtype(torch.float64):
        if (result := measure(form, uniform("int64"))) is not None:
            measured["int64", "float64"] = result
    if not measured:
        return None
    first = next(iter(measured.values()))
    items = slice(1, None) if first[0] == "[" else slice(None)
    kinds = []
    for column in range(len(first[items])):
        kind = classify({key: result[items][column] for key, result in measured.items()})
        if kind is None:
            print("no kind:", form.source, measured, file=sys.stderr)
            return None
        kinds.append(kind)
    if first[0] != "[":
        return kinds[0], kinds[0]
    return (f"[{kinds[0]}]" if len(set(kinds)) == 1 else ", ".join(kinds)), kinds[0]


def first_of(result: Result) -> str | None:
    return None if result is None else result[1] if result[0] == "[" else result[0]


def takes_part(form: Form, variable: str, kind: str) -> bool:
    """True if the dtype of an operand changes that of the result, or if no other is allowed."""
    if kind not in KINDS:
        return True
    if len({name for name, _ in form.variables}) == 1:
        return True
    for others, one in (("bfloat16", "float32"), ("float32", "float64"), ("int64", "float32")):
        result = first_of(measure(form, {**uniform(others), variable: one}))
        if result is not None:
            return result == becomes(kind, one)
    return True


# Signatures


def schemas(form: Form) -> list[list[tuple[str, bool]]]:
    """The parameters of each overload: name, and whether it can be given by position."""
    try:
        parameters = inspect.signature(form.called).parameters.values()
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [
            [(one.name, one.kind in positional) for one in parameters]
            if all(one.kind != inspect.Parameter.VAR_POSITIONAL for one in parameters)
            else []
        ]
    except (TypeError, ValueError):
        aten = form.name.removeprefix("nn.functional.").replace(".", "_")
        found = torch._C._jit_get_schemas_for_operator(f"aten::{aten}")
        overloads = [
            [(one.name, not one.kwarg_only) for one in schema.arguments]
            for schema in found
            if not any(one.is_out for one in schema.arguments)
        ]
        return sorted(overloads, key=lambda parameters: parameters[:1] != [("self", True)])


def position(form: Form, *names: str) -> int | None:
    """The position of a parameter that can be given by position, in any overload."""
    for parameters in schemas(form):
        for index, (name, by_position) in enumerate(parameters):
            if name in names and by_position:
                return index
    return None


def dtype_position(form: Form) -> int | None:
    """The position of `dtype`; None if another overload has something else there."""
    index = position(form, "dtype")
    if index is None:
        return None
    others = {parameters[index][0] for parameters in schemas(form) if len(parameters) > index}
    return index if others == {"dtype"} else None


def keyword(form: Form, index: int) -> str:
    for parameters in schemas(form):
        if len(parameters) > index and parameters[index][1]:
            name = parameters[index][0]
            return "input" if name == "self" else name
    return "input" if index == 0 else ""


# Autocast


CASTS: Mapping[str, Mapping[str, str]] = {
    "": {},
    "float32": dict.fromkeys(("bfloat16", "float16"), "float32"),
    "lower": dict.fromkeys(("float32", "float16"), "bfloat16"),
}
"""What a policy of autocast to bfloat16 makes of an operand."""


def policy(form: Form, kind: str, device: str) -> str:
    """What autocast does to floating operands before the operator runs."""
    if kind not in KINDS:
        return ""
    observed = recorded(form) if device == "cuda" else on_cpu(form)
    if device == "cuda" and (not observed or listed(form.name)):
        return listed(form.name) or listed_policy(form)
    for name, cast in CASTS.items():
        if all(becomes(kind, cast.get(key, key)) == got for key, got in observed.items()):
            return name
    print("no policy:", device, form.source, observed, file=sys.stderr)
    return ""


def on_cpu(form: Form) -> dict[str, str]:
    """The results under autocast to bfloat16, by the dtype of the operands."""
    with torch.autocast("cpu", torch.bfloat16):
        found = {dtype: first_of(measure(form, uniform(dtype))) for dtype in FLOATS}
    return {dtype: result for dtype, result in found.items() if result is not None}


def recorded(form: Form) -> dict[str, str]:
    """The same on a GPU, where the operator runs there."""
    results = cuda_record()["bfloat16 region"].get(form.source, "").split()
    found = dict(zip(DTYPES_ON_CUDA, results, strict=False))
    return {dtype: found[dtype] for dtype in FLOATS if found.get(dtype, "-") != "-"}


@cache
def cuda_record() -> dict[str, Any]:
    """What `measure_cuda.py` wrote."""
    return dict(json.loads(CUDA_RECORD.read_text("utf-8")))


@cache
def macro(name: str) -> frozenset[str]:
    """The operators of one of the lists that the wheel's header keeps for CUDA."""
    header = Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
    body = re.search(rf"#define {name}\(_\)((?:.*\\\n)*.*)", header.read_text())
    assert body, name
    return frozenset(re.findall(r"_\((\w+)", body.group(1)))


def listed(name: str) -> str:
    """The policy of an operator by those lists; empty if none has its name."""
    name = name.rpartition(".")[2]
    if name in macro("AT_FORALL_LOWER_PRECISION_FP"):
        return "lower"
    wide = macro("AT_FORALL_FP32") | macro("AT_FORALL_FP32_SET_OPT_DTYPE")
    return "float32" if name in wide else ""


def listed_policy(form: Form) -> str:
    """The policy of the first listed operator that the form runs: some do not run on a GPU."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        run(form, uniform("float32"))
    names = (event.name.removeprefix("aten::") for event in profile.events())
    return next(filter(None, map(listed, names)), "")


def dimensions(form: Form) -> str:
    """What becomes of the dimensions of the operands."""

    def count(value: Any) -> int | None:
        value = value[0] if isinstance(value, (tuple, list)) and value else value
        return value.dim() if isinstance(value, torch.Tensor) else None

    def are_none(value: Any) -> bool:
        return count(value) == 0

    left = [count(run(form, uniform(dtype))) for dtype in ("float32", "int64")]
    if 0 in left:
        return "reduces"
    if "([" in form.source:
        return "makes"
    values = [run(form, uniform(dtype), scalars="wxyz") for dtype in ("float32", "complex64")]
    if any(value is not None and not are_none(value) for value in values):
        return "makes"
    if 1 in left and position(form, "dim", "axis") is not None:
        return "drops"
    vectors = {"x": "float32", "y": "float32", "z": "float32", "w": "float32"}
    try:
        value = eval(form.source, scope(vectors, vectors="wxyz"))
    except FAILURES:
        return "keeps"
    return "contracts" if len(form.variables) == 2 and are_none(value) else "keeps"


def is_composed(form: Form, kind: str, operands: tuple[tuple[int, str], ...]) -> bool:
    """True if operands of mixed dtypes and ranks do not promote as those of one operation."""
    places = {place for place, _ in operands}
    names = list(dict.fromkeys(name for name, place in form.variables if place in places))
    some = ("bfloat16", "float32", "int64")
    for name, one, other in product(names if len(names) > 1 else (), some, some):
        rest = [*names[: names.index(name)], *names[names.index(name) + 1 :]]
        for scalars in ("", name, "".join(rest)):
            dtypes = {**uniform(other), name: one}
            values = scope(dtypes, scalars=scalars)
            expected = name_of(torch.result_type(values[name], values[rest[0]]))
            result = first_of(measure(form, dtypes, scalars=scalars))
            if result is not None and result != becomes(kind, expected):
                return True
    return False


def operator(form: Form) -> Operator | None:
    """The row of one form; None where torch has no such operator or it fits no kind."""
    found = kinds_of(form)
    if found is None:
        return None
    result, kind = found
    taking = [place for one, place in form.variables if takes_part(form, one, kind)] or [0]
    operands = tuple((place, keyword(form, place)) for place in dict.fromkeys(taking))
    is_tensor = result != "python"
    return Operator(
        result,
        operands if is_tensor and kind in KINDS else (),
        dtype_position(form) if is_tensor else None,
        position(form, "dim", "axis") if is_tensor else None,
        dimensions(form) if is_tensor else "keeps",
        policy(form, kind, "cuda") if is_tensor else "",
        policy(form, kind, "cpu") if is_tensor else "",
        is_tensor and kind in KINDS and is_composed(form, kind, operands),
    )


def tables() -> dict[str, dict[str, Operator]]:
    found: dict[str, dict[str, Operator]] = {"FUNCTIONS": {}, "METHODS": {}}
    for form in chain.from_iterable(map(forms, EXPRESSIONS.split())):
        if form.name not in found[form.table] and (row := operator(form)) is not None:
            found[form.table][form.name] = row
    return found


# Promotion


def promoted(one: str, other: str) -> str | None:
    try:
        return name_of(torch.promote_types(getattr(torch, one), getattr(torch, other)))
    except RuntimeError:
        return None


def source_of(row: Operator) -> str:
    """A row as its constructor call, without the defaults at the end."""
    defaults = Operator._field_defaults
    parts = [repr(row.result)]
    for field, value in zip(row._fields[1:], row[1:], strict=True):
        if value != defaults[field]:
            parts.append(f"{field}={value!r}")
    return f"Operator({', '.join(parts)})"


def write(name: str, subject: str, lines: list[str], script: str = "measure_operators") -> None:
    """Write a generated module; `script` is the one that measured it."""
    release = torch.__version__.split("+")[0]
    head = [
        f'"""{subject}, measured.',
        "",
        f"Written by scripts/{script}.py with torch {release}: do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    target = PACKAGE / name
    target.write_text("\n".join([*head, *lines, ""]))
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", str(target)], check=True)


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    lines = [
        "from collections.abc import Mapping",
        "",
        "from precision_lint.facts.dtypes.operators.signature import Operator",
        "",
        f"KINDS: Mapping[str, Mapping[str, str]] = {dict(KINDS)!r}",
        '"""What a kind of result makes of a dtype; one that is not there stays."""',
    ]
    measured = tables()
    for table, doc in (("FUNCTIONS", "By name, without `torch.`."), ("METHODS", "Of tensors.")):
        rows = sorted(measured[table].items())
        lines += ["", f"{table}: Mapping[str, Operator] = {{"]
        lines += [f"    {name!r}: {source_of(row)}," for name, row in rows]
        lines += ["}", f'"""{doc}"""']
    write("operators.py", "Operators of torch: what decides the dtype of a result", lines)
    pairs = {one: {other: promoted(one, other) for other in DTYPES} for one in DTYPES}
    lines = ["from collections.abc import Mapping", ""]
    lines += ["PROMOTED: Mapping[str, Mapping[str, str]] = {"]
    for one, row in pairs.items():
        known = {other: dtype for other, dtype in row.items() if dtype is not None}
        lines.append(f"    {one!r}: {known!r},")
    lines += ["}", '"""`torch.promote_types`; pairs that it rejects are not there."""']
    write("promotion_table.py", "The dtype that two dtypes promote to", lines)


if __name__ == "__main__":
    main()
