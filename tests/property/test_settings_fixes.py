"""Fixes of configuration files in random styles, held against the formats' own loaders."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from precision_lint.facts.context import ConfigFile
from precision_lint.fixers.settings import (
    Origin,
    add_option,
    add_setting,
    remove_settings,
    replace_value,
)
from precision_lint.model.finding import Applicability, Fix, apply_edits
from precision_lint.source.config.options import Option, options
from precision_lint.source.config.settings_tree import Mapping, Member, Scalar, Sequence, mappings
from precision_lint.source.text.errors import Unparsable
from tests.property import settings_files as files
from tests.source.config.reading import config, script_options

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Path = tuple[str | int, ...]


def loaded(text: str, format: str) -> Any:
    """What the format's usual loader makes of a text, comments and trailing commas aside."""
    match format:
        case "yaml":
            return list(yaml.safe_load_all(text))
        case "toml":
            return [tomllib.loads(text)]
        case _:
            text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text)
            return [json.loads(re.sub(r",(\s*[}\]])", r"\1", text))]


@st.composite
def written(draw: Any) -> tuple[str, str, list[str]]:
    """A format, a file in it, and the comments in that."""
    format = draw(st.sampled_from(["yaml", "json", "toml"]))
    trees = [draw(files.MAPPINGS)]
    match format:
        case "yaml":
            writer: files.Writer = files.Yaml(draw)
            if draw(st.integers(0, 3)) == 0:
                trees.append(draw(files.MAPPINGS))
            text = "---\n".join(writer.document(tree) for tree in trees)
        case "json":
            writer = files.Json(draw)
            text = writer.value(trees[0]) + "\n"
        case _:
            writer = files.Toml(draw)
            text = writer.table(trees[0])
    try:
        assert loaded(text, format) == trees
    except (yaml.YAMLError, tomllib.TOMLDecodeError):
        assume(False)  # a style that the format has not: a comment in a key, a table twice
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    written = [comment for comment in writer.comments if comment in text]
    return format, draw(st.sampled_from(["", "\ufeff"])) + text, written


def members(file: ConfigFile) -> list[tuple[Path, Member]]:
    """All members with the keys that lead to them."""
    found: list[tuple[Path, Member]] = []

    def walk(node: object, path: Path) -> None:
        match node:
            case Mapping(entries=entries):
                for entry in entries:
                    below = (*path, entry.name or "")
                    found.append((below, Member(node, entry)))
                    walk(entry.value, below)
            case Sequence(items=items):
                for index, item in enumerate(items):
                    walk(item, (*path, index))

    for index, document in enumerate(file.documents):
        walk(document, (index,))
    return found


def repaired(file: ConfigFile, fix: Fix, comments: list[str]) -> ConfigFile:
    """The file after a fix, which has kept its comments, its line ends and its mark."""
    after = file.text.with_text(apply_edits(file.text.text, fix.edits))
    assert [c for c in comments if after.text.count(c) != 1] == []
    assert after.to_bytes().startswith(b"\xef\xbb\xbf") == file.text.to_bytes().startswith(
        b"\xef\xbb\xbf"
    )
    if "\r\n" in file.text.text:
        assert "\n" not in after.text.replace("\r\n", "")
    return config(after.to_bytes(), file.format)


def at(tree: Any, path: Path) -> Any:
    for part in path:
        tree = tree[part]
    return tree


def says(file: ConfigFile, tree: Any) -> None:
    """Held against the loader's reading: same values, same types, same order."""
    assert repr(loaded(file.text.text, file.format)) == repr(tree)


@settings(max_examples=200, deadline=None)
@given(written(), files.VALUES | st.sampled_from([1e-05, 2.5e-07, 1e300]))
def test_a_replaced_value_is_all_that_changes(case: tuple[str, str, list[str]], value: Any) -> None:
    format, text, comments = case
    file = config(text, format)
    for path, member in members(file):
        if not isinstance(member.entry.value, Scalar):
            continue
        fix = replace_value(file, member, value, "")
        if fix is None:
            assert has_anchor(file, member)
            continue
        assert fix.applicability is Applicability.SAFE
        tree = loaded(file.text.text, format)
        at(tree, path[:-1])[path[-1]] = value
        after = repaired(file, fix, comments)
        says(after, tree)

        (again,) = [member for below, member in members(after) if below == path]
        second = replace_value(after, again, value, "")
        assert second is not None
        assert apply_edits(after.text.text, second.edits) == after.text.text


