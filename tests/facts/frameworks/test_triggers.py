"""Which files a framework may read: JSON is searched by its words."""

from __future__ import annotations

import pytest

from precision_lint.facts.frameworks._generated import marks
from precision_lint.facts.frameworks.triggers import may_be_read
from precision_lint.source.config.limits import MAX_CHARACTERS

DATA = b'{"text": "a few words of data"},\n' * 4_000


@pytest.mark.parametrize("mark", marks.JSON, ids=lambda mark: mark.decode())
def test_a_large_file_is_read_for_the_same_marks_as_a_small_one(mark: bytes) -> None:
    setting = b'{"' + mark + b'": 1}'
    assert may_be_read(setting, "json")
    assert may_be_read(DATA + setting, "json")


def test_data_is_not_read() -> None:
    assert not may_be_read(DATA, "json")


def test_what_is_larger_than_any_configuration_is_data() -> None:
    setting = b'{"train_batch_size": 1}'
    assert not may_be_read(setting + b" " * MAX_CHARACTERS, "json")
    in_chinese = ("\u534a" * (MAX_CHARACTERS // 2)).encode()
    assert len(in_chinese) > MAX_CHARACTERS
    assert may_be_read(setting + in_chinese, "json")
