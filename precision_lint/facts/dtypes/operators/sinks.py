"""Where tensors become NumPy arrays: which arguments of which calls, and which dtypes that stops.

A call is named in the tables of `libraries` if it works with float32 tensors and raises `Got
unsupported ScalarType BFloat16` with bfloat16 ones. Calls that take bfloat16 (`np.split`,
`train_test_split`, `plt.title`) and calls that take no tensor at all (`np.mean(t)`, `cv2.resize`,
`Image.fromarray`) are not. `scripts/measure_sinks.py` runs the libraries; what it found is in
`tests/facts/dtypes/sinks.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.open_values import may_be_half
from precision_lint.facts.dtypes.domain.values import (
    Dictionary,
    Dtype,
    FunctionValue,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.libraries import (
    data_sinks,
    media_sinks,
    numpy_sinks,
    plot_sinks,
    scipy_sinks,
    tracking_sinks,
)
from precision_lint.facts.dtypes.libraries.conversion import ARRAY, Sink
from precision_lint.model.dtypes import BFLOAT16, FLOAT8, FLOAT16, FLOAT32

__all__ = ["FUNCTIONS", "LACKING", "METHODS_OF_OTHERS", "NARROW", "Sink", "sink_of", "tensors"]

LACKING = frozenset({BFLOAT16}) | FLOAT8
"""The floating dtypes that NumPy lacks; float32 holds them without loss."""


NARROW = LACKING | {FLOAT16, FLOAT32}
"""The floating dtypes that float32 holds without loss."""


def scalar_type(dtype: str) -> str:
    """What torch calls one of them in its message."""
    return "BFloat16" if dtype == BFLOAT16 else dtype.capitalize()


def tensors(value: Value) -> Iterator[Tensor]:
    """The tensors that a value is or holds."""
    match value:
        case Tensor():
            yield value
        case Sequence(items=tuple(items)):
            for item in items:
                yield from tensors(item)
        case Dictionary(items=tuple(members)):
            for _, item in members:
                yield from tensors(item)
        case Sequence(item=item) | Dictionary(item=item):
            yield from tensors(item)


def sink_of(call: Call, version_of: Callable[[str], tuple[int, int] | None]) -> Sink | None:
    """What the call turns into arrays; None if that is nothing, or not known.

    `version_of` gives the release of a library that the project pins: some convert no longer, and
    some did not yet.
    """
    if call.function is not None:
        if _is_not_yet(call.function, version_of):
            return None
        return (
            FUNCTIONS.get(call.function)
            or _of_distribution(call.function)
            or _of_older(call.function, version_of)
        )
    if isinstance(call.receiver, Tensor | ModelOutput):
        return METHODS_OF_TENSORS.get(call.name)
    if isinstance(call.receiver, NonTensor):
        return METHODS_OF_OTHERS.get(call.name)
    return None


def may_convert(call: Call) -> bool:
    """False for a call that converts nothing, whatever callers and other files say of its values.

    What is called is known for good, and so is what is a dtype or a function and no tensor.
    """
    if call.function is None:
        return not isinstance(call.receiver, Dtype)
    sink = FUNCTIONS.get(call.function) or _of_distribution(call.function)
    if sink is None and call.function in tracking_sinks.UNTIL:
        sink = tracking_sinks.UNTIL[call.function][0]
    return sink is not None and any(
        isinstance(value, Unknown) or may_be_half(value)
        for value in sink.taken(call)
        if not isinstance(value, Dtype | FunctionValue)
    )


def _of_older(function: str, version_of: Callable[[str], tuple[int, int] | None]) -> Sink | None:
    """A sink of the release that the project pins, if later ones take bfloat16."""
    if function not in tracking_sinks.UNTIL:
        return None
    sink, library, repaired = tracking_sinks.UNTIL[function]
    version = version_of(library)
    return sink if version is not None and version < repaired else None


def _is_not_yet(function: str, version_of: Callable[[str], tuple[int, int] | None]) -> bool:
    """True for a function that takes bfloat16 in the release that the project pins."""
    library, first = media_sinks.SINCE.get(function, ("", (0, 0)))
    version = version_of(library) if library else None
    return version is not None and version < first


def _of_distribution(function: str) -> Sink | None:
    """`scipy.stats.norm.cdf`: the methods of a distribution; making one converts nothing."""
    match function.split("."):
        case ["scipy", "stats", _, method] if method in scipy_sinks.DISTRIBUTION:
            return ARRAY
    return None


_TABLES = (numpy_sinks, scipy_sinks, data_sinks, plot_sinks, media_sinks, tracking_sinks)

FUNCTIONS: Mapping[str, Sink] = {
    f"{module}.{name}": sink
    for table in _TABLES
    for module, sink, names in table.SINKS
    for name in names.split()
}
"""By qualified name; of a method, with the class before it, of an object that is called,
`torchvision.transforms.ToPILImage.__call__`."""

METHODS_OF_TENSORS: Mapping[str, Sink] = dict.fromkeys(
    ("numpy", "__array__"), Sink(receiver=True, lists=False)
)

METHODS_OF_OTHERS: Mapping[str, Sink] = {
    **plot_sinks.METHODS,
    **data_sinks.METHODS,
    **media_sinks.METHODS,
}
"""Methods of objects that are no tensors: figures, models of scikit-learn, data frames."""

_OF_TENSORS = frozenset({"torch", "torchvision", "transformers"})

PACKAGES = frozenset(name.partition(".")[0] for name in FUNCTIONS) - _OF_TENSORS
"""The packages that the functions belong to, but for those that have few sinks among much else."""

NAMES = frozenset(
    parts[-2] if parts[-1] == "__call__" else parts[-1]
    for parts in (name.split(".") for name in (*FUNCTIONS, *tracking_sinks.UNTIL))
    if parts[0] in _OF_TENSORS
)
"""What the sinks of those are called by: functions, and classes whose objects are called."""