@settings(max_examples=200, deadline=None)
@given(written(), st.data())
def test_removed_settings_are_all_that_goes(
    case: tuple[str, str, list[str]], data: st.DataObject
) -> None:
    format, text, comments = case
    file = config(text, format)
    found = members(file)
    groups = [[each] for each in found]
    for mapping in {member.mapping: None for _, member in found}:
        siblings = [each for each in found if each[1].mapping is mapping]
        some = st.lists(st.sampled_from(siblings), unique=True, min_size=1, max_size=3)
        groups += [siblings, data.draw(some)]
    for chosen in groups:
        fix = remove_settings(file, [each for _, each in chosen], "")
        if fix is None:
            assert may_stay(file, [each for _, each in chosen], comments)
            continue
        tree = loaded(file.text.text, format)
        for path, _ in chosen:
            del at(tree, path[:-1])[path[-1]]
        says(repaired(file, fix, comments), tree)


def has_anchor(file: ConfigFile, member: Member) -> bool:
    """True for a value that has an anchor or is an alias."""
    written = file.text.text[member.entry.key.span.end : member.span.end]
    return bool(re.search(r"[&*]n\d", written))


def may_stay(file: ConfigFile, removed: list[Member], comments: list[str]) -> bool:
    """True where a removal takes more than deleting what is written."""
    if any(has_anchor(file, member) for member in removed):
        return True
    mapping = removed[0].mapping
    around = file.text[mapping.span]
    if any(not isinstance(each.entry.value, Scalar) for each in removed):
        return True  # a list, or a table with comments in it
    if any(comment in file.text[each.span] for each in removed for comment in comments):
        return True  # behind the head of a block scalar
    if file.format == "json":
        return any(comment in around for comment in comments)
    if file.format == "toml":
        return len(removed) == len(mapping.entries)  # without a member there is no dotted table
    is_root = any(mapping is document for document in file.documents)
    is_emptied = len(removed) == len(mapping.entries)
    return (mapping.flow and any(c in around for c in comments)) or (is_root and is_emptied)


@settings(max_examples=300, deadline=None)
@given(written(), st.sampled_from(["new", "no", "a key"]), files.VALUES, st.data())
def test_an_added_setting_is_all_that_comes(
    case: tuple[str, str, list[str]], name: str, value: Any, data: st.DataObject
) -> None:
    format, text, comments = case
    file = config(text, format)
    path, after = data.draw(st.sampled_from(members(file)))
    fix = add_setting(file, after.mapping, after.entry, name, value, "")
    if fix is None:
        assert format == "toml"  # behind a table there is no place for a member of the one around
        assert isinstance(after.entry.value, Mapping)
        return
    tree = loaded(file.text.text, format)
    own = at(tree, path[:-1])
    position = [*own].index(path[-1]) + 1
    items = [*own.items()]
    own.clear()
    own.update([*items[:position], (name, value), *items[position:]])
    says(repaired(file, fix, comments), tree)


# Scripts


@st.composite
def scripts(draw: Any) -> tuple[str, list[list[str]]]:
    """A launch script, and the words of the options of its command, each with its value."""
    names = draw(st.lists(st.sampled_from("abcde"), unique=True, min_size=1, max_size=5))
    given_: list[list[str]] = []
    spelled = []
    for name in names:
        value = draw(files.WORDS)
        quote = draw(st.sampled_from(["", "'", '"']))
        match draw(st.sampled_from(["=", " ", "flag"])):
            case "=":
                given_.append([f"--{name}={value}"])
                spelled.append(f"--{name}={quote}{value}{quote}")
            case " ":
                given_.append([f"--{name}", value])
                spelled.append(f"--{name} {quote}{value}{quote}")
            case _:
                given_.append([f"--{name}"])
                spelled.append(f"--{name}")
    gaps = draw(st.sampled_from([" ", "  ", "\t", " \\\n  ", " \\\n\t"]))
    end = draw(st.sampled_from(["", "\n", "  # why\n", "; true\n", " > log\n"]))
    head = draw(st.sampled_from(["", "# é😀\n", "export A=1\n", "B='x y'\n\n"]))
    text = f"{head}python train.py{gaps}{gaps.join(spelled)}{end}"
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text, given_


