"""What becomes of an argument whose tensors are converted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    UNKNOWN,
    Dictionary,
    Sequence,
    Tensor,
    Value,
    tensor,
)
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.fixers.arrays import convert_argument
from precision_lint.model.dtypes import BFLOAT16, INT64
from precision_lint.model.finding import apply_edits
from precision_lint.source.text.text import SourceText
from tests.context import python_file

NARROW = tensor(BFLOAT16)
ANY = Tensor(caller_chosen=True)
IDS = tensor(INT64)


def how(value: Tensor) -> str | None:
    if value.must_be(frozenset({BFLOAT16})):
        return ".float()"
    return "to_numpy" if value.may_be(frozenset({BFLOAT16})) else None


def converted(expression: str, value: Value) -> str | None:
    """The argument of a call after its tensors are converted, if it holds `value`."""
    source = f"import numpy as np\n\nnp.stack({expression}, axis=0)\n"
    file = python_file(SourceText(Path("case.py"), source))
    (call,) = calls_in(file, frozenset({"stack"}))
    edits = convert_argument(file, call, replace(call.arguments[0], value=value), how)
    if edits is None:
        return None
    after = apply_edits(source, edits)
    return after.partition("np.stack(")[2].rpartition(", axis")[0]


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("x", NARROW, "x.float()"),
        ("x", ANY, "to_numpy(x)"),
        ("x", IDS, "x"),
        ("-x", NARROW, "(-x).float()"),
        ("(-x)", NARROW, "(-x).float()"),
        ("x if y else z", NARROW, "(x if y else z).float()"),
        ("x if y else z", ANY, "to_numpy(x if y else z)"),
        ("await x", NARROW, "(await x).float()"),
        ("f(\n    x,  # why\n)", ANY, "to_numpy(f(\n    x,  # why\n))"),
        # literals
        ("[x, y]", Sequence(ANY), "[to_numpy(x), to_numpy(y)]"),
        ("(x, -y,)", Sequence(NARROW), "(x.float(), (-y).float(),)"),
        ("[x, i, 1.0]", Sequence(UNKNOWN, (ANY, IDS, NON_TENSOR)), "[to_numpy(x), i, 1.0]"),
        ("[x, y]", Sequence(UNKNOWN, (ANY, NARROW)), "[to_numpy(x), y.float()]"),
        ("[[x], [y]]", Sequence(Sequence(ANY)), "[[to_numpy(x)], [to_numpy(y)]]"),
        ("{'a': x}", Dictionary(ANY), "{'a': to_numpy(x)}"),
        (
            "{'a': x, 'b': i}",
            Dictionary(UNKNOWN, (("a", ANY), ("b", IDS))),
            "{'a': to_numpy(x), 'b': i}",
        ),
        # comprehensions
        ("[f(x) for x in xs]", Sequence(ANY), "[to_numpy(f(x)) for x in xs]"),
        (
            "[[x, x] for x in xs]",
            Sequence(Sequence(ANY)),
            "[[to_numpy(x), to_numpy(x)] for x in xs]",
        ),
        ("{k: v for k, v in z}", Dictionary(NARROW), "{k: v.float() for k, v in z}"),
        # containers that have a name, or come from a call
        ("xs", Sequence(ANY), "[to_numpy(item) for item in xs]"),
        ("x.split(2)", Sequence(NARROW), "[item.float() for item in x.split(2)]"),
        ("xs", Sequence(UNKNOWN, (ANY, NARROW)), "[to_numpy(item) for item in xs]"),
        ("xs or ys", Sequence(ANY), "[to_numpy(item) for item in (xs or ys)]"),
        ("d", Dictionary(ANY), "{key: to_numpy(value) for key, value in d.items()}"),
        # no edit is right for every item
        ("[*xs, x]", Sequence(ANY), None),
        ("{**d, 'a': x}", Dictionary(ANY), None),
        ("xs", Sequence(UNKNOWN, (ANY, NON_TENSOR)), None),
        ("xs", Sequence(Sequence(ANY)), None),
        ("d", Dictionary(UNKNOWN, (("a", ANY), ("b", UNKNOWN))), None),
    ],
)
def test_the_tensors_of_an_argument(expression: str, value: Value, expected: str | None) -> None:
    assert converted(expression, value) == expected
