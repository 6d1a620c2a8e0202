"""The dtype flow against what occurred while models of transformers ran: `tests/model_zoo`."""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from functools import cache
from importlib import util
from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    SOME_TENSOR,
    UNKNOWN,
    ModelOutput,
    Sequence,
    Value,
    caller_chosen,
    tensor,
)
from tests.context import NOWHERE
from tests.model_zoo import facts
from tests.model_zoo.causes import Causes
from tests.model_zoo.flow import Comparison, Verdict, compare, verdict

PACKAGE = facts.installed_sources()
EXPECTED = json.loads(Path(facts.__file__).with_name("expected.json").read_text("utf-8"))
"""Places at which the flow is known to be contradicted, by the reason."""

MOST_ROWS = 700
"""Of a file that is small enough for each run of the suite; `measure_models.py` takes all."""

MOST_UNKNOWN = 0.16
LEAST_EXACT = 0.105
LEAST_KNOWN = 0.45
"""Shares of the expressions: move them as the flow gets better. Known are also those whose dtype
the flow knows to be the caller's choice."""

needs_sources = pytest.mark.skipif(
    PACKAGE is None, reason=f"transformers=={facts.TRANSFORMERS} is not installed"
)


@cache
def comparisons() -> tuple[Comparison, ...]:
    """The expressions of the small files, each file by itself."""
    assert PACKAGE is not None
    found: list[Comparison] = []
    for file in facts.load().files:
        source = (PACKAGE / file.path).read_bytes()
        if source.count(b"\n") <= MOST_ROWS:
            assert file.is_of(source), f"{file.path} is not the file that ran"
            path = NOWHERE / "transformers" / file.path
            found += compare(file, source.decode(), path).expressions
    return tuple(found)


@needs_sources
def test_the_flow_excludes_no_dtype_that_occurs() -> None:
    contradicted = {
        each.place: f"{each.source} in {sorted(each.contradicted_in)}: {each.claim}"
        for each in comparisons()
        if each.verdict is Verdict.CONTRADICTED
    }
    expected = {place for places in EXPECTED.values() for place in places}
    assert not {place: said for place, said in contradicted.items() if place not in expected}, (
        "contradicted, and not in expected.json"
    )
    assert not expected - contradicted.keys(), "in expected.json, and no longer contradicted"


@needs_sources
def test_how_much_the_flow_knows() -> None:
    verdicts = Counter(each.verdict for each in comparisons())
    total = verdicts.total()
    assert total > 2000
    known = verdicts[Verdict.EXACT] + verdicts[Verdict.WIDER] + verdicts[Verdict.CHOSEN]
    shares = {
        "unknown": verdicts[Verdict.UNKNOWN] / total,
        "exact": verdicts[Verdict.EXACT] / total,
        "known": known / total,
    }
    assert shares["unknown"] <= MOST_UNKNOWN, shares
    assert shares["exact"] >= LEAST_EXACT, shares
    assert shares["known"] >= LEAST_KNOWN, shares


def test_the_facts_are_whole() -> None:
    recorded = facts.load()
    assert len(recorded.ran) >= 50
    assert all("float32" in modes for modes in recorded.ran.values())
    assert recorded.count > 20_000
    seen = {mode for file in recorded.files for each in file.spans.values() for mode in each}
    assert seen == set(facts.MODES)


def test_saved_facts_are_read_back(tmp_path: Path) -> None:
    recorded = facts.ModelFacts(
        {"tiny": ("float32",)},
        (
            facts.SourceFacts(
                "a.py",
                "0" * 64,
                {
                    (1, 0, 1, 5): {"float32": frozenset({"float32", "int64"})},
                    (2, 0, 2, 5): {"bfloat16": frozenset({("bfloat16", None, ("bool",))})},
                },
            ),
        ),
    )
    facts.save(recorded, tmp_path / "facts.json.gz")
    assert facts.load(tmp_path / "facts.json.gz") == recorded
    assert recorded.count == 3


@pytest.mark.parametrize(
    ("claim", "seen", "expected"),
    [
        (tensor("float32"), {"float32"}, Verdict.EXACT),
        (tensor("float32", "float64"), {"float32"}, Verdict.WIDER),
        (tensor("float32"), {"float32", "bfloat16"}, Verdict.CONTRADICTED),
        (caller_chosen(), {"float32", "bfloat16"}, Verdict.CHOSEN),
        (caller_chosen(), {"int64"}, Verdict.CONTRADICTED),
        (SOME_TENSOR, {"int64"}, Verdict.SOME_TENSOR),
        (UNKNOWN, {"float32"}, Verdict.UNKNOWN),
        (NON_TENSOR, {"float32"}, Verdict.CONTRADICTED),
        (tensor("float32"), {("float32", None)}, Verdict.CONTRADICTED),
        (ModelOutput(tensor("float32")), {("float32", None)}, Verdict.EXACT),
        (Sequence(tensor("float32")), {("float32", "float32")}, Verdict.EXACT),
        (Sequence(tensor("float32")), {"float32"}, Verdict.CONTRADICTED),
        (
            Sequence(UNKNOWN, (tensor("float32"), tensor("int64"))),
            {("float32", "int64")},
            Verdict.EXACT,
        ),
        (
            Sequence(UNKNOWN, (tensor("float32"), UNKNOWN)),
            {("float32", "int64")},
            Verdict.UNKNOWN,
        ),
    ],
)
def test_verdicts(claim: Value, seen: set[facts.Result], expected: Verdict) -> None:
    assert verdict(claim, frozenset(seen)) is expected


MODEL = """
import torch
from helpers import helper
def pair(x):
    return x, None
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
    def forward(self, x, other):
        y = helper(other)
        y = y.transpose(0, 1) * 2
        return self.linear(x) + y, pair(x)
"""


def test_a_cause_is_where_the_value_is_lost() -> None:
    span = (12, 12, 12, 33)
    file = facts.SourceFacts("case.py", "", {span: {"float32": frozenset({"float32"})}})
    compared = compare(file, MODEL, NOWHERE / "case.py")
    (expression,) = compared.expressions
    assert expression.source == "y.transpose(0, 1) * 2"
    assert expression.verdict is Verdict.UNKNOWN
    cause = Causes(compared).of(expression)
    assert cause.kind == "call of an import, a function of another file"
    assert ast.unparse(cause.node) == "helper(other)"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no positions of instructions")
def test_the_tracer_records_results_by_expression(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tests.model_zoo.tracer import Tracer

    path = tmp_path / "traced.py"
    path.write_text(
        "def pair(x):\n"
        "    return x.half(), None\n"
        "def items(x):\n"
        "    yield x\n"
        "def run(x):\n"
        "    y = x + 1\n"
        "    listed = list(items(x))\n"
        "    return pair(y), hasattr(x, 'data')\n"
    )
    spec = util.spec_from_file_location("traced", path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tracer = Tracer(str(path).__eq__)
    tracer.mode = "float32"
    with tracer:
        module.run(torch.ones(2))
    assert {span: by_mode["float32"] for (_, span), by_mode in tracer.results.items()} == {
        (2, 11, 2, 19): {"float16"},
        (6, 8, 6, 13): {"float32"},
        (8, 11, 8, 18): {("float16", None)},
    }
