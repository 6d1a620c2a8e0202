"""Deleting a setting: the tree loses exactly it, and no other byte changes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.fixers.settings import remove_settings
from precision_lint.model.finding import Applicability
from precision_lint.source.config.settings_tree import Mapping
from tests.source.config.reading import config, findings, fixed, mapping, only


def without(text: str, format: str, name: str) -> tuple[str | None, Applicability | None]:
    """The text without a member of its root mapping, and how safe that is."""
    file = config(text, format)
    member = mapping(file).get(name)
    assert member is not None
    fix = remove_settings(file, [member], "")
    if fix is None:
        return None, None
    for edit in sorted(fix.edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.content + text[edit.span.end :]
    return text, fix.applicability


SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


@pytest.mark.parametrize(
    ("format", "before", "after", "level"),
    [
        ("json", '{"x": 1, "a": 2}', '{"a": 2}', SAFE),
        ("json", '{"a": 2, "x": 1}', '{"a": 2}', SAFE),
        ("json", '{"a": 2, "x": 1 }', '{"a": 2 }', SAFE),
        ("json", '{"a": 2, "x": 1, "b": 3}', '{"a": 2, "b": 3}', SAFE),
        ("json", '{"x": 1}', "{}", SAFE),
        ("json", '{\n  "x": 1\n}\n', "{\n}\n", SAFE),
        ("json", '{\n  "a": 2,\n  "x": 1\n}\n', '{\n  "a": 2\n}\n', SAFE),
        ("json", '{\r\n  "a": 2,\r\n  "x": 1\r\n}\r\n', '{\r\n  "a": 2\r\n}\r\n', SAFE),
        ("json", '{\n  "a": 2,\n  "x": 1,\n}\n', '{\n  "a": 2,\n}\n', SAFE),
        ("json", '{\n  "a": 2\n  , "x": 1\n}\n', '{\n  "a": 2\n}\n', SAFE),
        ("json", '{\n  "x": 1\n  , "a": 2\n}\n', '{\n  "a": 2\n}\n', SAFE),
        ("json", '{\n  "a": 2, "x": 1,\n  "b": 3\n}', '{\n  "a": 2,\n  "b": 3\n}', SAFE),
        ("json", '{\n  // why\n  "x": 1,\n  "a": 2\n}', '{\n  // why\n  "a": 2\n}', SAFE),
        ("json", '{\n  "a": 2, // one\n  "x": 1\n}', '{\n  "a": 2 // one\n}', SAFE),
        ("json", '{\n  "x": 1, // one\n  "a": 2\n}', '{\n  // one\n  "a": 2\n}', UNSAFE),
        ("json", '{\n  "a": 2,\n  "x": 1 // one\n}', '{\n  "a": 2\n  // one\n}', UNSAFE),
        ("json", '{"a": 2, /* b */ "x": 1}', '{"a": 2 /* b */ }', UNSAFE),
        ("json", '{"x": 1 /* b */, "a": 2}', '{/* b */ "a": 2}', UNSAFE),
        ("json", '{"a": , "x": 1}', None, None),
        ("yaml", "a: 2\nx: 1\nb: 3\n", "a: 2\nb: 3\n", SAFE),
        ("yaml", "a: 2\nx: 1", "a: 2\n", SAFE),
        ("yaml", "a: 2\nx: 1  # why\nb: 3\n", "a: 2\n# why\nb: 3\n", UNSAFE),
        ("yaml", "{a: 2, x: 1}\n", "{a: 2}\n", SAFE),
        ("yaml", "x: 1\n", None, None),
        ("yaml", "x: &n 1\na: *n\n", None, None),
        ("yaml", "? x\n: 1\n? a\n: 2\n", None, None),
        ("yaml", "x: [1]\na: 2\n", None, None),
        ("toml", "a = 2\nx = 1\n", "a = 2\n", SAFE),
        ("toml", "x = 1\n", "", SAFE),
        ("toml", "a = 2\n  x = 1  # why\n", "a = 2\n  # why\n", UNSAFE),
        ("toml", "x = '''\n1'''\na = 2\n", "a = 2\n", SAFE),
    ],
)
def test_members(format: str, before: str, after: str | None, level: Applicability | None) -> None:
    assert without(before, format, "x") == (after, level)
    if after is not None and format != "toml":
        tree = only(config(before, format))
        assert isinstance(tree, dict)
        assert only(config(after, format)) == {k: v for k, v in tree.items() if k != "x"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"--a FLAG --b"', '"--a --b"'),
        ('"FLAG --b"', '"--b"'),
        ('"--a FLAG"', '"--a"'),
        ("FLAG", ""),
        ("'--a  FLAG  --b'", "'--a   --b'"),
        ('"--a \\\n  FLAG \\\n  --b"', '"--a \\\n  --b"'),
        ('"--a \\\n  FLAG"', '"--a \\\n "'),
        ('"\n  --a\n  FLAG\n  --b\n"', '"\n  --a\n  --b\n"'),
        ('"--a\tFLAG\t--b"  # FLAG', '"--a\t--b"  # FLAG'),
    ],
)
@pytest.mark.parametrize("flag", ["--gradient_precision=fp32", "--gradient_precision fp32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_words_of_a_variable(before: str, after: str, flag: str, newline: str) -> None:
    def whole(value: str) -> str:
        text = f"# é😀\nMIXED_PRECISION=bf16\nexport TRAINER_EXTRA_ARGS={value}\nexport B=1\n"
        return text.replace("FLAG", flag).replace("\n", newline)

    if before == "FLAG" and " " in flag:
        return  # unquoted, it would be two words
    assert fixed(config(whole(before), "shell")) == whole(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("train.py --a \\\n  FLAG \\\n  --b\n", "train.py --a \\\n  --b\n"),
        ("train.py --a \\\n  FLAG\ntrue\n", "train.py --a\ntrue\n"),
        ('train.py "FLAG" --a\n', "train.py --a\n"),
        ("train.py --a FLAG; true\n", "train.py --a; true\n"),
        ("train.py --a FLAG  # why\n", None),
    ],
)
def test_words_of_a_command(before: str, after: str | None) -> None:
    prefix = "python train.py --model_family=flux --mixed_precision=bf16 \\\n  "
    before = before.replace("train.py ", prefix).replace("FLAG", "--gradient_precision=fp32")
    after = before if after is None else after.replace("train.py ", prefix)
    assert fixed(config(before, "shell")) == after


def test_nothing_is_fixed_in_a_file_that_is_not_valid() -> None:
    text = '{"model_family": "a" "mixed_precision": "bf16", "gradient_precision": "fp32"}'
    assert all(finding.fix is None for finding in findings(config(text, "json")))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=3),
    st.integers(0, 3),
    st.lists(st.sampled_from([" ", "\n", "\r\n  ", " // é\n", "/* 😀 */", "\t"]), min_size=12),
)
def test_json_keeps_every_comment_and_every_other_member(
    others: list[str], position: int, gaps: list[str]
) -> None:
    names = [*others[:position], "x", *others[position:]]
    gap = iter(gaps)
    text = "{" + ",".join(f'{next(gap)}"{n}": 1{next(gap)}' for n in names) + next(gap) + "}"
    file = config(text, "json")
    assert file.defect is None
    after, _ = without(text, "json", "x")
    assert after is not None
    result = config(after, "json")
    assert result.defect is None
    assert only(result) == dict.fromkeys(others, 1)
    for comment in ("// é", "/* 😀 */"):
        assert after.count(comment) == text.count(comment)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["a = 1", "# é", "", "b.c = 2  # d"]), unique=True), st.integers(0, 4)
)
def test_toml_loses_one_line(lines: list[str], position: int) -> None:
    text = "".join(f"{line}\n" for line in [*lines[:position], "x = 'é😀'", *lines[position:]])
    after, level = without(text, "toml", "x")
    assert after == "".join(f"{line}\n" for line in lines)
    assert level is SAFE


def test_members_of_a_merged_mapping_are_removed_where_they_stand() -> None:
    file = config("base: &b\n  x: 1\n  y: 2\nrun:\n  <<: *b\n", "yaml")
    run = mapping(file).get("run")
    assert run is not None
    assert isinstance(run.entry.value, Mapping)
    member = run.entry.value.get("x")
    assert member is not None
    fix = remove_settings(file, [member], "")
    assert fix is not None
    assert [file.text[edit.span] for edit in fix.edits] == ["  x: 1\n"]
