"""Fixes of configuration files: what they write, and where there are none."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from precision_lint.fixers import settings
from precision_lint.fixers.settings import Origin
from precision_lint.fixers.spelling import Written
from precision_lint.model.finding import Applicability, Edit, Fix, Span, apply_edits
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.limits import MAX_CHARACTERS
from precision_lint.source.config.options import Option, options
from precision_lint.source.config.python_settings import python_settings
from precision_lint.source.config.settings_tree import Mapping, Member, Opaque
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText
from tests.source.config.reading import config, script_options

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def member(file: ParsedConfig, path: str) -> Member:
    """The member that a dotted path leads to, in the last document."""
    node: object = file.documents[-1]
    found = None
    for name in path.split("."):
        assert isinstance(node, Mapping)
        found = node.get(name)
        assert found is not None, name
        node = found.entry.value
    assert found is not None
    return found


def option(file: ParsedConfig, name: str) -> Option:
    """The option of the first command, else of a variable."""
    assert file.script is not None
    given = [each for command in file.script.commands for each in script_options(command)]
    for variable in file.script.variables:
        given += options(file.script.words(variable))
    return next(each for each in given if each.name == name)


def origin(file: ParsedConfig, name: str) -> Origin:
    if file.script is None:
        return member(file, name)
    if name.startswith("--"):
        return option(file, name[2:])
    return file.script.variables[name]


def after(file: ParsedConfig, fix: Fix | None) -> str | None:
    return None if fix is None else apply_edits(file.text.text, fix.edits)


@pytest.mark.parametrize(
    ("format", "before", "value", "expected"),
    [
        ("yaml", "x: no\n", "no", 'x: "no"\n'),
        ("yaml", "a: 'b'\nx: no\n", "no", "a: 'b'\nx: 'no'\n"),
        ("yaml", "x: fp16\n", "bf16", "x: bf16\n"),
        ("yaml", "x: fp16", "no", 'x: "no"'),
        ("yaml", "x: fp16\n", "1", 'x: "1"\n'),
        ("yaml", "x: fp16\n", "1e-5", "x: 1e-5\n"),
        ("yaml", "x: fp16\n", "null", 'x: "null"\n'),
        ("yaml", "x: fp16\n", "a: b # c", 'x: "a: b # c"\n'),
        ("yaml", "x: 'fp16'  # why\r\n", "it's", "x: 'it''s'  # why\r\n"),
        ("yaml", 'x: "fp16"', 'a"b\\', 'x: "a\\"b\\\\"'),
        ("yaml", "x: fp16\n", "é\n", None),
        ("yaml", "x: true\n", False, "x: false\n"),
        ("yaml", "x: Yes\n", False, "x: No\n"),
        ("yaml", "a: True\nx: 'true'\n", True, "a: True\nx: True\n"),
        ("yaml", "x: 'true'\n", True, "x: true\n"),
        ("yaml", "x: |\n  fp16\n\na: 1\n", "bf16", "x: bf16\n\na: 1\n"),
        ("yaml", "x: >-\n  fp16\n", "bf16", "x: bf16\n"),
        ("yaml", "x: >-  # why\r\n  fp16\r\n", "bf16", "x: bf16  # why\r\n"),
        ("yaml", "x:\na: 1\n", "bf16", "x: bf16\na: 1\n"),
        ("yaml", "x:  # why\na: 1\n", "bf16", "x: bf16  # why\na: 1\n"),
        ("yaml", "x: 512\n", 512.0, "x: 512.0\n"),
        ("yaml", "x: 512\n", 1e-05, "x: 1.0e-05\n"),
        ("yaml", "x: 512\n", 1e300, "x: 1.0e+300\n"),
        ("yaml", "x: 512\n", float("nan"), None),
        ("yaml", '{"a": 1, "x": true,}\n', "fp16", '{"a": 1, "x": "fp16",}\n'),
        ("yaml", "{a: 1, x: true}\n", "fp16", "{a: 1, x: fp16}\n"),
        ("yaml", "x: &n 1\n", 2, "x: &n 2\n"),
        ("yaml", "x: &n 1\na: *n\n", 2, None),
        ("yaml", "a: &n 1\nx: *n\n", 2, None),
        ("yaml", "x: !!str 1\n", 2, None),
        ("yaml", "x: 1\nx: 2\n", 3, "x: 1\nx: 3\n"),
        ("yaml", "x: ${A}\n", "bf16", None),
        ("yaml", "x: [1]\n", "bf16", None),
        ("yaml", "---\nx: 1\n---\nx: 1\n...\n", 2, "---\nx: 1\n---\nx: 2\n...\n"),
        ("json", '{"x": "true"}', True, '{"x": true}'),
        ("json", '{"x": 5e+8}', 512.0, '{"x": 512.0}'),
        ("json", '{"x": true}', "bf16", '{"x": "bf16"}'),
        ("json", '{"x": 512, }', 512.0, '{"x": 512.0, }'),
        ("json", '{"x": /* a */ 1 // b\n}', "é\\", '{"x": /* a */ "é\\\\" // b\n}'),
        ("json", '{"x": 1}\n{"x": 1}\n', 2, '{"x": 1}\n{"x": 2}\n'),
        ("json", '{"x": 1, "a": }', 2, None),
        ("toml", "x = 'fp16'\n", "bf16", "x = 'bf16'\n"),
        ("toml", "x = 'fp16'\n", "it's", "x = \"it's\"\n"),
        ("toml", 'x = """fp16"""  # a\n', "bf16", 'x = "bf16"  # a\n'),
        ("toml", "x = true\n", "bf16", 'x = "bf16"\n'),
        ("toml", "x = 512\n", 512.0, "x = 512.0\n"),
        ("toml", "x = 1_000\n", 1e-05, "x = 1e-05\n"),
        ("toml", 'x = "true"\r\n', True, "x = true\r\n"),
        ("toml", "a.b = 1\nx = {y = 1}\n", 2, None),
        ("shell", "x=fp16\n", "bf16", "x=bf16\n"),
        ("shell", "export x='fp16'  # why\n", "bf16", "export x='bf16'  # why\n"),
        ("shell", "x=fp16\n", "a b", None),
        ("shell", "x=true\n", False, "x=false\n"),
        ("shell", "x=False\n", True, "x=True\n"),
        ("shell", "x=1\nx+=2\n", "3", None),
        ("shell", "y=fp16\nx=$y\n", "bf16", None),
        ("shell", "x=(a b)\n", "bf16", None),
        ("shell", "x=fp16\npython train.py --a $x\n", "bf16", "x=bf16\npython train.py --a $x\n"),
    ],
)  # fmt: skip
def test_replaced_values(format: str, before: str, value: Written, expected: str | None) -> None:
    file = config(before, format)
    assert after(file, settings.replace_value(file, origin(file, "x"), value, "")) == expected


@pytest.mark.parametrize(
    ("before", "value", "expected"),
    [
        ("python t.py --x=fp16 --b\n", "bf16", "python t.py --x=bf16 --b\n"),
        ("python t.py --x='fp16' --b\n", "bf16", "python t.py --x='bf16' --b\n"),
        ("python t.py '--x=fp16'\n", "bf16", "python t.py '--x=bf16'\n"),
        ("python t.py --x fp16\n", "bf16", "python t.py --x bf16\n"),
        ('python t.py --x "fp16"\n', "bf16", 'python t.py --x "bf16"\n'),
        ("python t.py --x \\\n  fp16\n", "bf16", "python t.py --x \\\n  bf16\n"),
        ("python t.py --x True\n", False, "python t.py --x False\n"),
        ("python t.py --x 512\n", 512.0, "python t.py --x 512.0\n"),
        ("python t.py --x\n", False, None),
        ("python t.py --x=\n", "bf16", None),
        ("python t.py --x fp16\n", "a b", None),
        ("python t.py --x f\\p16\n", "bf16", None),
        ("python t.py --x f'p16'\n", "bf16", None),
        ("a=fp16\npython t.py --x $a\n", "bf16", None),
        ("a=fp16\npython t.py --x=$a\n", "bf16", None),
        ("a='--x fp16'\npython t.py $a\n", "bf16", "a='--x bf16'\npython t.py $a\n"),
        ("a=(--x fp16)\npython t.py ${a[@]}\n", "bf16", "a=(--x bf16)\npython t.py ${a[@]}\n"),
    ],
)
def test_replaced_values_of_options(before: str, value: Written, expected: str | None) -> None:
    file = config(before, "shell")
    assert after(file, settings.replace_value(file, origin(file, "--x"), value, "")) == expected


@pytest.mark.parametrize(
    ("format", "before", "expected"),
    [
        ("yaml", "x: a\n", "x: a\nnew: bf16\n"),
        ("yaml", "x: a", "x: a\nnew: bf16"),
        ("yaml", "x: 'a'  # why\r\nb: 1\r\n", "x: 'a'  # why\r\nnew: 'bf16'\r\nb: 1\r\n"),
        ("yaml", '"x": 1\n', '"x": 1\n"new": "bf16"\n'),
        ("yaml", "{a: 1, x: 1}\n", "{a: 1, x: 1, new: bf16}\n"),
        ("yaml", '{\n  "x": 1\n}\n', '{\n  "x": 1,\n  "new": "bf16"\n}\n'),
        ("yaml", "x: |\n  a\n\nb: 1\n", "x: |\n  a\nnew: bf16\n\nb: 1\n"),
        ("yaml", "x:\n  - a\nb: 1\n", "x:\n  - a\nnew: bf16\nb: 1\n"),
        ("yaml", "x:\n  b: 1\n", "x:\n  b: 1\nnew: bf16\n"),
        ("yaml", "? x\n: 1\n", None),
        ("yaml", "x: 1\nnew: 2\n", None),
        ("json", '{"x": 1}', '{"x": 1, "new": "bf16"}'),
        ("json", '{"x":1}', '{"x":1, "new":"bf16"}'),
        ("json", '{\n  "x": 1\n}\n', '{\n  "x": 1,\n  "new": "bf16"\n}\n'),
        ("json", '{\n  "x": 1,\n  "a": 2\n}\n', '{\n  "x": 1,\n  "new": "bf16",\n  "a": 2\n}\n'),
        ("json", '{\n  "x": 1, // a\n}\n', '{\n  "x": 1, // a\n  "new": "bf16",\n}\n'),
        ("json", '{\n  "x": 1 // a\n}\n', '{\n  "x": 1, // a\n  "new": "bf16"\n}\n'),
        ("json", '{\n  "x": 1 }\n', '{\n  "x": 1, "new": "bf16" }\n'),
        ("json", '{\n  "x": 1\n  , "a": 2\n}\n', '{\n  "x": 1, "new": "bf16"\n  , "a": 2\n}\n'),
        ("json", '{\r\n\t"x": {\r\n\t}\r\n}', '{\r\n\t"x": {\r\n\t},\r\n\t"new": "bf16"\r\n}'),
        ("toml", "x = 1\n", 'x = 1\nnew = "bf16"\n'),
        ("toml", "  x='a' # b\n", "  x='a' # b\n  new='bf16'\n"),
        ("toml", "x = '''\na'''\n", "x = '''\na'''\nnew = 'bf16'\n"),
        ("toml", "[x]\na = 1\n", None),
        ("toml", "x.y = 1\na = 2\n", 'x.y = 1\nnew = "bf16"\na = 2\n'),
    ],
)
def test_added_settings(format: str, before: str, expected: str | None) -> None:
    file = config(before, format)
    x = member(file, "x")
    fix = settings.add_setting(file, x.mapping, x.entry, "new", "bf16", "")
    assert after(file, fix) == expected


def test_added_settings_below_a_list_item_and_in_an_inline_table() -> None:
    file = config("- x: 1\n  y: 2\n", "yaml")
    (document,) = file.documents
    assert not isinstance(document, Mapping | Opaque)
    item = document.items[0]  # type: ignore[union-attr]
    assert isinstance(item, Mapping)
    fix = settings.add_setting(file, item, item.entries[0], "new", True, "")
    assert after(file, fix) == "- x: 1\n  new: true\n  y: 2\n"

    file = config("a = {x = 1}\n", "toml")
    x = member(file, "a.x")
    fix = settings.add_setting(file, x.mapping, x.entry, "new", 0.5, "")
    assert after(file, fix) == "a = {x = 1, new = 0.5}\n"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("python t.py --x a --b\n", "python t.py --x a --new --b\n"),
        ("python t.py --x=a; true\n", "python t.py --x=a --new; true\n"),
        ("python t.py --x  # why\n", "python t.py --x --new  # why\n"),
        ("python t.py \\\n  --x a \\\n  --b\n", "python t.py \\\n  --x a \\\n  --new \\\n  --b\n"),
        ("python t.py \\\r\n\t--x a\r\n", "python t.py \\\r\n\t--x a \\\r\n\t--new\r\n"),
        ("python t.py \\\n  --x a", "python t.py \\\n  --x a \\\n  --new"),
        ("python t.py \\\n  --x a --b \\\n  -c\n", "python t.py \\\n  --x a --new --b \\\n  -c\n"),
        ('a="--x 1"\npython t.py $a\n', 'a="--x 1 --new"\npython t.py $a\n'),
        ('a="\n  --x 1\n  --b\n"\n', 'a="\n  --x 1\n  --new\n  --b\n"\n'),
        ("a=(\n  --x 1\n  --b\n)\n", "a=(\n  --x 1\n  --new\n  --b\n)\n"),
        ("a=--x\npython t.py $a\n", None),
        ('a=--x\npython t.py "$a"\n', None),
        ("a=1\npython t.py --x $a\n", None),
    ],
)
def test_added_options(before: str, expected: str | None) -> None:
    file = config(before, "shell")
    x = origin(file, "--x") if "(" not in before else _of_array(file)
    assert isinstance(x, Option)
    assert after(file, settings.add_option(file, x, "--new", "")) == expected


def _of_array(file: ParsedConfig) -> Option:
    assert file.script is not None
    return next(options(file.script.variables["a"].elements))


@pytest.mark.parametrize(
    ("format", "before", "names", "expected"),
    [
        ("json", '{"a": 1, "x": 1, "y": 2, "b": 3}', "x y", '{"a": 1, "b": 3}'),
        ("json", '{"x": 1, "a": 1, "y": 2}', "x y", '{"a": 1}'),
        ("json", '{"a": 1,\n "x": 1,\n "y": 2\n}', "x y", '{"a": 1\n}'),
        ("json", '{\n  "x": 1,\n  "y": 2,\n  "a": 3\n}', "x y", '{\n  "a": 3\n}'),
        ("json", '{"o": {"x": 1, "y": 2}}', "o.x o.y", '{"o": {}}'),
        ("json", '{"x": {"y": 1}, "a": 1}', "x", '{"a": 1}'),
        ("json", '{"x": 1, /* a */ "y": 2, "b": 3}', "x y", None),
        ("json", '{"x": 1, "x": 2, "b": 3}', "x", None),
        ("yaml", "o:\n  x: 1\n  y: 2\nb: 3\n", "o.x o.y", "o: {}\nb: 3\n"),
        ("yaml", "o:  # a\n  # c\n  x: 1\n", "o.x", "o: {}  # a\n  # c\n"),
        ("yaml", "o: &n\n  x: 1\n", "o.x", None),
        ("yaml", "x: 1\ny: 2\n", "x y", None),
        ("yaml", "a: 1\nx:\n  y: 2\n  z: 3\nb: 3\n", "x", "a: 1\nb: 3\n"),
        ("yaml", "a: 1\nx:\n  # why\n  y: 2\n", "x", None),
        ("yaml", "b: &b {x: 1}\nr:\n  <<: *b\n  x: 2\n  a: 1\n", "r.x", None),
        ("toml", "a = 1\n[x]  \ny = 1\nz = 2\n\n[b]\nc = 1\n", "x", "a = 1\n\n[b]\nc = 1\n"),
        ("toml", "[x]\n[b]\nc = 1\n", "x", "[b]\nc = 1\n"),
        ("toml", "[x]\na = 1\n[x.y]\nc = 1\n", "x", None),
        ("toml", "[x]  # why\na = 1\n", "x", None),
        ("toml", "x.y = 1\na = 2\n", "x", "a = 2\n"),
        ("toml", "x.y = 1\nx.z = 2\n", "x.y", "x.z = 2\n"),
        ("toml", "a = {x = 1, y = 2, z = 3}\n", "a.x a.y", "a = {z = 3}\n"),
        ("shell", "a=1\nexport x=2\nb=3\n", "x", "a=1\nb=3\n"),
        ("shell", "x=2\nb=$x\n", "x", None),
        ("shell", "x=2\nif y; then echo ${x:-1}; fi\n", "x", None),
        ("shell", "x=1\nx=2\n", "x", None),
        ("shell", "x=1; y=2\n", "x", None),
        ("shell", "python t.py --x 1 --y=2 --b\n", "--x --y", "python t.py --b\n"),
        ("shell", "python t.py --a \\\n  --x \\\n  --y\nb=1", "--x --y", "python t.py --a\nb=1"),
        ("shell", "python t.py --x \\\n  --b --y\n", "--x --y", "python t.py \\\n  --b\n"),
    ],
)
def test_several_removed(format: str, before: str, names: str, expected: str | None) -> None:
    file = config(before, format)
    origins = [origin(file, name) for name in names.split()]
    assert after(file, settings.remove_settings(file, origins, "")) == expected


def test_what_aliases_stand_for_is_changed_unsafely() -> None:
    file = config("base: &b\n  x: 1\n  y: 2\nrun:\n  <<: *b\n", "yaml")
    x = member(file, "base.x")
    for fix in (
        settings.remove_settings(file, [x], ""),
        settings.replace_value(file, x, 2, ""),
        settings.add_setting(file, x.mapping, x.entry, "new", 2, ""),
    ):
        assert fix is not None
        assert fix.applicability is UNSAFE


def test_a_fix_is_as_safe_as_it_is_called() -> None:
    file = config("x: 1\n", "yaml")
    display = Applicability.DISPLAY
    fix = settings.replace_value(file, member(file, "x"), 2, "Say 2", display)
    assert fix == Fix(display, "Say 2", (Edit(Span(3, 4), "2"),))
    script = config("python t.py --x 1\n", "shell")
    fix = settings.replace_value(script, origin(script, "--x"), 2, "", UNSAFE)
    assert fix is not None
    assert fix.applicability is UNSAFE


def test_comments_that_lose_their_subject() -> None:
    for text, format, name, level in (
        ("python t.py --a --x  # why\n", "shell", "--x", UNSAFE),
        ("python t.py --a --x\n", "shell", "--x", SAFE),
        ("x=1  # why\n", "shell", "x", UNSAFE),
        ("# why\nx=1\n", "shell", "x", SAFE),
        ("o:\n  x: 1  # why\n", "yaml", "o.x", UNSAFE),
    ):
        file = config(text, format)
        fix = settings.remove_settings(file, [origin(file, name)], "")
        assert fix is not None
        assert fix.applicability is level


def test_a_duplicate_that_does_not_count_is_left_alone() -> None:
    file = config("x: 1\nx: 2\n", "yaml")
    x = member(file, "x")
    first = Member(x.mapping, x.mapping.entries[0])
    assert settings.replace_value(file, first, 3, "") is None


def test_members_and_words_do_not_mix() -> None:
    file, script = config("x: 1\na: 2\n", "yaml"), config("python t.py --x 1\n", "shell")
    origins = [member(file, "x"), origin(script, "--x")]
    assert settings.remove_settings(file, origins, "") is None
    assert settings.replace_value(file, origins[1], 2, "") is None


def test_many_fixes_of_one_large_file_come_to_an_end() -> None:
    lines = [f"x{index}: 1\n" for index in range(60)]
    file = config("".join(lines) + "#" * (MAX_CHARACTERS - 1000), "yaml")
    names = [f"x{index}" for index in range(60)]
    fixes = [settings.replace_value(file, member(file, name), 2, "") for name in names]
    assert fixes[0] is not None
    assert fixes[-1] is None


@pytest.mark.parametrize(
    ("before", "name", "value", "expected"),
    [
        ("f(x='fp16')\n", "x", "bf16", "f(x='bf16')\n"),
        ('f(x="fp16", b=1)\n', "x", "it's", 'f(x="it\'s", b=1)\n'),
        ("f(x=True)  # why\n", "x", False, "f(x=False)  # why\n"),
        ("f(x=512)\n", "x", 512.0, "f(x=512.0)\n"),
        ("c = {'x': 1, 'y': {'x': 2}}\n", "c.y.x", 3, "c = {'x': 1, 'y': {'x': 3}}\n"),
        ("é = 1; f(x='é😀', b='fp16')\n", "b", "bf16", "é = 1; f(x='é😀', b='bf16')\n"),
        ("f(x='a' 'b')\n", "x", "bf16", "f(x='bf16')\n"),
        ("v = 'fp16'\nf(x=v)\n", "x", "bf16", None),
        ("f(x=r'fp16')\n", "x", "bf16", 'f(x="bf16")\n'),
        ("f(x=g(1))\n", "x", "bf16", None),
        ("import torch\nf(x=torch.float16)\n", "x", "bf16", None),
    ],
)
def test_replaced_values_in_python(
    before: str, name: str, value: Written, expected: str | None
) -> None:
    file = python(before)
    fix = settings.replace_value(file, python_member(file, name), value, "")
    assert after(file, fix) == expected
    assert fix is None or fix.applicability is SAFE


@pytest.mark.parametrize(
    ("before", "name", "expected", "level"),
    [
        ("f(x=1, b=2)\n", "x", "f(b=2)\n", SAFE),
        ("f(b=2, x=1)\n", "x", "f(b=2)\n", SAFE),
        ("f(x=1)\n", "x", "f()\n", SAFE),
        ("f(a, x=1)\n", "x", "f(a)\n", SAFE),
        ("f(\n    b=2,\n    x=(1),  # why\n)\n", "x", "f(\n    b=2,\n    # why\n)\n", UNSAFE),
        ("f(\n    x=1,\n    b=2,\n)\n", "x", "f(\n    b=2,\n)\n", SAFE),
        ("c = {'x': 1, 'b': 2}\n", "c.x", "c = {'b': 2}\n", UNSAFE),
        ("c = {**d, 'x': 1}\n", "c.x", "c = {**d}\n", UNSAFE),
        ("x = 1\nb = 2\n", "x", "b = 2\n", UNSAFE),
        ("x = 1; b = 2\n", "x", None, None),
        ("x = y = 1\n", "x", None, None),
    ],
)
def test_removed_from_python(
    before: str, name: str, expected: str | None, level: Applicability | None
) -> None:
    file = python(before)
    fix = settings.remove_settings(file, [python_member(file, name)], "")
    assert after(file, fix) == expected
    assert (fix.applicability if fix else None) is level


def python(text: str) -> ParsedConfig:
    source = SourceText(Path("case.py"), text)
    return ParsedConfig(source, "python", python=parse_python(source))


def python_member(file: ParsedConfig, path: str) -> Member:
    """The member in the last of the settings that have it."""
    assert file.python is not None
    for made in reversed(python_settings(file.python)):
        node: object = made.mapping
        found = None
        for name in path.split("."):
            found = node.get(name) if isinstance(node, Mapping) else None
            node = found.entry.value if found else None
        if found is not None:
            return found
    raise AssertionError(path)


HEREDOC = """\
cat > ds_config.json <<EOF
{
  "x": "fp16",
  "y": $SIZE,
  "z": {"a": 1}
}
EOF
export MIXED=fp16
"""


def test_parts_of_files_are_fixed_where_they_stand() -> None:
    ((part,),) = [[each.file for each in config(HEREDOC, "shell").embedded]]
    x, z = member(part, "x"), member(part, "z.a")
    changed = settings.replace_value(part, x, "bf16", "")
    assert after(part, changed) == HEREDOC.replace('"fp16"', '"bf16"')
    removed = settings.remove_settings(part, [z], "")
    assert after(part, removed) == HEREDOC.replace('{"a": 1}', "{}")
    added = settings.add_setting(part, x.mapping, x.entry, "new", True, "")
    assert after(part, added) == HEREDOC.replace('  "y"', '  "new": true,\n  "y"')
    assert settings.replace_value(part, x, "$HOME", "") is None
    assert settings.replace_value(part, x, 'a"b', "") is None


def test_commands_in_a_job_are_fixed_where_they_stand() -> None:
    steps = "- run: |\n    python t.py --x fp16 \\\n      --b\n"
    text = f"jobs:\n  a:\n    steps:\n{textwrap.indent(steps, ' ' * 6)}"
    (part,) = [each.file for each in config(text, "yaml").embedded]
    x = origin(part, "--x")
    assert isinstance(x, Option)
    changed = settings.replace_value(part, x, "bf16", "")
    assert after(part, changed) == text.replace("fp16", "bf16")
    removed = settings.remove_settings(part, [origin(part, "--b")], "")
    assert after(part, removed) == text.replace(" \\\n            --b", "")
    added = settings.add_option(part, x, "--new", "")
    assert after(part, added) == text.replace("fp16", "fp16 --new")


def test_nothing_is_added_behind_an_empty_word() -> None:
    file = config("cmd --x ''\n", "shell")
    assert file.script is not None
    (command,) = file.script.commands
    (option,) = options(command.words)
    assert settings.add_option(file, option, "--bf16 True", "") is None
