"""What argparse makes of switches whose default is what they store."""

from __future__ import annotations

import argparse
from typing import Any

import pytest


def parsed(words: list[str], **options: Any) -> object:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", **options)
    return parser.parse_args(words).fp16


@pytest.mark.parametrize("words", [[], ["--fp16"]])
def test_an_action_that_stores_its_default_changes_nothing(words: list[str]) -> None:
    assert parsed(words, action="store_true", default=True) is True
    assert parsed(words, action="store_false", default=False) is False


@pytest.mark.parametrize("words", [[], ["--fp16", "False"], ["--fp16", "0"], ["--fp16", "no"]])
def test_every_word_is_true(words: list[str]) -> None:
    assert parsed(words, type=bool, default=True) is True


def test_other_switches_have_both_values() -> None:
    assert parsed([], action="store_true") is False
    optional: Any = argparse.BooleanOptionalAction
    assert parsed(["--no-fp16"], action=optional, default=True) is False