def launched(text: str) -> list[str]:
    """The words of the command, as another reader of shell syntax has them."""
    joined = re.sub(r"\\\r?\n", " ", text)
    (line,) = [line for line in joined.splitlines() if "train.py" in line]
    line = re.split(r"[;>]", line)[0]
    return shlex.split(line, comments=True)


def option_at(file: ConfigFile, index: int) -> Option:
    assert file.script is not None
    given_ = [each for command in file.script.commands for each in script_options(command)]
    return given_[index]


@settings(max_examples=300, deadline=None)
@given(scripts(), st.data())
def test_options_are_replaced_removed_and_added_alone(
    case: tuple[str, list[list[str]]], data: st.DataObject
) -> None:
    text, given_ = case
    file = config(text, "shell")
    index = data.draw(st.integers(0, len(given_) - 1))
    option = option_at(file, index)
    whole = [["python"], ["train.py"], *given_]
    assert launched(text) == [word for words in whole for word in words]
    match data.draw(st.sampled_from(["replace", "remove", "add"])):
        case "replace":
            fix = replace_value(file, option, "new", "")
            assert (fix is None) == (option.value is True)
            if fix is not None:
                words = whole[index + 2]
                words[-1] = f"{words[-1].partition('=')[0]}=new" if len(words) == 1 else "new"
        case "remove":
            fix = remove_settings(file, [option], "")
            assert fix is not None
            del whole[index + 2]
        case _:
            fix = add_option(file, option, "--new True", "")
            assert fix is not None
            whole.insert(index + 3, ["--new", "True"])
    if fix is None:
        return
    after = apply_edits(text, fix.edits)
    assert launched(after) == [word for words in whole for word in words]
    assert config(after, "shell").defect is None
    assert after.count("# ") == text.count("# ")
    assert ("\r" in after) == ("\r" in text) or "\n" not in after


# Anything


ALPHABET = st.sampled_from(
    [*"abx=:,{}[]()\"'#&*|>-+!$\\/ \t\n", "\r\n", "é", "😀", "\ufeff", "---\n", "fp16", "true",
     "--x ", "--x=1", "export ", "1.5", "{{", "${", "<<: ", "&a ", "*a", '"""', "train.py "]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["yaml", "json", "toml", "shell"]), st.lists(ALPHABET, max_size=40))
def test_nothing_breaks_on_any_text(format: str, pieces: list[str]) -> None:
    try:
        file = config("".join(pieces), format)
    except Unparsable:
        return
    for origin in origins(file):
        fixes = [
            remove_settings(file, [origin], ""),
            replace_value(file, origin, "new", ""),
            replace_value(file, origin, 2.0, ""),
        ]
        if isinstance(origin, Member):
            fixes.append(add_setting(file, origin.mapping, origin.entry, "new", True, ""))
        if isinstance(origin, Option):
            fixes.append(add_option(file, origin, "--new 1", ""))
        for fix in fixes:
            if fix is not None:
                assert file.defect is None
                text = apply_edits(file.text.text, fix.edits)
                assert config(text, format).defect is None


def origins(file: ConfigFile) -> Iterator[Origin]:
    for mapping in mappings(file.documents):
        for entry in mapping.entries:
            yield Member(mapping, entry)
    if file.script is not None:
        yield from file.script.variables.values()
        for command in file.script.commands:
            yield from options(command.words)
        for name in file.script.variables:
            yield from options(file.script.words(name))
