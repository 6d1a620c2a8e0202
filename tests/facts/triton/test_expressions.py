"""The type of an expression is what the compiler makes of it."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import indent

import pytest

from precision_lint.facts.triton.elementwise import LIBDEVICE
from precision_lint.facts.triton.interpreter import Interpreter
from precision_lint.facts.triton.language import NEWEST
from precision_lint.facts.triton.module import Module
from precision_lint.facts.triton.values import Constant, Pointer, Tensor, Value
from precision_lint.source.text.text import SourceText
from tests.facts.triton.compiling import Job, verdicts

NAMES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e5": "float8e5",
}

# b, h, f, i: blocks of bf16, fp16, fp32, int32; sf, si: run-time arguments; sb: a loaded bf16
# scalar; C, CF: compile-time numbers; pb, pf: pointers. True where Triton rejects the expression.
KERNEL = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def add(left, right):
    return left + right

@triton.jit
def kernel(pb, ph, pf, pi, sf, si, C: tl.constexpr, CF: tl.constexpr):
    i = tl.arange(0, 64)
    b = tl.load(pb + i)
    h = tl.load(ph + i)
    f = tl.load(pf + i)
    k = tl.load(pi + i)
    sb = tl.load(pb)
    b2 = b[:, None] * b[None, :]
    f2 = f[:, None] * f[None, :]
"""

ARITHMETIC = """
b*sf b+sf b-sf sf*b b/sf b*si b+si b/si h*sf h/sf h*si f*sf b*2.0 2.0*b b+1 b*2 b/2.0 b/2 b/b h/h
h/2.0 b*CF b*C b*b b*h b*f h*f b*i h*i f*i i*2.0 i/2 i//2 i/i i%2 b%2 h%2 -b b>0 (b>0)*b (i>0)+1
b*sb sb*2.0 sb*sf sb*si sb+1 sf*2.0 sf*si si*2.0 si/2 si*1.5 sf+b i&3 i|si i<<2 (i>0)&(b>0)
b[:,None]*b[None,:] b[:,None]+sf sb+b2 i.to(tl.int64)+si i.to(tl.int8)+i b*True b*-float("inf")
tl.program_id(0)*2.0 tl.arange(0,64)*2.0 (1.0/si)*b (sf/si)*b b*1e300 k*b k+1 f*f2
""".split()

FUNCTIONS = """
tl.where(b>0,b,0.0) tl.where(b>0,b,f) tl.where(b>0,b,sf) tl.where(b>0,0.0,1.0) tl.where(i>0,i,0.0)
tl.where(b>0,b,h) tl.maximum(b,0.0) tl.maximum(b,sf) tl.maximum(b,b) tl.minimum(b,0.0) tl.max(b,0)
tl.max(h,0) tl.max(i,0) tl.max(i.to(tl.int8),0) tl.min(b) tl.sum(b,0) tl.sum(h,0) tl.sum(f,0)
tl.sum(i,0) tl.sum(i.to(tl.int8),0) tl.sum(b>0,0) tl.sum(b2,1) tl.sum(b2) tl.max(b2,0)
tl.sum(b2,1,keep_dims=True) tl.sum(b,0,dtype=tl.float32) tl.cumsum(b,0) tl.cumsum(f,0)
tl.cumprod(b,0) tl.argmax(b,0) tl.argmin(b2,1) tl.exp(f) tl.exp(2.0) tl.exp(b-sf)
tl.exp(b-tl.max(b,0)) tl.abs(b) tl.sigmoid(f) tl.softmax(b) tl.softmax(f) tl.math.exp(f)
libdevice.tanh(f) libdevice.pow(f,2.0) tl.fma(b,b,b) tl.fma(b,f,f) tl.fma(b,2.0,1.0)
tl.clamp(b,0.0,1.0) tl.clamp(f,0.0,1.0) tl.cdiv(si,2) tl.zeros([64],tl.bfloat16)+f
tl.zeros([64],dtype=b.dtype) tl.full([64],0.0,tl.float32)+b tl.zeros_like(b)
tl.zeros((64,64),dtype=tl.float32) b.to(tl.float32) b.to(tl.int32) tl.cast(b,tl.float32)
b.to(pf.dtype.element_ty) b.to(f.dtype) b.to(tl.int16,bitcast=True) tl.dot(b2,b2) tl.dot(f2,f2)
tl.dot(b2,b2,out_dtype=tl.float32) tl.dot(b2,b2,f2) tl.load(pb+i,mask=i>0,other=0.0) tl.load(pf)
tl.load(pi+i) tl.load(pb+i[:,None]) tl.associative_scan(b,0,add) tl.reduce(b,0,add) tl.sort(b)
tl.gather(b,i,0) tl.interleave(b,b) tl.join(b,b) tl.trans(b2) tl.reshape(b,(8,8)) tl.ravel(b2)
tl.expand_dims(b,0) tl.broadcast_to(b[:,None],(64,64)) tl.histogram(i,64) tl.rand(0,i)
tl.atomic_add(pf,sf) tl.atomic_add(pf+i,f) tl.sqrt_rn(f) tl.div_rn(f,f) f.sum(0) b.max(0)
b2.trans() min(i,3) max(b,f) add(b,sf) add(b,1.0) pb+si pb+i tl.multiple_of(i,8) b2.T
tl.max(b,0,return_indices=True)[0] tl.min(i,0,return_indices=True)[1] libdevice.tanh(f)*b
tl.make_tensor_descriptor(pb,[64],[1],[64]).load([0]) (b*sf).to(b.dtype) (not(si>0))
""".split()

