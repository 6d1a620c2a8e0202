"""The order of branches decides nothing: neither whether there is a finding, nor which."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from precision_lint.engine.job import Job
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence
from precision_lint.project.files import Project

PATH = Path("/nowhere/case.py")
HEAD = """\
import numpy as np
import torch
import torch.nn.functional as F
from elsewhere import load


class Layer(torch.nn.Module):
    def forward(self, x):
        return x


def helper(x, flag=False):
    return (x, x) if flag else x


def f(x: torch.Tensor, anything, choice, model):
    ones = torch.ones(2)
    half = ones.bfloat16()
"""
VALUES = [
    "anything", "x", "half", "ones", "ones.half()", "x.bfloat16()", "np.zeros(2)",
    "np.zeros(2, int)", "None", "1", "0.5", "'text'", "choice > 1", "[half]", "[ones, half]",
    "(half, 1)", "[anything]", "[np.zeros(2)]", "[]", "{'a': half}", "{'a': ones, 'b': half}",
    "{'b': half, 'a': 1}", "model(x)", "model(x).logits", "load(x)", "helper(half, choice)",
    "helper", "Layer()", "torch", "Layer().bfloat16()", "torch.bfloat16", "torch.float32",
    "torch.nn.Linear(2, 2)", "x.shape", "half.cpu().numpy()",
]  # fmt: skip
USES = [
    "np.save('p', y)", "y.numpy()", "np.asarray([y, 1])", "y[0].numpy()", "np.save('p', y['a'])",
    "np.asarray(y.cpu())", "(y + 1).numpy()", "np.save('p', torch.exp(y))", "y(x).numpy()",
    "np.asarray([each for each in y])", "np.save('p', x.to(y))", "np.array(helper(y))",
    "y.append(x.bfloat16())\n    np.asarray(y)", "z = y\n    z += 1\n    np.save('p', z)",
    "F.cross_entropy(y, ones)", "F.cross_entropy(half.to(getattr(y, 'dtype')), ones)",
    "scaler = torch.amp.GradScaler('cuda', enabled=y == torch.float16)",
    "with torch.autocast('cuda', y):\n        np.save('p', x @ x)",
    "if isinstance(y, torch.Tensor):\n        np.save('p', y)",
    "if y.dtype != torch.bfloat16:\n        np.save('p', y)",
    "np.save('p', half.sum(y))",
]  # fmt: skip


def chain(values: list[str]) -> str:
    """One `if` with an `elif` for each value but the last."""
    branches = [f"    elif choice == {n}:\n        y = {v}\n" for n, v in enumerate(values)]
    return "".join(branches).replace("elif", "if", 1) + "    else:\n        pass\n"


def with_else(values: list[str]) -> str:
    return chain(values[:-1]).replace("pass\n", f"y = {values[-1]}\n")


def nested(values: list[str], depth: int = 1) -> str:
    """Each branch but the first inside of the one before."""
    space = "    " * depth
    first, *rest = values
    if not rest:
        return f"{space}y = {first}\n"
    return (
        f"{space}if choice == {depth}:\n{space}    y = {first}\n"
        f"{space}else:\n{nested(rest, depth + 1)}"
    )


def expression(values: list[str]) -> str:
    first, *rest = values
    tests = [f" if choice == {n} else {v}" for n, v in enumerate(rest)]
    return f"    y = {first}{''.join(tests)}\n"


def returned(values: list[str]) -> str:
    """The result of a function."""
    branches = [
        f"        if choice == {n}:\n            return {v}\n" for n, v in enumerate(values)
    ]
    return f"    def inner():\n{''.join(branches)}        raise ValueError\n\n    y = inner()\n"


def matched(values: list[str]) -> str:
    cases = [f"        case {n}:\n            y = {v}\n" for n, v in enumerate(values)]
    return "    match choice:\n" + "".join(cases)


def overwritten(values: list[str]) -> str:
    """A default, and what may replace it."""
    first, *rest = values
    tests = [f"    if choice == {n}:\n        y = {v}\n" for n, v in enumerate(rest)]
    return f"    y = {first}\n{''.join(tests)}"


FORMS = [chain, with_else, nested, expression, returned, matched, overwritten]


def findings(program: str) -> list[tuple[object, ...]]:
    """What is reported, without the places."""
    settings = Settings(min_confidence=Confidence.LOW)
    job = Job(Project(PATH.parent), settings, None, write=False, named=frozenset([PATH]))
    result = lint_bytes(job, PATH, program.encode(), "python")
    assert result.failure is None, result.failure
    return sorted(
        (
            each.code,
            each.message,
            each.severity.name,
            each.confidence.name,
            each.fix is not None and each.fix.applicability.name,
            sorted(related.message for related in each.related),
        )
        for each in result.findings
    )


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    values=st.lists(st.sampled_from(VALUES), min_size=2, max_size=3, unique=True),
    use=st.sampled_from(USES),
)
@example(values=["anything", "np.zeros(2)", "half"], use="np.save('p', y)")
@example(values=["anything", "np.zeros(2)", "half"], use="y.numpy()")
@example(values=["[half]", "1", "None"], use="y[0].numpy()")
def test_the_order_of_branches_decides_nothing(
    form: Callable[[list[str]], str], values: list[str], use: str
) -> None:
    found = {
        ordered: findings(f"{HEAD}{form([*ordered])}    {use}\n")
        for ordered in permutations(values)
    }
    first, *others = found.values()
    assert all(other == first for other in others), found
