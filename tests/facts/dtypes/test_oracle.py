"""torch is the oracle: what an expression has must be among what the flow says it can have."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.dtypes._generated.operators import FUNCTIONS, METHODS
from precision_lint.facts.dtypes._generated.promotion_table import PROMOTED
from precision_lint.facts.dtypes.domain.values import Tensor
from tests.facts.dtypes.test_flow import receiver

torch = pytest.importorskip("torch")

INPUTS = ("bfloat16", "float16", "float32", "float64", "int64", "bool")
EXPRESSIONS = """
x.abs() x.exp() x.sum() x.mean() x.amax(-1) x.softmax(-1) x.cumsum(0) x.std() x.sigmoid() x.round()
x+1 x+1.5 x*x x/2 x/x 2/x x**2 -x x==1 x>0 x@x.t() x[0] x[:,1:] x[None] x.t() x.view(-1)
x.unsqueeze(0) x.clone() x.detach() x.contiguous() x.float() x.half() x.bfloat16() x.double()
x.long() x.to(torch.float32) x.to('cpu') x.type_as(y) x.to(y) x+y x*y x.add(y) x.div(y) y/x
torch.maximum(x,y) torch.where(x>0,x,y) torch.where(x>0,x,0.0) torch.cat([x,x]) torch.stack([x,x])
x.max(dim=0)[0] x.max(dim=0)[1] x.topk(1)[0] x.topk(1)[1] x.sort()[1] x.argmax(-1) x.argsort()
torch.where(x>0)[0] x.any() x.isnan() x.clamp(0,1) x.masked_fill(x>0,0) x.new_zeros(2)
torch.zeros_like(x) torch.ones_like(x,dtype=torch.float32) torch.sum(x,dtype=torch.float32)
torch.zeros(2) torch.arange(4) torch.arange(4.) torch.full((2,),1) torch.full((2,),1.)
torch.tensor(1) torch.tensor(1.5) torch.tensor([1,2]) torch.tensor(True) x.norm()
torch.ones(2,dtype=torch.float16)
torch.nn.functional.softmax(x,-1) torch.nn.functional.normalize(x) torch.nn.functional.relu(x)
torch.nn.functional.cross_entropy(x,i) torch.nn.functional.one_hot(i,4) x.relu() x.tanh() x.pow(2)
x.add_(1) x.mul_(2) x.zero_() torch.nn.functional.mse_loss(x,y) x.prod() x.flatten()
x.log_softmax(-1)
""".split()


@pytest.mark.parametrize("dtype", INPUTS)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_flow_holds_what_torch_gives(expression: str, dtype: str) -> None:
    setup = (
        f"x = torch.tensor([[1, 0], [1, 1]], dtype=torch.{dtype})\n"
        "y = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\ni = torch.tensor([0, 1])\n"
    )
    scope: dict[str, object] = {"torch": torch}
    exec(setup, scope)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(expression, scope)
    except (RuntimeError, NotImplementedError, TypeError):
        pytest.skip("torch raises")
    value = receiver(f"{setup}({expression}).numpy()")
    assert isinstance(value, Tensor)
    actual = str(result.dtype).removeprefix("torch.")
    assert value.may_be_other or value.caller_chosen or actual in value.dtypes
    if actual == "bfloat16":
        assert value.may_be(frozenset({"bfloat16"}))
    if "bfloat16" in value.dtypes and not value.may_be_other:
        assert dtype == "bfloat16" or "bfloat16" in expression


def measurements() -> Any:
    """The script that writes the tables."""
    path = Path(__file__).parents[3] / "scripts" / "measure_operators.py"
    spec = importlib.util.spec_from_file_location("measure_operators", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MEASURE = measurements()
TABLES = {"FUNCTIONS": FUNCTIONS, "METHODS": METHODS}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", MEASURE.EXPRESSIONS.split())
def test_the_tables_are_of_this_torch(expression: str) -> None:
    for form in MEASURE.forms(expression):
        found = MEASURE.kinds_of(form)
        row = TABLES[form.table].get(form.name)
        assert (None if row is None else row.result) == (found and found[0]), form.source


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("x", ["bfloat16", "int64"])
@pytest.mark.parametrize("expression", MEASURE.EXPRESSIONS.split())
def test_operands_of_mixed_dtypes(expression: str, x: str) -> None:
    for form in MEASURE.forms(expression):
        for y, scalars in itertools.product(("float32", "int64", x), ("", "x", "y", "wxyz")):
            dtypes = {"w": x, "x": x, "y": y, "z": x}
            result = MEASURE.measure(form, dtypes, scalars=scalars)
            if result is None or result == ("python",):
                continue
            source = f"({form.source}){'[0]' if result[0] == '[' else ''}.numpy()"
            value = receiver(declared(dtypes, scalars) + source)
            assert isinstance(value, Tensor), source
            holds = value.may_be_other or MEASURE.first_of(result) in value.dtypes
            assert holds, (form.source, dtypes, scalars, result, value.dtypes)


NEWER = {"rms_norm": "autocast casts it to float32 from torch 2.13 on"}
"""What differs between the torch of the tables and that of the record of a GPU."""


@pytest.mark.parametrize("expression", MEASURE.EXPRESSIONS.split())
def test_the_tables_agree_with_a_gpu(expression: str) -> None:
    """Result dtypes on an H100, as `scripts/measure_cuda.py` recorded them, also under autocast."""
    record = MEASURE.cuda_record()
    for form in MEASURE.forms(expression):
        row = TABLES[form.table].get(form.name)
        if row is None or form.name.rpartition(".")[2] in NEWER:
            continue
        kind = row.result.strip("[]").split(", ")[0]
        casts = {"plain": {}, "bfloat16 region": MEASURE.CASTS[row.cuda]}
        for place, cast in casts.items():
            results = record[place][form.source].split()
            for dtype, result in zip(record["operands"], results, strict=False):
                if result != "-" and dtype in MEASURE.FLOATS:
                    assert result == MEASURE.becomes(kind, cast.get(dtype, dtype)), form.source


def declared(dtypes: dict[str, str], scalars: str) -> str:
    """The variables of an expression as a program makes them."""
    lines = ["i = torch.arange(4)"]
    index = "tensor(0)" if scalars else "zeros(4, 4, dtype=torch.int64)"
    lines += [
        f"j = torch.{index}",
        f"m = torch.{'tensor(True)' if scalars else 'ones(4, 4).bool()'}",
    ]
    for name, dtype in dtypes.items():
        made = "tensor(1" if name in scalars else "ones(4, 4"
        lines.append(f"{name} = torch.{made}, dtype=torch.{dtype})")
    return "\n".join([*lines, ""])


def test_promotion_is_of_this_torch() -> None:
    for one, other in itertools.product(MEASURE.DTYPES, repeat=2):
        assert PROMOTED[one].get(other) == MEASURE.promoted(one, other)
