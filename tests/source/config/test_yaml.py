"""YAML as PyYAML reads it, without ever expanding an alias."""

from __future__ import annotations

import pytest

from precision_lint.source.config.settings_tree import Opaque, mappings
from precision_lint.source.text.errors import Template
from tests.source.config.reading import config, mapping, only, plain


def text_of(text: str, name: str) -> str:
    member = mapping(config(text, "yaml")).get(name)
    assert member is not None
    return text[slice(*member.span)]


def value_of(text: str, name: str) -> object:
    member = mapping(config(text, "yaml")).get(name)
    return plain(member.entry.value) if member else None


@pytest.mark.parametrize("word", ["yes", "Yes", "on", "ON", "true", "True"])
def test_yaml_1_1_knows_many_words_for_true(word: str) -> None:
    assert value_of(f"bf16: {word}", "bf16") is True


def test_unquoted_no_is_false_and_quoted_no_is_a_word() -> None:
    assert only(config("a: no\nb: 'no'\nc: \"no\"\nd: off", "yaml")) == {
        "a": False, "b": "no", "c": "no", "d": False,
    }  # fmt: skip


def test_null_in_all_spellings() -> None:
    text = "fp16:\nbf16: ~\ntf32: null\n"
    assert only(config(text, "yaml")) == {"fp16": None, "bf16": None, "tf32": None}
    assert text_of(text, "fp16") == "fp16:"


def test_the_last_of_duplicate_keys_wins_and_both_are_kept() -> None:
    file = config("bf16: true\nbf16: false\n", "yaml")
    assert [entry.scalar for entry in mapping(file).entries] == [True, False]
    assert value_of("bf16: true\nbf16: false\n", "bf16") is False


def test_own_keys_beat_merged_ones_wherever_they_stand() -> None:
    text = "base: &b {fp16: true, seed: 1}\nrun:\n  fp16: false\n  <<: *b\n"
    run = [m for m in mappings(config(text, "yaml").documents) if m.merged]
    assert [m.get("fp16").entry.scalar for m in run] == [False]  # type: ignore[union-attr]
    assert [m.get("seed").entry.scalar for m in run] == [1]  # type: ignore[union-attr]


def test_the_first_mapping_of_a_merge_list_wins() -> None:
    text = "- &a {x: 1}\n- &b {x: 2, y: 2}\n- <<: [*a, *b]\n"
    last = list(mappings(config(text, "yaml").documents))[-1]
    assert [last.get(k).entry.scalar for k in "xy"] == [1, 2]  # type: ignore[union-attr]


def test_an_entry_with_an_alias_ends_behind_the_alias() -> None:
    assert text_of("a: &x true\nfp16: *x  # why\n", "fp16") == "fp16: *x"


def test_anchor_and_tag_are_not_part_of_the_value() -> None:
    member = mapping(config("fp16: &x !!bool yes\n", "yaml")).get("fp16")
    assert member is not None
    assert member.entry.scalar is True
    assert member.entry.value.span == (16, 19)


def test_custom_tags_are_opaque_and_keep_their_children() -> None:
    file = config("model: !new:Model\n  dtype: bf16\n", "yaml")
    member = mapping(file).get("model")
    assert member is not None
    assert isinstance(member.entry.value, Opaque)
    assert member.entry.value.content is not None
    assert plain(member.entry.value.content) == {"dtype": "bf16"}
    assert len(list(mappings(file.documents))) == 2


@pytest.mark.parametrize("value", ["${PRECISION}", "${{ matrix.fp16 }}", "'{{ fp16 }}'", "{{ x }}"])
def test_placeholders_are_unknown(value: str) -> None:
    assert value_of(f"fp16: {value}\n", "fp16") is ...


def test_several_documents() -> None:
    file = config("a: 1\n---\na: 2\n...\n---\n[3]\n", "yaml")
    assert [plain(document) for document in file.documents] == [{"a": 1}, {"a": 2}, [3]]


def test_json_style_with_comments_and_python_booleans() -> None:
    text = '{\n  # precision\n  "fp16": {"fp16": True, "enabled": true,},\n}\n'
    assert only(config(text, "yaml")) == {"fp16": {"fp16": True, "enabled": True}}


def test_block_scalars_end_with_their_text() -> None:
    assert text_of("run: |-\n  a\n  b\n\n\nnext: 1\n", "run") == "run: |-\n  a\n  b"


def test_a_cycle_is_unknown_where_it_closes() -> None:
    assert only(config("&a\nself: *a\nx: 1\n", "yaml")) == {"self": ..., "x": 1}


def test_merging_itself_ends() -> None:
    assert value_of("&a\n<<: *a\nx: 1\n", "x") == 1


def test_alias_bombs_stay_small() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 60)]
    assert len(list(mappings(config("\n".join(lines), "yaml").documents))) == 2


def test_merge_bombs_stay_small() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 30)]
    last = list(mappings(config("\n".join(lines), "yaml").documents))[-1]
    member = last.get("x")
    assert member is not None
    assert member.entry.scalar == 1


def test_literals_that_their_type_refuses_are_unknown() -> None:
    assert only(config("a: !!int x\nb: 2024-99-99\nc: !!bool perhaps\n", "yaml")) == {
        "a": ..., "b": ..., "c": ...,
    }  # fmt: skip


def test_a_line_that_string_template_fills_in_is_said_to_be_a_template() -> None:
    with pytest.raises(Template):
        config("model:\n$model_block\n  dtype: bfloat16\n", "yaml")


def test_a_dollar_sign_is_no_placeholder() -> None:
    assert only(config("price: $5\nhome: $HOME\n", "yaml")) == {"price": "$5", "home": "$HOME"}


def test_what_libyaml_refuses_and_pyyaml_reads() -> None:
    file = config("run: { train:{ fp16: true, lr: 1 }, seed: 2 }\n", "yaml")
    assert only(file) == {"run": {"train": {"fp16": True, "lr": 1}, "seed": 2}}


def test_a_file_of_opencv_has_no_settings() -> None:
    assert config("%YAML:1.0\n\nmatrix: !!opencv-matrix\n   rows: 3\n", "yaml").documents == ()
