"""Every scalar stands where the tree says, and has the value that its loader gives it.

Documents are written piece by piece in random styles, noting where each scalar goes; the parser
must find exactly these.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.model.finding import Span
from precision_lint.source.config.parse import parse_config
from precision_lint.source.config.settings_tree import Mapping, Opaque, Scalar, Sequence, Value
from precision_lint.source.text.text import SourceText

WORDS = st.text(st.sampled_from("abfp16_é漢😀 "), min_size=1, max_size=8)
LITERALS = st.one_of(
    st.booleans(), st.integers(-9999, 9999), WORDS, st.floats(-1e6, 1e6, allow_nan=False)
)
TREES = st.recursive(
    LITERALS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)
TABLES = st.dictionaries(WORDS, TREES, min_size=1, max_size=4)


@dataclass
class Writer:
    """Text that grows, and the scalars in it."""

    data: st.DataObject
    newline: str
    text: str = ""
    load: Callable[[str], object] = json.loads  # what a literal in JSON's style is worth
    scalars: dict[Span, object] = field(default_factory=dict)

    def pick(self, *options: str) -> str:
        return self.data.draw(st.sampled_from(options))

    def scalar(self, raw: str, value: object) -> None:
        self.scalars[Span(len(self.text), len(self.text) + len(raw))] = value
        self.text += raw

    def line(self, comment: str) -> None:
        self.text += self.pick("", f" {comment} 漢😀 : , [ \t") + self.newline

    def json(self, value: object, gap: str = "") -> None:
        match value:
            case dict():
                self.text += "{"
                for number, (key, item) in enumerate(value.items()):
                    self.text += ("," if number else "") + self.pick("", " ", gap)
                    escapes = self.load is json.loads and bool(number % 2)
                    self.scalar(json.dumps(key, ensure_ascii=escapes), key)
                    self.text += self.pick(": ", " : ")
                    self.json(item, gap)
                self.text += self.pick("", " ", gap) + "}"
            case list():
                self.text += "["
                for number, item in enumerate(value):
                    self.text += (", " if number else "") + self.pick("", gap)
                    self.json(item, gap)
                self.text += "]"
            case _:
                raw = json.dumps(value, ensure_ascii=False)
                self.scalar(raw, self.load(raw))

    def yaml(self, value: object, indent: int) -> None:
        """A block node; the cursor stands behind `key:` or `-`."""
        match value:
            case dict() if value:
                self.line("#")
                for key, item in value.items():
                    self.text += " " * indent
                    self.yaml_scalar(key)
                    self.text += ":"
                    self.yaml(item, indent + 2)
            case list() if value:
                self.line("#")
                for item in value:
                    self.text += " " * indent + "-"
                    self.yaml(item, indent + 2)
            case dict() | list():
                self.text += " "
                self.json(value)
                self.line("#")
            case _:
                self.text += " "
                self.yaml_scalar(value)
                self.line("#")

    def yaml_scalar(self, value: object) -> None:
        raw = self.pick(json.dumps(value, ensure_ascii=False), str(value))
        if raw.startswith('"') or (raw == raw.strip() and yaml.safe_load(raw) == value):
            self.scalar(raw, value)
        elif isinstance(value, str):
            self.scalar(f"'{value}'", value)
        else:
            self.scalar(raw, yaml.safe_load(raw))

    def toml(self, value: object) -> None:
        match value:
            case dict():
                self.text += "{ "
                for number, (key, item) in enumerate(value.items()):
                    self.text += ", " if number else ""
                    self.scalar(self.pick(f'"{key}"', f"'{key}'"), key)
                    self.text += self.pick("=", " = ")
                    self.toml(item)
                self.text += " }"
            case list():
                self.text += "["
                for item in value:
                    self.toml(item)
                    self.text += self.pick(",", f", # 漢{self.newline}")
                self.text += "]"
            case str():
                self.scalar(self.pick(f'"{value}"', f"'{value}'", f'"""{value}"""'), value)
            case _:
                self.scalar(json.dumps(value), value)


def scalars(value: Value) -> dict[Span, object]:
    match value:
        case Scalar(span, content):
            return {span: content}
        case Sequence(items=items):
            return {k: v for item in items for k, v in scalars(item).items()}
        case Mapping(entries=entries):
            found: dict[Span, object] = {}
            for entry in entries:
                found |= scalars(entry.key) | scalars(entry.value)
                assert entry.span == Span(entry.key.span.start, entry.value.span.end)
            return found
        case Opaque():
            raise AssertionError


def found(text: str, format: str, bom: bool) -> dict[Span, object]:
    content = b"\xef\xbb\xbf" * bom + text.encode()
    source = SourceText.from_bytes(Path("case"), content)
    file = parse_config(source, format)
    assert file.defect is None
    assert source.to_bytes() == content
    (document,) = file.documents
    return scalars(document)


NEWLINES = st.sampled_from(["\n", "\r\n"])


@settings(max_examples=150, deadline=None)
@given(st.data(), TABLES, NEWLINES, st.booleans())
def test_json(data: st.DataObject, table: dict[str, object], newline: str, bom: bool) -> None:
    writer = Writer(data, newline)
    writer.json(table, gap=f" // é😀{newline}\t")
    assert found(writer.text, "json", bom) == writer.scalars


@settings(max_examples=150, deadline=None)
@given(st.data(), TABLES, NEWLINES, st.booleans())
def test_yaml_block(data: st.DataObject, table: dict[str, object], newline: str, bom: bool) -> None:
    writer = Writer(data, newline, f"# é😀{newline}---", yaml.safe_load)
    writer.yaml(table, 0)
    assert found(writer.text, "yaml", bom) == writer.scalars


@settings(max_examples=100, deadline=None)
@given(st.data(), TABLES, NEWLINES)
def test_yaml_flow(data: st.DataObject, table: dict[str, object], newline: str) -> None:
    writer = Writer(data, newline, f"é: {newline}  ", yaml.safe_load)
    writer.json(table, gap=f" # é😀{newline}  ")
    writer.scalars[Span(0, 1)] = "é"
    assert found(writer.text, "yaml", bom=False) == writer.scalars


@settings(max_examples=150, deadline=None)
@given(st.data(), TABLES, NEWLINES, st.booleans())
def test_toml(data: st.DataObject, table: dict[str, object], newline: str, bom: bool) -> None:
    writer = Writer(data, newline)
    for key, value in table.items():
        writer.scalar(f'"{key}"', key)
        writer.text += writer.pick("=", " = ")
        writer.toml(value)
        writer.line("#")
    assert found(writer.text.replace("\t", " "), "toml", bom) == writer.scalars