REJECTED = """
tl.exp(b) tl.exp(h) tl.exp(sb) tl.exp(i) tl.log(b) tl.sqrt(h) tl.sigmoid(b) tl.floor(b)
libdevice.tanh(b) tl.sqrt_rn(b) tl.dot(b2,f2)
""".split()

ACCEPTED = [expression.strip() for expression in [*ARITHMETIC, *FUNCTIONS]]


def evaluate(expression: str) -> tuple[Value, Interpreter]:
    source = KERNEL + f"    return {expression}\n"
    module = Module(ast.parse(source), SourceText(Path("kernels.py"), source))
    interpreter = Interpreter(module, NEWEST)
    pointers = {"pb": "bf16", "ph": "fp16", "pf": "fp32", "pi": "int64"}
    values: dict[str, Value] = {n: Pointer(frozenset({d})) for n, d in pointers.items()}
    values |= {"sf": Tensor(frozenset({"fp32"}), 0), "si": Tensor(frozenset({"int32"}), 0)}
    values |= {"C": Constant(), "CF": Constant()}
    return interpreter.run(module.functions["kernel"], values), interpreter


def assertion(expression: str) -> str:
    """Lines that compile only if the expression is what we say it is."""
    value, _ = evaluate(expression)
    if isinstance(value, Pointer):
        (element,) = value.elements
        check = f"r.dtype.element_ty == tl.{NAMES.get(element, element)}"
    else:
        assert isinstance(value, Tensor), value
        (dtype,) = value.dtypes
        check = f"r.dtype == tl.{NAMES.get(dtype, dtype)}"
    assert value.rank is not None
    rank = f"len(r.shape) == {value.rank}" if value.rank else "not r.type.is_block()"
    return f"r = {expression}\ntl.static_assert({check})\ntl.static_assert({rank})\n"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("expressions")
    pointers = {"pb": "*bf16", "ph": "*fp16", "pf": "*fp32", "pi": "*i64"}
    jobs = {}
    for number, expression in enumerate([*ACCEPTED, *REJECTED]):
        body = assertion(expression) if number < len(ACCEPTED) else f"r = {expression}\n"
        path = folder / f"kernel_{number}.py"
        path.write_text(KERNEL + indent(body, "    "))
        types = {**pointers, "sf": "fp32", "si": "i32"}
        jobs[expression] = Job(str(path), "kernel", types, {"C": 2, "CF": 0.5})
    return dict(zip(jobs, verdicts(list(jobs.values()), folder), strict=True))


@pytest.mark.parametrize("expression", ACCEPTED)
def test_the_compiler_agrees(expression, compiled):
    assert compiled[expression] == ""


@pytest.mark.parametrize("expression", REJECTED)
def test_both_reject(expression, compiled):
    _, interpreter = evaluate(expression)
    assert interpreter.refusals.found
    assert compiled[expression] != ""


def test_libdevice_has_the_functions_that_are_typed():
    libdevice = pytest.importorskip("triton.language.extra.libdevice")
    assert [name for name in LIBDEVICE if not hasattr(libdevice, name)] == []
