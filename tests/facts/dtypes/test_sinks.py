"""The tables of sinks against recorded runs: what is listed converts, and fails with bfloat16.

`scripts/measure_sinks.py` writes the record.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from precision_lint.facts.dtypes.libraries.terms import Object
from precision_lint.facts.dtypes.operators import lookup, sinks

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
    if owner == "h5py.File.attrs":
        return f"h5py.AttributeManager.{last}"
    row = lookup.of_function(owner)
    return f"{row.gives.name}.{last}" if row and isinstance(row.gives, Object) else name


def path_of(node: ast.expr) -> str:
    match node:
        case ast.Attribute(value=value, attr=name):
            return f"{path_of(value)}.{name}"
        case ast.Call(func=function):
            return path_of(function)
    return ast.unparse(node)


def is_refused(result: object) -> bool:
    return "Got unsupported ScalarType" in str(result)


CONVERTING = {callee(call) for call, row in MEASURED if is_refused(row["bfloat16"])}
"""Calls that convert in one of the forms that were measured."""


def is_listed(call: str) -> bool:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    if callee(call) in sinks.FUNCTIONS:
        return True
    match node.func:
        case ast.Attribute(value=ast.Call(), attr=method):
            return method in sinks.METHODS_OF_OTHERS
    return False


@pytest.mark.parametrize(("call", "row"), MEASURED)
def test_the_tables_agree_with_what_was_measured(call: str, row: dict[str, str]) -> None:
    name = callee(call)
    if is_refused(row["bfloat16"]) and row["float32"] == "works":
        if name.rpartition(".")[2] not in NO_CALLS:
            assert is_listed(call) is (name not in LEFT_OUT)
    elif name not in CONVERTING:
        assert name not in sinks.FUNCTIONS


@pytest.mark.parametrize(
    "name", sorted(name for name in sinks.FUNCTIONS if not name.startswith("numpy."))
)
def test_what_is_listed_was_measured(name: str) -> None:
    assert name in CONVERTING


@pytest.mark.parametrize("method", sorted(sinks.METHODS_OF_OTHERS))
def test_methods_were_measured(method: str) -> None:
    assert method in {name.rpartition(".")[2] for name in CONVERTING}


@pytest.mark.parametrize(
    "name", sorted(name for name in sinks.FUNCTIONS if sinks.FUNCTIONS[name].array == "same")
)
def test_an_array_in_the_place_of_a_tensor_makes_no_difference(name: str) -> None:
    rows = [row for call, row in MEASURED if callee(call) == name and is_refused(row["bfloat16"])]
    assert {row["array"] for row in rows if row["float32"] == "works"} <= {"same"}
