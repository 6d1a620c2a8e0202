"""Which names of AMP a release of torch has."""

from __future__ import annotations

import functools
import re

import pytest

from precision_lint.facts.amp.missing_names import SINCE

torch = pytest.importorskip("torch")


def test_each_name_is_in_the_releases_since_then() -> None:
    match = re.match(r"(\d+)\.(\d+)", torch.__version__)
    assert match is not None
    version = int(match[1]), int(match[2])
    for name, since in SINCE.items():
        if version >= since:
            assert functools.reduce(getattr, name.split(".")[1:], torch) is not None, name


def test_what_a_missing_name_says() -> None:
    with pytest.raises(ImportError, match=r"cannot import name 'Scaler' from 'torch\.amp'"):
        exec("from torch.amp import Scaler")
    with pytest.raises(AttributeError, match=r"module 'torch\.amp' has no attribute 'Scaler'"):
        _ = torch.amp.Scaler
