"""Measure what torch's operators refuse, and write `kernels.py` of `precision_lint/facts/dtypes`.

    python scripts/measure_kernels.py

Three things are measured: which operators raise for a half dtype and not for float32, which of
their operands need one dtype, and which layers of `torch.nn` need an input of the dtype of their
parameters. The expressions are those of `measure_operators.py` and some more. CUDA is known by the
record of `measure_cuda.py`; an expression that is not in it raises there what others raise that
lack the same kernel on CPU. Rerun it with a newer torch.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from itertools import chain, permutations

import torch
from measure_cuda import HALF
from measure_operators import (
    CUDA_RECORD,
    EXPRESSIONS,
    FAILURES,
    FLOATS,
    Form,
    forms,
    keyword,
    listed,
    macro,
    scope,
    uniform,
    write,
)

from precision_lint.facts.dtypes.operators.signature import Agreement, Lack

# Some that give no tensor, work in place, or are made of several operators.
MORE = """
__setitem__(x,i,y[0]) index_put_(x,(i,),y[0]) index_add_(x,0,i,y) index_copy_(x,0,i,y)
index_reduce(x,0,i,y,"mean") index_reduce_(x,0,i,y,"mean") masked_scatter_(x,m,y) put(x,i,y[0])
put_(x,i,y[0]) scatter_(x,1,j,y) scatter_add_(x,1,j,y) scatter_reduce_(x,1,j,y,"sum")
lerp(x,y,0.5) lerp_(x,y,0.5) lerp_(x,y,z) addmm_(x,y,z) baddbmm_(x[None],y[None],z[None])
cross_entropy(x,i,y[0]) nll_loss(x,i,y[0]) svd_lowrank(x,2) pca_lowrank(x,2) geqrf(x)
linalg.lu_factor(x) linalg.cholesky_ex(x) linalg.solve_ex(x,y) __setattr__(x,"grad",y)
"""

LAYERS = """
Linear(4,4)(x) Conv1d(4,4,1)(x[None]) Conv2d(1,1,1)(x[None]) Conv3d(1,1,1)(x[None,None])
ConvTranspose1d(4,4,1)(x[None]) ConvTranspose2d(1,1,1)(x[None]) ConvTranspose3d(1,1,1)(x[None,None])
LayerNorm(4)(x) GroupNorm(2,4)(x) PReLU()(x) RNN(4,4)(x) LSTM(4,4)(x) GRU(4,4)(x) RNNCell(4,4)(x)
LSTMCell(4,4)(x) GRUCell(4,4)(x) TransformerEncoderLayer(4,2)(x)
MultiheadAttention(4,2)(x,x,x)
"""
"""Layers and an input. What norms of batches and instances take on CUDA is not known."""

_REGION = torch.bfloat16

_DTYPES_IN_MESSAGES = (
    ("c10::BFloat16", "{first}"),
    ("BFloat16", "{First}"),
    (r"\bfloat\b", "{second}"),
    ("Float", "{Second}"),
)
"""The names of bfloat16 and float32 in errors."""


_LARGE = 64
"""`cdist` of more than 25 rows is a product of matrices, which has a half kernel: on CPU in torch
2.13, and on an H100 in torch 2.11, where it is also the only operator that depends on the size."""


def error(form: Form, dtypes: Mapping[str, str], *, in_region: bool = False, size: int = 4) -> str:
    """What an expression raises on CPU; empty if nothing."""
    region = torch.autocast("cpu", _REGION) if in_region else nullcontext()
    names = scope({"w": dtypes["x"], **dtypes}, size=size)
    for name in dtypes:  # they share memory, and some expressions write to it
        names[name] = names[name].clone()
    try:
        with region:
            eval(form.source, names)
    except FAILURES as raised:
        return f"{type(raised).__name__}: {(str(raised).splitlines() or [''])[0]}"
    return ""


def all_forms() -> Iterator[Form]:
    return chain.from_iterable(map(forms, [*EXPRESSIONS.split(), *MORE.split()]))


# Kernels that do not exist


def lacking() -> dict[str, dict[str, Lack]]:
    """The operators that raise for a half dtype, by name and dtype."""
    record = json.loads(CUDA_RECORD.read_text("utf-8"))
    on_cuda: Mapping[str, Mapping[str, str]] = record["errors of half precision"]
    alike: dict[str, str] = {}
    found: dict[str, dict[str, Lack]] = {}
    rows: list[tuple[Form, str, str]] = []
    for form in all_forms():
        if error(form, uniform("float32")) or form.name.endswith("_") or form.name == "numpy":
            continue  # in place; arrays of NumPy need no kernel
        for dtype in HALF:
            raised = error(form, uniform(dtype))
            if raised and not error(form, uniform(dtype), size=_LARGE):
                continue  # it depends on the size of the operands
            rows.append((form, dtype, raised))
            if raised and (known := on_cuda.get(form.source, {}).get(dtype)):
                alike.setdefault(raised, known)
    for form, dtype, cpu in rows:
        if form.source in record["plain"]:
            cuda = on_cuda.get(form.source, {}).get(dtype, "")
        else:
            cuda = alike.get(cpu, "")
        if not (cpu or cuda) or dtype in found.get(form.name, {}):
            continue
        regions = {
            "cpu": bool(error(form, uniform(dtype), in_region=True)),
            "cuda": bool(cuda) and not is_cast_on_cuda(form, record, dtype),
        }
        lack = Lack(cpu, cuda, tuple(device for device, raises in regions.items() if raises))
        found.setdefault(form.name, {})[dtype] = lack
    return found


def is_cast_on_cuda(form: Form, record: Mapping[str, Mapping[str, str]], dtype: str) -> bool:
    """True if autocast casts the operands on CUDA, so that the expression runs there."""
    results = dict(
        zip(FLOATS, record["bfloat16 region"].get(form.source, "").split(), strict=False)
    )
    return results.get(dtype, "-") != "-"


# Operands that need one dtype


def agreeing() -> dict[str, Agreement]:
    """The operators that reject operands of mixed dtypes, and which of these have to agree."""
    found: dict[str, Agreement] = {}
    for form in all_forms():
        places = dict(form.variables)
        if form.name in found or len(set(places.values())) < max(2, len(form.variables)):
            continue
        if error(form, uniform("float32")) or error(form, uniform("float64")):
            continue
        strict = [name for name in places if rejects(form, name)]
        if len(strict) < 2:
            continue
        regions = {
            "cpu": all(mixed(form, name, in_region=True) for name in strict),
            "cuda": not is_cast(form),
        }
        found[form.name] = Agreement(
            tuple((places[name], argument_of(form, places[name])) for name in strict),
            template(mixed(form, strict[0])),
            tuple(device for device, raises in regions.items() if raises),
        )
    return found


def argument_of(form: Form, place: int) -> str:
    """The keyword of an operand that is a tensor: `scatter` has `value` for numbers."""
    name = keyword(form, place)
    return "src" if name == "value" and "scatter" in form.name else name


def mixed(form: Form, name: str, *, in_region: bool = False) -> str:
    """What is raised if one operand is bfloat16 and the others are float32."""
    return error(form, {**uniform("float32"), name: "bfloat16"}, in_region=in_region)


def rejects(form: Form, name: str) -> bool:
    """True if no operand of another dtype than the others is accepted."""
    pairs = [pair for pair in permutations(FLOATS, 2) if not error(form, uniform(pair[0]))]
    return all(error(form, {**uniform(others), name: one}) for others, one in pairs)


def is_cast(form: Form) -> bool:
    """True if autocast casts the operands on CUDA, or those of an operator that is run."""
    promoting = macro("AT_FORALL_PROMOTE")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        error(form, uniform("float32"))
    names = {event.name.removeprefix("aten::") for event in profile.events()}
    names.add(form.name.rpartition(".")[2])
    return any(listed(name) or name in promoting for name in names)


def template(message: str) -> str:
    """The error with the dtypes left open: of the first operand, and of the others.

    What torch says after it, of the ways to set the dtype of gradients, is left out.
    """
    message = message.partition(" The gradient must match")[0]
    for pattern, field in _DTYPES_IN_MESSAGES:
        message = re.sub(pattern, field, message)
    return message


# Layers


def layers() -> dict[str, list[tuple[str, str]]]:
    """By class, the different dtypes of input and parameters that it takes all the same."""
    found: dict[str, list[tuple[str, str]]] = {}
    for expression in LAYERS.split():
        made, _, given = expression.rpartition("(")
        pairs = found.setdefault(expression.partition("(")[0], [])
        for one, other in permutations(FLOATS, 2):
            names = {**scope({"x": one}), "dtype": getattr(torch, other)}
            try:
                eval(f"torch.nn.{made}.to(dtype)({given}", names)
            except FAILURES:
                continue
            pairs.append((one, other))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    record = json.loads(CUDA_RECORD.read_text("utf-8"))
    lines = [
        "from collections.abc import Mapping",
        "",
        "from precision_lint.facts.dtypes.operators.signature import Agreement, Lack",
        "",
        f'TORCH_ON_CUDA = "{record["torch"].partition("+")[0]}"',
        '"""The release that was measured on CUDA."""',
        "",
        "LACKING: Mapping[str, Mapping[str, Lack]] = {",
    ]
    for name, by_dtype in sorted(lacking().items()):
        rows = ", ".join(f"{dtype!r}: {source_of(lack)}" for dtype, lack in by_dtype.items())
        lines.append(f"    {name!r}: {{{rows}}},")
    lines += ["}", '"""By name, without `torch.`, and half dtype: functions and methods."""', ""]
    lines.append("AGREEING: Mapping[str, Agreement] = {")
    lines += [f"    {name!r}: {source_of(row)}," for name, row in sorted(agreeing().items())]
    lines += ["}", '"""By name, without `torch.`: functions and methods."""', ""]
    lines.append("TAKEN: Mapping[str, frozenset[tuple[str, str]]] = {")
    lines += [f"    {name!r}: frozenset({pairs!r})," for name, pairs in layers().items()]
    lines.append("}")
    lines.append(
        '"""By class of `torch.nn`, different dtypes of input and parameters that it takes."""'
    )
    write("kernels.py", "What operators and layers of torch refuse", lines, "measure_kernels")


def source_of(row: Lack | Agreement) -> str:
    """A row as its constructor call, without the defaults at the end."""
    given = [
        f"{field}={value!r}"
        for field, value in zip(row._fields, row, strict=True)
        if value != row._field_defaults.get(field)
    ]
    return f"{type(row).__name__}({', '.join(given)})"


if __name__ == "__main__":
    main()
