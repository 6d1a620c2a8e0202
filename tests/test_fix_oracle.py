"""torch as the oracle of fixes: what raised before runs after, and gives the same values."""

from __future__ import annotations

import warnings

import pytest

from tests import cases

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

NUMPY = [
    case
    for case in cases.load(cases.RULES / "numpy-on-bfloat16.md")
    if case.fixed and list(case.files) == ["case.py"]
]


def execute(source: str) -> dict[str, object]:
    scope: dict[str, object] = {"__name__": "case"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "case.py", "exec"), scope)
        for function in [value for name, value in scope.items() if name == "array"]:
            function()  # type: ignore[operator]
    return scope


@pytest.mark.parametrize("case", NUMPY, ids=lambda case: case.title)
def test_what_raised_runs_after_the_fix(case: cases.Case) -> None:
    with pytest.raises(TypeError, match="Got unsupported ScalarType"):
        execute(case.files["case.py"])
    execute(case.fixed["case.py"])


def test_there_are_executable_cases() -> None:
    assert len(NUMPY) >= 4


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool"])
def test_to_numpy_changes_no_dtype_that_numpy_has(dtype: str) -> None:
    from precision_lint.runtime import to_numpy

    x = torch.tensor([0, 1, 2]).to(getattr(torch, dtype))
    assert to_numpy(x.cpu()).dtype == x.numpy().dtype
    np.testing.assert_array_equal(to_numpy(x.cpu()), x.numpy())


def train(*, enabled: bool, dtype: torch.dtype) -> torch.Tensor:
    """A few steps with a scaler on CPU; the weights at the end."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", enabled=enabled)
    for _ in range(5):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            loss = model(torch.ones(2, 8)).float().square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return model.weight.detach()


def test_turning_the_scaler_off_in_bfloat16_trains_the_same() -> None:
    on = train(enabled=True, dtype=torch.bfloat16)
    off = train(enabled=False, dtype=torch.bfloat16)
    torch.testing.assert_close(on, off, rtol=1e-2, atol=1e-3)
