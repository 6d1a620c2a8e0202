"""TOML tables, wherever their members are written."""

from __future__ import annotations

import pytest

from precision_lint.source.text.errors import Template, Unparsable
from tests.source.config.reading import config, mapping, only

DOCUMENT = """\
title = 'x'          # comment
a.b.c = 1
a.b.d = "two"
"quoted key" = [1, [2.5], "x"]
[table]
when = 1979-05-27
flag = true
[table.inner]
"--mixed_precision" = "bf16"
[[runs]]
name = "one"
[runs.args]
seed = 1
[[runs]]
name = "two"
inline = { x = 1, y.z = 2 }
"""


def test_the_tree_is_what_tomllib_reads() -> None:
    tomllib = pytest.importorskip("tomllib")
    assert only(config(DOCUMENT, "toml")) == tomllib.loads(DOCUMENT)


def test_a_member_ends_before_its_comment() -> None:
    member = mapping(config(DOCUMENT, "toml")).get("title")
    assert member is not None
    assert DOCUMENT[slice(*member.span)] == "title = 'x'"
    assert not member.mapping.flow


def test_errors_have_a_place() -> None:
    with pytest.raises(Unparsable) as caught:
        config("a = 1\nb = \nc = 2\n", "toml")
    assert (caught.value.row, caught.value.column) == (2, 5)
    assert "line" not in caught.value.message


def test_errors_at_the_end_have_a_place() -> None:
    with pytest.raises(Unparsable) as caught:
        config('a = 1\nb = "', "toml")
    assert caught.value.row == 2


def test_templates_are_said_to_be_templates() -> None:
    with pytest.raises(Template):
        config("a = {{ cookiecutter.precision }}\n", "toml")


def test_a_placeholder_in_a_string_is_an_unknown_value() -> None:
    assert only(config('precision = "${PRECISION}"\n', "toml")) == {"precision": ...}
