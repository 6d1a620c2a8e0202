"""What the flow says of arrays and scalars of NumPy, and what NumPy gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import NonTensor
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording

np = pytest.importorskip("numpy")

HEAD = """
import numpy as np
h = np.ones((3, 3), np.float16)
s = np.ones((3, 3), np.float32)
d = np.ones((3, 3))
i = np.arange(9).reshape(3, 3)
"""

KNOWN = """
h * 2; 2.5 * h; h + h; h / h; h @ h; h ** 2; -h; h.T; h[1:]; h % 3; h // 2; s - 0.5
h.max(); h.min(); h.mean(); h.sum(); h.std(); h.var(); h.prod(); h.trace()
h.max(axis=0); h.mean(0); h.sum(keepdims=True); h.astype(np.float32).mean()
np.max(h); np.mean(h); np.median(h); np.sum(h, axis=0); np.std(h); np.nanmean(h); np.amax(s)
np.abs(h); np.exp(h); np.sqrt(h); np.log(h); np.square(h); np.tanh(h); np.round(h, 2); np.cumsum(h)
np.clip(h, 0, 1); h.clip(0, 1); h.round(1); h.cumsum()
h.reshape(9); h.ravel(); h.flatten(); h.squeeze(); h.transpose(); h.copy(); h.repeat(2); i.ravel()
np.squeeze(h); np.transpose(h); np.expand_dims(h, 0); np.flip(h); np.roll(h, 1); np.tile(h, 2)
np.concatenate([h, h]); np.stack([h, h]); np.vstack((h, h)); np.hstack([s, s]); np.array([h, h])
np.maximum(h, h); np.add(h, 1); np.multiply(h, 2.0); np.dot(h, h); np.matmul(s, s); np.power(h, 2)
np.zeros_like(h); np.asarray(h); np.float16(3); np.float32(3); np.float32(3) * np.float32(2)
"""
"""Of these the flow names the dtype."""

OPEN = """
h * d; h * s; h + np.float64(2); h * i; h * True; np.interp(h.ravel(), [0, 1], [0, 1]); i.mean()
np.concatenate([h, s]); np.array([h.max(), 2.5]); np.percentile(h, [10.0, 20.0]); i / 2; h * 1e6
np.average(h, weights=d); np.sum(h, dtype=np.float64); np.float32(3) * 2; np.float16(2) + 1.5
np.where(h > 0, h, d); h.argmax(); h > 0; np.linalg.norm(h); h.tolist(); h.max().item()
h.mean(dtype=np.float64); h.sum(dtype=np.float32)
"""
"""Of these it may say nothing, and nothing wrong."""


def expressions(text: str) -> list[str]:
    return [one.strip() for line in text.strip().splitlines() for one in line.split(";")]


def seen(expression: str) -> NonTensor:
    text = f"{HEAD}probe({expression})\n"
    file = python_file(SourceText(Path("case.py"), text), recording(Path("."), ()))
    value = calls_in(file, frozenset({"probe"}))[0].arguments[0].value
    return value if isinstance(value, NonTensor) else NonTensor()


def given(expression: str) -> object:
    variables: dict[str, object] = {}
    exec(HEAD, variables)
    return eval(expression, variables)


@pytest.mark.parametrize("expression", [*expressions(KNOWN), *expressions(OPEN)])
def test_numpy_gives_what_the_flow_says(expression: str) -> None:
    value, array = seen(expression), given(expression)
    dtype = getattr(array, "dtype", None)
    if dtype is None:  # a number of Python
        assert value.dtypes <= {"float64", "int64"}
        return
    assert not value.dtypes or value.dtypes == {dtype.name}
    if value.dtypes and value.scalar is not None:
        assert value.scalar is isinstance(array, np.generic)


@pytest.mark.parametrize("expression", expressions(KNOWN))
def test_the_flow_knows_the_common_ones(expression: str) -> None:
    assert seen(expression).dtypes
