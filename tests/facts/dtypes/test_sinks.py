"""The table of sinks against NumPy itself: what is listed converts, and fails with bfloat16."""

from __future__ import annotations

import ast
import io
import json
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.dtypes import sinks
from precision_lint.facts.dtypes.libraries import lookup
from precision_lint.facts.dtypes.libraries.terms import Object

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


def is_refused(result: Any) -> bool:
    return "Got unsupported ScalarType" in str(result)


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


RECORD = json.loads((Path(__file__).parent / "sinks.json").read_text())
MEASURED = [(row["call"], row) for library in RECORD.values() for row in library]

NO_CALLS = {"__setitem__", "__iadd__", "__add__", "__mul__"}
"""Not written as calls: assignments, operators."""

LEFT_OUT = {
    "numpy.add.at": "a method of a ufunc",
    "numpy.maximum.reduce": "a method of a ufunc",
    "numpy.zeros.put": "a rare method",
    "wandb_run.log": "scalars work, and are what is logged",
    "wandb_run.summary.update": "scalars work, and are what is logged",
    "tracker.get_tracker.log_images": "the object is of no known class",
    "transformers.WhisperFeatureExtractor.__call__": "of many classes of processors",
    "transformers.CLIPImageProcessor.__call__": "of many classes of processors",
}


def callee(expression: str) -> str:
    """What is called, by the name that the tables have."""
    node = ast.parse(expression, mode="eval").body
    assert isinstance(node, ast.Call)
    if isinstance(node.func, ast.Call):
        name = f"{path_of(node.func.func)}.__call__"
    else:
        name = path_of(node.func)
    owner, _, last = name.rpartition(".")
    row = lookup.of_function(owner)
    return f"{row.gives.name}.{last}" if row and isinstance(row.gives, Object) else name


def path_of(node: ast.expr) -> str:
    match node:
        case ast.Attribute(value=value, attr=name):
            return f"{path_of(value)}.{name}"
        case ast.Call(func=function):
            return path_of(function)
    return ast.unparse(node)


CONVERTING = {callee(call) for call, row in MEASURED if is_refused(row["bfloat16"])}
"""Calls that convert in one of the forms that were measured."""


def is_listed(name: str) -> bool:
    last = name.rpartition(".")[2]
    of_object = name.split(".")[-2] in {"DataFrame", "zeros", "File"}
    return name in sinks.FUNCTIONS or (of_object and last in sinks.METHODS_OF_OTHERS)


@pytest.mark.parametrize(("call", "row"), MEASURED)
def test_the_tables_agree_with_what_was_measured(call: str, row: dict[str, str]) -> None:
    name = callee(call)
    if is_refused(row["bfloat16"]) and row["float32"] == "works":
        if name.rpartition(".")[2] not in NO_CALLS and "attrs" not in name:
            assert is_listed(name) is (name not in LEFT_OUT)
    elif name not in CONVERTING:
        assert name not in sinks.FUNCTIONS


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name in sinks.FUNCTIONS
        if name.partition(".")[0]
        in {"faiss", "librosa", "mediapy", "plotly", "polars", "tensorboardX", "torchvision"}
        | {"skimage", "soundfile", "transformers", "trimesh", "wandb"}
    ),
)
def test_what_is_listed_was_measured(name: str) -> None:
    assert name in CONVERTING
