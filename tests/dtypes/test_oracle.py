"""torch is the oracle: what an expression has must be among what the flow says it can have."""

from __future__ import annotations

import warnings

import pytest

from precision_lint.dtypes.operators import RESULT
from precision_lint.dtypes.values import Tensor
from tests.dtypes.test_flow import receiver

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
    assert value.partial or value.chosen or actual in value.dtypes
    if actual == "bfloat16":
        assert value.possible(frozenset({"bfloat16"}))
    if "bfloat16" in value.dtypes and not value.partial:
        assert dtype == "bfloat16" or "bfloat16" in expression


def test_the_table_is_of_this_torch() -> None:
    assert RESULT["softmax"] == "float"
    assert RESULT["argmax"] == "int64"
    assert RESULT["sum"] == "sum"
