"""torch as the oracle of fixes: what raised before runs after, and gives the same values."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from precision_lint.engine.job import Job
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Applicability, Confidence
from precision_lint.project.files import Project
from tests import array_programs, cases

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


def is_executable(case: cases.Case) -> bool:
    """True if running the file, and `array()` in it, runs every line that is reported."""
    if not case.fixed or list(case.files) != ["case.py"]:
        return False
    return set(re.findall(r"def (\w+)", case.files["case.py"])) <= {"array"}


NUMPY = [case for case in cases.load(cases.RULES / "numpy-on-bfloat16.md") if is_executable(case)]


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


# Conversions to NumPy whose dtype the caller chooses, before and after the fix

IMPORTS = {
    "numpy": "import io\n\nimport numpy as np\nimport torch\n",
    "pandas": "import pandas as pd\nimport torch\n",
    "sklearn": "import sklearn.metrics.pairwise\nimport sklearn.preprocessing\nimport torch\n",
    "scipy": "import scipy.spatial\nimport scipy.special\nimport scipy.stats\nimport torch\n",
    "matplotlib": (
        "import matplotlib\n\nmatplotlib.use('agg')\n"
        "import matplotlib.pyplot as plt\nimport torch\n"
    ),
}
PROGRAMS = [
    pytest.param(
        library,
        body,
        Applicability.UNSAFE if name in array_programs.HELD else level,
        level is Applicability.UNSAFE,
        id=f"{library}: {name}",
    )
    for library, level, programs in (
        ("numpy", Applicability.SAFE, array_programs.SAFE),
        ("numpy", Applicability.UNSAFE, array_programs.UNSAFE),
        *((name, Applicability.SAFE, held) for name, held in array_programs.OTHERS.items()),
    )
    for name, body in programs.items()
]
with_programs = pytest.mark.parametrize(("library", "body", "level", "gives_arrays"), PROGRAMS)


def source_of(library: str, body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    head = "def run(x: torch.Tensor, y: torch.Tensor, m: torch.Tensor):"
    return f"{IMPORTS[library]}\n\n{head}\n{lines}"


def fixed(source: str, level: Applicability) -> str:
    """The source after the fixes of findings of any confidence."""
    path = Path("/nowhere/case.py")
    settings = Settings(min_confidence=Confidence.LOW)
    project = Project(path.parent, helper_module="precision_lint.runtime")
    job = Job(project, settings, level, write=False, named=frozenset([path]))
    result = lint_bytes(job, path, source.encode(), "python")
    assert result.failure is None
    assert result.text is not None
    return result.text.text


def run(source: str, dtype: str, values: tuple[list[Any], ...]) -> Any:
    """What the program returns for tensors of a dtype, or the error that it raises."""

    def loaded(file: io.BytesIO) -> Any:
        file.seek(0)
        data = np.load(file)
        return dict(data) if hasattr(data, "files") else data

    scope: dict[str, Any] = {"__name__": "case", "loaded": loaded}
    arguments = [torch.tensor(value, dtype=getattr(torch, dtype)) for value in values]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "case.py", "exec"), scope)
        try:
            return scope["run"](*arguments)
        except Exception as error:
            return error


VALUES = ([2.0, 1.5, 3.0, 0.5], [1.0, 0.25, 4.0, 1.0], [[2.0, 1.0], [1.0, 3.0]])
"""bfloat16 holds them exactly, so that float32 gives what is expected."""


def assert_same(found: Any, expected: Any) -> None:
    """The same type, dtype and values."""
    assert type(found) is type(expected), (found, expected)
    match expected:
        case tuple() | list():
            assert len(found) == len(expected)
            for one, other in zip(found, expected, strict=True):
                assert_same(one, other)
        case dict():
            assert found.keys() == expected.keys()
            assert_same(list(found.values()), list(expected.values()))
        case Exception():
            assert str(found) == str(expected)
        case str() | None:
            assert found == expected
        case _ if hasattr(expected, "dtypes"):  # a frame
            assert str(found.dtypes) == str(expected.dtypes)
            np.testing.assert_array_equal(found, expected)
        case _:
            assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)
            np.testing.assert_array_equal(found, expected)


def arrays_of(value: Any) -> Any:
    """What a program returns, with arrays in the place of tensors."""
    if isinstance(value, torch.Tensor):
        return value.numpy()
    if isinstance(value, tuple):
        return tuple(map(arrays_of, value))
    return value


def is_refused(result: Any) -> bool:
    return isinstance(result, TypeError) and "Got unsupported ScalarType" in str(result)


@with_programs
def test_a_conversion_that_raised_gives_what_float32_gives(
    library: str, body: str, level: Applicability, gives_arrays: bool
) -> None:
    pytest.importorskip(library)
    before = source_of(library, body)
    after = fixed(before, level)
    assert is_refused(run(before, "bfloat16", VALUES))
    expected = run(before, "float32", VALUES)
    assert not isinstance(expected, Exception), expected
    if gives_arrays:  # arrays in the place of tensors, but the same values
        np.testing.assert_equal(run(after, "bfloat16", VALUES), arrays_of(expected))
        return
    assert_same(run(after, "bfloat16", VALUES), expected)
    if is_refused(run(before, "float8_e5m2", VALUES)):  # few operators take it that far
        assert_same(run(after, "float8_e5m2", VALUES), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool"])
@with_programs
def test_a_safe_fix_changes_nothing_for_other_dtypes(
    library: str, body: str, level: Applicability, gives_arrays: bool, dtype: str
) -> None:
    pytest.importorskip(library)
    before = source_of(library, body)
    after = fixed(before, Applicability.SAFE)
    assert (after == before) == (level is Applicability.UNSAFE)
    assert_same(run(after, dtype, VALUES), run(before, dtype, VALUES))


@with_programs
def test_what_is_proved_gets_a_safe_fix(
    library: str, body: str, level: Applicability, gives_arrays: bool
) -> None:
    """A bfloat16 tensor is widened, and ufuncs still give tensors back."""
    pytest.importorskip(library)
    casts = "x, y, m = x.bfloat16(), y.bfloat16(), m.bfloat16()\n"
    before, expected = source_of(library, casts + body), source_of(library, body)
    after = fixed(before, Applicability.SAFE)
    assert "to_numpy" not in after
    assert is_refused(run(before, "float32", VALUES))
    assert_same(run(after, "float32", VALUES), run(expected, "float32", VALUES))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool"])
def test_to_numpy_changes_no_dtype_that_numpy_has(dtype: str) -> None:
    from precision_lint.runtime.host import to_numpy

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


BOTH_WAYS = """\
import torch


