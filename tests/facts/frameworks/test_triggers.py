"""Which files a framework may read: a large file of JSON is searched by its words."""

from __future__ import annotations

import pytest

from precision_lint.facts.frameworks._generated import marks
from precision_lint.facts.frameworks.triggers import may_be_read

DATA = b'{"text": "a few words of data"},\n' * 4_000


@pytest.mark.parametrize("mark", marks.JSON, ids=lambda mark: mark.decode())
def test_a_large_file_is_read_for_the_same_marks_as_a_small_one(mark: bytes) -> None:
    setting = b'{"' + mark + b'": 1}'
    assert may_be_read(setting, "json")
    assert may_be_read(DATA + setting, "json")


def test_data_is_not_read() -> None:
    assert not may_be_read(DATA, "json")
