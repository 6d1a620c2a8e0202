"""The tables of libraries against the libraries: a row says what a call of it gives."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from precision_lint.facts.dtypes.calls import Argument, CallSite
from precision_lint.facts.dtypes.lattice import join_all, reading
from precision_lint.facts.dtypes.libraries import lookup
from precision_lint.facts.dtypes.values import (
    NON_TENSOR,
    UNKNOWN,
    Constant,
    Dictionary,
    Dtype,
    Model,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Value,
    tensor,
)
from precision_lint.model.finding import Span
from precision_lint.source.text.text import SourceText
from tests.facts.dtypes.library_examples import EXAMPLES

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

SOURCE = SourceText(Path("example.py"), "")
NEWER = {"itertools.batched"}
DTYPES = ("bfloat16", "float16", "float32", "float64")


@pytest.fixture(scope="module", autouse=True)
def a_process_group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One process is a group as well."""
    store = torch.distributed.FileStore(str(tmp_path_factory.mktemp("group") / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def scope_of(expression: str, dtype: str) -> dict[str, Any]:
    """The names of an example; the test is skipped without its library."""
    x = torch.ones(4, 4).to(getattr(torch, dtype))
    names: dict[str, Any] = {
        "x": x,
        "i": torch.ones(3, 4, 4).to(x.dtype),
        "m": torch.nn.Linear(4, 4).to(x.dtype),
        "a": np.ones(4, dtype=np.float32),
    }
    for node in ast.walk(ast.parse(expression)):
        if isinstance(node, ast.Attribute) and (name := dotted(node)) is not None:
            root = name.partition(".")[0]
            if root not in names:
                names[root] = pytest.importorskip(root)
            if root not in {"x", "i", "m", "a"}:
                import_parts(name)
    return names


def import_parts(name: str) -> None:
    """Import a module whose attribute the name is, where it is one that needs that."""
    owner = name.rpartition(".")[0]
    try:
        import_module(owner)
    except ImportError:
        return


def dotted(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if (owner := dotted(value)) is not None:
            return f"{owner}.{attr}"
    return None


def abstract(found: Any, depth: int = 0) -> Value:
    """A value of the flow for an object."""
    match found:
        case torch.Tensor():
            return tensor(str(found.dtype).removeprefix("torch."))
        case torch.nn.Module() | torch.jit.ScriptModule():
            dtypes = {str(one.dtype).removeprefix("torch.") for one in found.parameters()}
            return Model(tensor(*dtypes))
        case np.ndarray():
            return NonTensor(frozenset({found.dtype.name}), False)
        case torch.dtype():
            return Dtype(frozenset({str(found).removeprefix("torch.")}))
        case str() | bytes() | int() | float() | None:
            return Constant(found)
        case Mapping():
            items = tuple((key, abstract(one)) for key, one in found.items())
            return Dictionary(join_all([one for _, one in items]), items)
        case ModuleType() | type():
            return UNKNOWN
    if depth > 4:
        return UNKNOWN
    try:
        items = [abstract(one, depth + 1) for one in found]
    except TypeError:
        return UNKNOWN if callable(found) else NON_TENSOR
    return Sequence(join_all(items), tuple(items))


def held(value: Value) -> Any:
    """The dtypes of the tensors in a value; the length of a list may be unknown."""
    match reading(value):
        case Tensor(dtypes=dtypes):
            return "tensor", *sorted(dtypes)
        case ModelOutput(tensor=inner):
            return held(inner)
        case Model(parameters=parameters):
            return "module", *sorted(parameters.dtypes)
        case Sequence(item=item):
            return "items", held(item)
        case Dictionary(item=item):
            return "values", held(item)
    return None


def call_site(call: ast.Call, scope: dict[str, Any]) -> CallSite:
    def argument(node: ast.expr) -> Argument:
        return Argument(abstract(eval(ast.unparse(node), scope)), Span(0, 0))

    return CallSite(
        SOURCE,
        Span(0, 0),
        tuple(map(argument, call.args)),
        {one.arg or "**": argument(one.value) for one in call.keywords},
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_a_row_says_what_a_call_gives(name: str, dtype: str) -> None:
    expression = EXAMPLES[name]
    scope = scope_of(expression, dtype)
    row = lookup.of_function(name)
    assert row is not None
    call = ast.parse(expression, mode="eval").body
    assert isinstance(call, ast.Call)
    given = call_site(call, copy.copy(scope))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        actual = abstract(eval(expression, scope))
    assert held(actual) is not None
    assert held(lookup.result(row, given)) == held(actual)


def test_every_name_has_one_row() -> None:
    names = [
        f"{module}.{name}"
        for table in lookup.TABLES
        for row in table.ROWS
        for module in row.modules.split()
        for name in row.names.split()
    ]
    assert sorted(names) == sorted(lookup.ROWS)


@pytest.mark.parametrize("name", lookup.ROWS)
@pytest.mark.filterwarnings("ignore")
def test_every_name_exists(name: str) -> None:
    """A class in between counts as a module: `accelerate.Accelerator.gather`."""
    root, *parts = name.split(".")
    found: Any = pytest.importorskip(root)
    if name in NEWER:
        pytest.skip("Python 3.12 has it")
    for position, part in enumerate(parts, 1):
        if not hasattr(found, part):
            import_module(".".join([root, *parts[:position]]))
        found = getattr(found, part)


@pytest.mark.parametrize(
    ("owner", "method", "measured"),
    [
        ("accelerator", "gather", True),
        ("x", "gather", False),
        ("self", "gather_for_metrics", True),
        ("model", "reduce", False),
        ("_fabric", "all_gather", True),
    ],
)
def test_methods_by_the_name_of_their_owner(owner: str, method: str, measured: bool) -> None:
    assert (lookup.of_method(owner, method) is not None) is measured


@pytest.mark.parametrize("precision", ["bf16", "no"])
def test_accelerate_widens_the_outputs_of_prepared_modules(precision: str) -> None:
    accelerate = pytest.importorskip("accelerate")
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(True)
    try:
        prepared = accelerate.Accelerator(cpu=True, mixed_precision=precision).prepare(
            torch.nn.Linear(4, 4).bfloat16()
        )
        output = prepared(torch.ones(4, 4).bfloat16())
    finally:
        AcceleratorState._reset_state(True)
    widens = precision in lookup.parallel.WIDENING["accelerate.Accelerator"]
    expected = lookup.widened(tensor("bfloat16")) if widens else tensor("bfloat16")
    assert held(expected) == held(abstract(output))


def result_of(name: str, expression: str, receiver: Value = UNKNOWN) -> Value:
    row = lookup.of_function(name)
    assert row is not None
    call = ast.parse(expression, mode="eval").body
    assert isinstance(call, ast.Call)
    return lookup.result(row, call_site(call, {"torch": torch, "x": torch.ones(2)}), receiver)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", None),
        ("convert_to_tensor=True", ("tensor", "bfloat16")),
        ("convert_to_tensor=False", None),
        ("convert_to_numpy=False", ("items", ("tensor", "bfloat16"))),
    ],
)
def test_what_an_encoder_returns_by_its_flags(flags: str, expected: Any) -> None:
    model = Model(tensor("bfloat16"))
    name = "sentence_transformers.SentenceTransformer.encode"
    assert held(result_of(name, f"encode({flags})", model)) == expected


@pytest.mark.parametrize(
    ("name", "expression", "expected"),
    [
        ("diffusers.AutoencoderKL.from_pretrained", "f('a')", "float32"),
        ("diffusers.UNet2DModel.from_pretrained", "f('a', torch_dtype=torch.float16)", "float16"),
        (
            "diffusers.StableDiffusionPipeline.from_pretrained",
            "f('a', torch_dtype=None)",
            "float32",
        ),
        ("torchvision.models.vit_b_16", "f()", "float32"),
    ],
)
def test_networks_have_the_default_dtype_or_the_one_given(
    name: str, expression: str, expected: str
) -> None:
    assert held(result_of(name, expression)) == ("module", expected)


def test_schedulers_are_no_networks() -> None:
    assert lookup.of_function("diffusers.DDIMScheduler.from_pretrained") is None


def test_what_is_gathered_is_written_into_a_list() -> None:
    row = lookup.of_function("torch.distributed.all_gather_object")
    assert row is not None
    call = ast.parse("f([None, None], x)", mode="eval").body
    assert isinstance(call, ast.Call)
    given = call_site(call, {"x": torch.ones(2).bfloat16()})
    [(position, keyword, value)] = lookup.effects(row, given)
    assert (position, keyword) == (0, "object_list")
    assert held(value) == ("items", ("tensor", "bfloat16"))
