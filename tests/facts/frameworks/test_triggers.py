"""Which files a framework may read: JSON is searched by its words."""

from __future__ import annotations

import pytest

from precision_lint.facts.frameworks._generated import marks
from precision_lint.facts.frameworks.triggers import may_be_read
from precision_lint.facts.settings.vocabulary import sets_precision_in_json
from precision_lint.source.config.limits import MAX_CHARACTERS

DATA = b'{"text": "a few words of data"},\n' * 4_000


@pytest.mark.parametrize("mark", marks.JSON, ids=lambda mark: mark.decode())
def test_a_large_file_is_read_for_the_same_marks_as_a_small_one(mark: bytes) -> None:
    setting = b'{"' + mark + b'": 1}'
    assert may_be_read(setting, "json")
    assert may_be_read(DATA + setting, "json")


@pytest.mark.parametrize("mark", marks.JSON[::20], ids=lambda mark: mark.decode())
def test_a_key_may_be_an_option_or_a_path(mark: bytes) -> None:
    assert may_be_read(b'{"--' + mark + b'": 1}', "json")
    assert may_be_read(b'{"trainer.' + mark + b'": 1}', "json")


def test_data_is_not_read() -> None:
    assert not may_be_read(DATA, "json")


def test_what_is_larger_than_any_configuration_is_data() -> None:
    setting = b'{"train_batch_size": 1}'
    assert not may_be_read(setting + b" " * MAX_CHARACTERS, "json")
    in_chinese = ("\u534a" * (MAX_CHARACTERS // 2)).encode()
    assert len(in_chinese) > MAX_CHARACTERS
    assert may_be_read(setting + in_chinese, "json")


def test_a_word_inside_another_key_is_no_mark() -> None:
    assert not may_be_read(b'{"answer": "the actor", "factory": 1}', "json")
    assert may_be_read(b'{"trainer": {"fp16": {"enabled": true}}, "bf16.enabled": 1}', "json")


@pytest.mark.parametrize(
    "content",
    [
        b'{"half": true}',
        b'{"model.dtype": "x"}',
        b'{"dtype": "bf16"}',
        b'{"args": ["--use_fp16"]}',
        b'{"cmd": "python train.py --amp"}',
        b'{"cmd": "FP16=1 python train.py"}',
    ],
)
def test_json_that_may_set_a_precision(content: bytes) -> None:
    assert sets_precision_in_json(content)


@pytest.mark.parametrize(
    "content",
    [
        b'{"answer": "half of the cake, with precision"}',
        b'[{"question": "What is bf16?", "category": "adversarial"}]',
    ],
)
def test_json_that_only_has_prose(content: bytes) -> None:
    assert not sets_precision_in_json(content)
