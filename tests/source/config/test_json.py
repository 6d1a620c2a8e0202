"""JSON as it is found: with comments, trailing commas and missing ends."""

from __future__ import annotations

import math

import pytest

from precision_lint.source.text.errors import MergeConflict, Template
from tests.source.config.reading import config, mapping, only, plain


def test_comments_and_trailing_commas_are_no_defect() -> None:
    file = config('{\n // c\n "a": [1, 2,], /* d */ "b": {"c": true,},\n}\n', "json")
    assert only(file) == {"a": [1, 2], "b": {"c": True}}
    assert file.defect is None


def test_duplicates_are_kept_and_the_last_one_wins() -> None:
    file = config('{"bf16": true, "bf16": false}', "json")
    member = mapping(file).get("bf16")
    assert member is not None
    assert member.entry.scalar is False
    assert len(mapping(file).entries) == 2


def test_numbers_that_only_python_reads() -> None:
    file = config('{"a": Infinity, "b": -Infinity, "c": NaN, "d": "NaN"}', "json")
    document = only(file)
    assert isinstance(document, dict)
    assert document["a"] == math.inf
    assert document["b"] == -math.inf
    assert math.isnan(document["c"])
    assert document["d"] == "NaN"
    assert file.defect is None


@pytest.mark.parametrize("text", ['{"a": 1 "b": 2, "c": true', '{"a": , "c": true}'])
def test_what_can_be_read_of_a_broken_file_is_read(text: str) -> None:
    file = config(text, "json")
    assert file.defect is not None
    assert file.defect.row == 1
    member = mapping(file).get("c")
    assert member is not None
    assert member.entry.scalar is True


def test_a_value_beside_an_error_is_unknown() -> None:
    file = config('{"fp16": tru, "bf16": true}', "json")
    assert file.defect is not None
    member = mapping(file).get("fp16")
    assert member is None or member.entry.scalar is None


@pytest.mark.parametrize(
    "text",
    ['{"a": ${X}}', '{"fp16": FP16_ENABLED}', '{"a": {{ x }}}', '{% if x %}{"a": 1}{% endif %}'],
)
def test_templates_are_said_to_be_templates(text: str) -> None:
    with pytest.raises(Template):
        config(text, "json")


def test_both_sides_of_a_merge_are_no_settings() -> None:
    with pytest.raises(MergeConflict) as conflict:
        config('{\n<<<<<<< HEAD\n"a": 1\n=======\n"b": 1\n>>>>>>> other\n}\n', "json")
    assert (conflict.value.row, conflict.value.column) == (2, 1)


def test_a_placeholder_in_a_string_is_an_unknown_value() -> None:
    assert only(config('{"fp16": "${FP16}", "bf16": "auto"}', "json")) == {
        "fp16": ...,
        "bf16": "auto",
    }


def test_quoted_booleans_stay_strings() -> None:
    assert only(config('{"fp16": "true"}', "json")) == {"fp16": "true"}


def test_json_lines() -> None:
    file = config('{"a": 1}\n{"a": 2}\n', "json")
    assert [plain(document) for document in file.documents] == [{"a": 1}, {"a": 2}]


def test_crlf_and_byte_order_mark() -> None:
    file = config(b'\xef\xbb\xbf{\r\n  "\xc3\xa9": true\r\n}\r\n', "json")
    (entry,) = mapping(file).entries
    assert file.text[entry.span] == '"é": true'
    assert file.text.position(entry.span.start) == (2, 3)
