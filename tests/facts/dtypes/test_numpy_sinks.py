"""The table of sinks against NumPy itself: what is listed converts, and fails with bfloat16."""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.dtypes.operators import sinks
from tests.facts.dtypes.test_sinks import is_refused

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

NAMES = sorted(name for name in sinks.FUNCTIONS if name.startswith("numpy."))
MATRIX = [[2.0, 1.0], [1.0, 3.0]]
FORMS = [
    "x", "m", "x[0]", "x, x", "m, m", "x[0], x[0]", "x, 2", "x, 1", "m, 2", "m, (4,)", "x, [1]",
    "x, 0, 2", "a, x", "4, x / 16", "a, a, x", "x, a", "a > 1, x", "x > 1, x, 0.0", "a, x, 1",
    "io.BytesIO(), x", "'i,i', x, x", "[x, x], [x, x]", "np.zeros(3), x[:3], x[:3]", "x, x + 1",
    "np.int64(2), x[0]", "x[0], 2", "x, np.array([2.0, 4.0, 8.0, 2.0])",
]  # fmt: skip
"""Arguments of calls; each function takes some of them."""

LISTS = ["[x[0], x[1]]", "[m, m]", "[x, x]"]


def result_of(name: str, form: str, x: Any, m: Any) -> Any:
    module, _, function = name.rpartition(".")
    scope = {"io": io, "np": np, "a": np.arange(4.0), "x": x, "m": m}
    scope["function"] = getattr(import_module(module), function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            np.random.seed(0)
            return eval(f"function({form})", scope)
        except Exception as error:
            return error


def shape_of(result: Any) -> Any:
    """The types and dtypes in a result."""
    if isinstance(result, tuple | list):
        return [shape_of(item) for item in result]
    return type(result), getattr(result, "dtype", None)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What saves arrays takes some forms for the name of a file."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_listed_takes_float32_and_not_bfloat16(name: str) -> None:
    sink = sinks.FUNCTIONS[name]
    module, _, function = name.rpartition(".")
    if not hasattr(import_module(module), function):
        pytest.skip(f"NumPy {np.__version__} has no {function}")
    x, m = torch.tensor([2.0, 4.0, 8.0, 2.0]), torch.tensor(MATRIX)
    narrow, arrays = (x.bfloat16(), m.bfloat16()), (x.numpy(), m.numpy())
    works = [
        form
        for form in (FORMS if sink.tensors else LISTS)
        if not isinstance(result_of(name, form, x, m), Exception)
        and is_refused(result_of(name, form, *narrow))
    ]
    assert works
    if sink.tensors and sink.array == "same":
        for form in works:
            with_tensors = shape_of(result_of(name, form, x, m))
            assert shape_of(result_of(name, form, *arrays)) == with_tensors


@pytest.mark.parametrize("name", "split squeeze swapaxes shape ndim size mean max sum".split())
def test_what_is_not_listed_takes_bfloat16_or_no_tensor(name: str) -> None:
    sink = sinks.FUNCTIONS.get(f"numpy.{name}")
    assert sink is None or not sink.tensors
    for form in (form for form in FORMS if not form.startswith("[")):
        assert not is_refused(result_of(f"numpy.{name}", form, torch.ones(4).bfloat16(), None))


@pytest.mark.parametrize("dtype", sorted(sinks.LACKING))
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_the_dtypes_that_numpy_lacks(dtype: str) -> None:
    with pytest.raises(TypeError, match=f"ScalarType {sinks.scalar_type(dtype)}$"):
        torch.zeros(2).to(getattr(torch, dtype)).numpy()
