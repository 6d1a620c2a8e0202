"""YAML to settings, through PyYAML's events: typed as `safe_load` types, aliases never expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import events as ev

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.config.settings_tree import (
    MAX_DEPTH,
    Entry,
    Mapping,
    Merge,
    Opaque,
    Scalar,
    Sequence,
    Value,
    scalar,
)
from precision_lint.source.text.errors import Unparsable, unparsable
from precision_lint.source.text.text import SourceText

_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(
    _TAG + name for name in ("null", "bool", "int", "float", "str", "timestamp", "binary")
)
_COLLECTION_TAGS = frozenset({None, "!", _TAG + "map", _TAG + "seq"})
_OF_OPENCV = "%YAML:"
"""How files of OpenCV's FileStorage start: a dialect with directives and tags of its own."""
_INTERPOLATION = regex(r"\$\{[^${}\n]*\}")
"""`${a.b}` of OmegaConf or of a shell: a part of a scalar, as far as YAML is concerned."""
_TEMPLATE = regex(
    r"\{\{|\{%|%\{|<%|^[ \t]*%[ \t]*\w|^[ \t]*(?:-[ \t]+)?\$(?:[a-z_]\w*|\{.*\})[ \t]*$",
    re.MULTILINE,
)
"""What stands for more than a part of a scalar: whole lines, and what jinja2, ERB, mako and
terraform replace."""
_PROPERTIES = regex(r"(?:[&!]\S*(?:\s|#.*)*)+")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_AGAIN = 200_000
"""The longest file, in characters, that PyYAML's own parser reads again where libyaml refuses it.
Programs use that parser. It accepts more: `{ train:{ lr: 1 } }`.
"""

# What SafeConstructor raises for a literal that its tag does not allow, such as `!!int x`.
_BAD_LITERAL = (
    yaml.YAMLError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    OverflowError,
)


def parse(text: SourceText) -> tuple[Value, ...]:
    """The documents of a file; none of one that OpenCV wrote.

    Raises:
        Unparsable: the file is not valid YAML, or nested too deeply.
    """
    if text.text.startswith(_OF_OPENCV):
        return ()
    try:
        return _documents(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = mark.index if mark is not None else 0
        raise _refused(text, error.problem or "invalid YAML", offset) from None
    except yaml.reader.ReaderError as error:
        raise unparsable(text, error.reason, error.position) from None
    except (yaml.YAMLError, ValueError) as error:
        raise unparsable(text, str(error), 0) from None


def _refused(text: SourceText, problem: str, offset: int) -> Unparsable:
    """Why a text is no YAML: interpolations explain it if it is valid with words in their place."""
    filled, count = text.text, 1
    while count:
        filled, count = _INTERPOLATION.subn(lambda match: "x" * len(match[0]), filled)
    if filled != text.text and not _is_valid(filled):
        return unparsable(text, problem, offset, _TEMPLATE)
    return unparsable(text, problem, offset)


def _is_valid(text: str) -> bool:
    try:
        return all(True for _ in yaml.parse(text, Loader=_Loader))
    except yaml.YAMLError:
        return False


def _documents(text: SourceText) -> tuple[Value, ...]:
    try:
        return tuple(_Composer(text, _Loader).documents())
    except yaml.YAMLError as error:
        if len(text.text) > _MAX_AGAIN:
            raise
        try:
            return tuple(_Composer(text, yaml.SafeLoader).documents())
        except yaml.YAMLError:
            raise error from None


class _Composer:
    """Builds values from events; an alias is the very node that its anchor names."""

    def __init__(self, text: SourceText, loader: Any) -> None:
        self.text = text
        self.events: Iterator[Any] = iter(yaml.parse(text.text, Loader=loader))
        self.resolver: Any = yaml.resolver.Resolver()
        self.constructor: Any = yaml.constructor.SafeConstructor()
        self.anchors: dict[str, Value | None] = {}  # None: the anchored node is still being read
        self.end = 0  # where the value that was read last ends, as written

    def documents(self) -> Iterator[Value]:
        for event in self.events:
            if isinstance(event, ev.DocumentStartEvent):
                self.anchors.clear()
                yield self.value(next(self.events), 0)

    def value(self, event: Any, depth: int) -> Value:
        if depth > MAX_DEPTH:
            position = self.text.position(event.start_mark.index)
            raise Unparsable(f"nested more than {MAX_DEPTH} levels deep", *position)
        if isinstance(event, ev.AliasEvent):
            return self.alias(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        value = self.node(event, depth)
        self.end = value.span.end
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def alias(self, event: Any) -> Value:
        if event.anchor not in self.anchors:
            position = self.text.position(event.start_mark.index)
            raise Unparsable(f"found undefined alias {event.anchor!r}", *position)
        self.end = event.end_mark.index
        # A node that contains itself has no finite value.
        return self.anchors[event.anchor] or Opaque(Span(event.start_mark.index, self.end))

    def node(self, event: Any, depth: int) -> Value:
        value: Value
        match event:
            case ev.ScalarEvent():
                return self.scalar(event)
            case ev.SequenceStartEvent():
                items = tuple(self.items(depth))
                value = Sequence(self.collection_span(event), items)
            case ev.MappingStartEvent():
                entries = tuple(self.entries(depth))
                value = Mapping(self.collection_span(event), entries, bool(event.flow_style))
                if self.text[value.span].startswith("{{"):
                    return Opaque(value.span)
        return value if event.tag in _COLLECTION_TAGS else Opaque(value.span, value)

    def items(self, depth: int) -> Iterator[Value]:
        while not isinstance(event := next(self.events), ev.SequenceEndEvent):
            yield self.value(event, depth + 1)
        self.close(event)

    def entries(self, depth: int) -> Iterator[Entry]:
        while not isinstance(event := next(self.events), ev.MappingEndEvent):
            start = event.start_mark.index
            key = self.value(event, depth + 1)
            value = self.value(next(self.events), depth + 1)
            yield Entry(key, value, Span(start, self.end))
        self.close(event)

    def close(self, event: Any) -> None:
        """A flow collection ends after its bracket, a block collection with its last value."""
        if event.start_mark.index < event.end_mark.index:
            self.end = event.end_mark.index

    def start(self, event: Any) -> int:
        """Where a node's content starts, after its anchor and tag."""
        start: int = event.start_mark.index
        if event.anchor is None and event.tag is None:
            return start
        properties = _PROPERTIES.match(self.text.text, start)
        return properties.end() if properties else start

    def collection_span(self, event: Any) -> Span:
        start = self.start(event)
        return Span(start, max(start, self.end))

    def scalar(self, event: Any) -> Scalar | Opaque:
        start, end = self.start(event), event.end_mark.index
        if event.style in ("|", ">"):  # the end of a block scalar is the start of what follows
            end = start + len(self.text[Span(start, end)].rstrip())
        span = Span(min(start, end), end)
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag == _TAG + "merge":
            return Scalar(span, Merge.KEY)
        if tag not in _SCALAR_TAGS:
            return Opaque(span, Scalar(span, event.value))
        construct = self.constructor.yaml_constructors[tag]
        try:
            return scalar(span, construct(self.constructor, yaml.ScalarNode(tag, event.value)))
        except _BAD_LITERAL:
            return Opaque(span)
