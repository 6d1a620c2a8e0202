"""The tables of libraries against recorded runs: a row says what a call of it gives.

`scripts/measure_libraries.py` writes the record.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    Dictionary,
    Model,
    ModelOutput,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.facts.dtypes.libraries.terms import (
    Anything,
    Checkpoint,
    Distribution,
    Either,
    Library,
    Many,
    Object,
    Option,
    Weights,
)
from precision_lint.facts.dtypes.operators import lookup
from tests.facts.dtypes.library_examples import SETUP
from tests.facts.dtypes.test_flow import receiver

FOLDER = Path(__file__).parent
RECORD: dict[str, dict[str, Any]] = json.loads((FOLDER / "libraries.json").read_text())
SINKS: dict[str, list[dict[str, str]]] = json.loads((FOLDER / "sinks.json").read_text())
CALLS_OF_SINKS = [row["call"] for library in SINKS.values() for row in library]
CALLS = {call: found for one in RECORD.values() for call, found in one["calls"].items()}
NEWER = {"itertools.batched"}
"""What Python 3.12 has, and the Python that was measured has not."""


def name_of(node: ast.expr) -> str | None:
    """The name of what is called: of a method, and of an object, with its class."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=function):
            name = name_of(function)
            row = None if name is None else lookup.of_function(name)
            return row.gives.name if row is not None and isinstance(row.gives, Object) else None
        case ast.Attribute(value=value, attr=attr):
            owner = name_of(value)
            return None if owner is None else f"{owner}.{attr}"
    return None


def rows_of(example: str) -> Iterator[Library]:
    """The rows of the calls in an example."""
    for node in ast.walk(ast.parse(example)):
        if not isinstance(node, ast.Call):
            continue
        name, row = name_of(node.func), None
        if name is not None:
            row = lookup.of_function(
                f"{name}.__call__" if isinstance(node.func, ast.Call) else name
            )
        elif isinstance(node.func, ast.Attribute):
            row = lookup.of_method("", node.func.attr)
        if row is not None:
            yield row


ROWS = [row for table in lookup.TABLES for row in table.ROWS]
MEASURED = {row for call in [*CALLS, *CALLS_OF_SINKS] for row in rows_of(call)}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row.measured.startswith("read:")], ids=lambda row: row.names
)
def test_every_row_was_measured(row: Library) -> None:
    assert row in MEASURED


@pytest.mark.parametrize("name", sorted(lookup.ROWS.keys() - NEWER))
def test_every_name_exists(name: str) -> None:
    assert any(name in one["names"] for one in RECORD.values())


def held(value: Value, exact: bool) -> Any:
    """The dtypes of the tensors in a value, as the record has them; None if there is none.

    What else it may be, such as the other items of a tuple, does not count if it must be `exact`.
    """
    match reading(value):
        case Tensor(dtypes=dtypes, caller_chosen=chosen, may_be_other=other):
            return ["tensor", *(["any"] if chosen or (other and not exact) else sorted(dtypes))]
        case ModelOutput(tensor=inner):
            return held(inner, exact)
        case Model(parameters=parameters):
            return ["module", *sorted(parameters.dtypes)]
        case Sequence(item=item):
            return ["items", held(item, exact)]
        case Dictionary(item=item):
            return ["values", held(item, exact)]
    return None


def tensors_in(found: Any) -> Any:
    """A record without the names of types that hold no tensor."""
    match found:
        case ["items" | "values" as kind, inner]:
            return [kind, tensors_in(inner)]
        case list():
            return found
    return None


def raises(found: Any) -> bool:
    return isinstance(found, str) and "Error: " in found


def value_of(example: str, dtype: str) -> Value:
    """What the dtype flow says of an example."""
    used = (node.value for node in ast.walk(ast.parse(example)) if isinstance(node, ast.Attribute))
    names = {node.id for node in used if isinstance(node, ast.Name) and len(node.id) > 1}
    head = "".join(f"import {name}\n" for name in sorted(names)) + SETUP.format(dtype=dtype)
    try:
        compile(example, "", "eval")
    except SyntaxError:
        return receiver(f"{head}{example}\nr.numpy()")
    return receiver(f"{head}({example}).numpy()")


def is_open(term: object) -> bool:
    """Whether a row leaves something open."""
    match term:
        case Anything() | Checkpoint() | Distribution() | Either() | Weights():
            return True
        case Many(of):
            return is_open(of)
        case Option(terms=terms, absent=absent):
            return is_open(absent) or any(is_open(one) for _, one in terms)
    return False


def admits(known: Any, found: Any) -> bool:
    """Whether what is known excludes no tensor that was found."""
    match known, found:
        case None, _:
            return True
        case ["tensor", "any"], ["items" | "values", inner]:
            return admits(known, inner)  # of what is loaded the form is open, too
        case [("items" | "values") as kind, one], [same, other]:
            return kind == same and admits(one, other)
        case ["tensor", *dtypes], ["tensor", *actual]:
            return dtypes == ["any"] or set(actual) <= set(dtypes)
    return known == found


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_the_flow_says_what_a_call_gives(call: str) -> None:
    exact = not any(is_open(row.gives) for row in rows_of(call))
    for dtype, found in CALLS[call].items():
        if not raises(found):
            known, actual = held(value_of(call, dtype), exact), tensors_in(found)
            assert known == actual if exact else admits(known, actual)


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


def test_schedulers_are_no_networks() -> None:
    assert lookup.of_function("diffusers.DDIMScheduler.from_pretrained") is None


def test_every_name_has_one_row() -> None:
    names = [
        f"{module}.{name}"
        for row in ROWS
        for module in row.modules.split()
        for name in row.names.split()
    ]
    assert sorted(names) == sorted(lookup.ROWS)