def host(tensor):
    return tensor.cpu().numpy()


def run(x):
    x = x.to(torch.bfloat16)
    return host(x), host(torch.arange(3.0)[torch.tensor(host(x.argmax(-1)))])
"""
"""Logits and the labels of `argmax` on one way, and an index that has to stay an integer."""


def test_labels_that_take_the_way_of_logits_stay_integers() -> None:
    x = torch.tensor([[0.5, 2.0, 1.0]])

    def run_after(source: str) -> Any:
        scope: dict[str, Any] = {}
        exec(compile(source, "case.py", "exec"), scope)
        return scope["run"](x)

    def fixed_without_helper() -> str:
        path = Path("/nowhere/case.py")
        settings = Settings(min_confidence=Confidence.LOW)
        level = Applicability.UNSAFE
        job = Job(Project(path.parent), settings, level, write=False, named=frozenset([path]))
        result = lint_bytes(job, path, BOTH_WAYS.encode(), "python")
        assert [one.fix.applicability for one in result.findings if one.fix is not None] == [
            Applicability.DISPLAY
        ]
        return result.text.text if result.text is not None else ""

    assert fixed_without_helper() == BOTH_WAYS
    with pytest.raises(IndexError, match="tensors used as indices must be long"):
        run_after(BOTH_WAYS.replace(".numpy()", ".float().numpy()"))
    scores, picked = run_after(fixed(BOTH_WAYS, Applicability.SAFE))
    assert scores.dtype == np.float32
    assert picked.tolist() == [1.0]


# Scores that are computed in half precision

LOG_PROBABILITIES = """\
import torch


def pick(logits, labels):
    logits = logits.bfloat16()
    CONTEXT
        scores = logits.log_softmax(-1)
        return scores.gather(-1, labels[:, None])
"""
"""Under `with torch.no_grad():` or `if True:`."""


def picked(source: str, logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, int]:
    """What a program picks of the scores, and how many bytes autograd keeps for `backward`."""
    scope: dict[str, Any] = {}
    exec(compile(source, "case.py", "exec"), scope)
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point():
            storage = tensor.untyped_storage()
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        values = scope["pick"](logits, labels)
    return values, sum(kept.values())


def test_scores_are_exact_after_the_fix_and_what_that_costs_is_said() -> None:
    torch.manual_seed(0)
    logits = torch.randn(64, 5000).bfloat16().float().requires_grad_()
    labels = torch.randint(0, 5000, (64,))
    exact = logits.double().log_softmax(-1).gather(-1, labels[:, None])

    evaluated = LOG_PROBABILITIES.replace("CONTEXT", "with torch.no_grad():")
    assert (picked(evaluated, logits, labels)[0].double() - exact).abs().max() > 1e-3
    after = fixed(evaluated, Applicability.UNSAFE)
    values, bytes_kept = picked(after, logits, labels)
    torch.testing.assert_close(values.double(), exact, rtol=0, atol=1e-5)
    assert bytes_kept == 0

    trained = LOG_PROBABILITIES.replace("CONTEXT", "if True:")
    assert fixed(trained, Applicability.UNSAFE) == trained  # shown only
    by_hand = trained.replace("logits.log_softmax", "logits.float().log_softmax")
    values, after_bytes = picked(by_hand, logits, labels)
    torch.testing.assert_close(values.double(), exact, rtol=0, atol=1e-5)
    assert after_bytes == 2 * picked(trained, logits, labels)[1]
    by_sum = by_hand.replace("logits.float().log_softmax(-1)", "logits").replace(
        "labels[:, None])", "labels[:, None]).float() - logits.float().logsumexp(-1, True)"
    )
    values, bytes_of_sum = picked(by_sum, logits, labels)
    torch.testing.assert_close(values.double(), exact, rtol=0, atol=1e-5)
    assert bytes_of_sum >= after_bytes  # picking the logits first saves nothing
