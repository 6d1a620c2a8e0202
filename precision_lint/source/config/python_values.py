"""Python expressions to settings: displays and the keywords of calls become mappings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.config.python_changes import MutationTracker, Unknown
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
from precision_lint.source.python.names import Names
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython

_MAX_NAMES = 8  # names that stand for names
_MAX_DEPTH = MAX_DEPTH // _MAX_NAMES  # of what is written in one place
_MAX_SPREADS = 32  # in one display

_TRIVIA = regex(r"(?:\s|\\|#[^\r\n]*[\r\n])*")
_CLOSED = regex(rf"(?:{_TRIVIA.pattern}\))*")
_BETWEEN = regex(rf"{_TRIVIA.pattern},?{_TRIVIA.pattern}")
_WORD = regex(r"\w+")


class Reader:
    """Reads the expressions of one file.

    `inherits` is for a file with a `_base_`, which adds keys to every mapping that does not say
    `_delete_`.
    """

    def __init__(
        self, file: ParsedPython, names: Names, changes: MutationTracker, inherits: bool
    ) -> None:
        self._file = file
        self._names = names
        self._changes = changes
        self._inherits = inherits
        self._named: dict[ast.expr, tuple[Value, int]] = {}
        self._following = 0
        self._rank = 0  # how many names stand for names in what is being read

    def mapping(self, node: ast.Dict | ast.Call, depth: int = 0) -> Mapping:
        """What a display holds, or the keywords of a call; positional arguments are left out."""
        if isinstance(node, ast.Dict):
            return self._made(node, list(self._members(node, depth + 1)))
        entries = [self._keyword(each, depth + 1) for each in node.keywords]
        is_open = any(isinstance(each, ast.Starred) for each in node.args)
        if is_dict(node) and node.args:
            entries.insert(0, self._spread(node.args[0], self._file.span_of(node.args[0]), depth))
        return self._made(node, entries, is_open=is_open)

    def module(self, body: Iterable[ast.stmt]) -> Mapping:
        """The names that a module assigns."""
        entries: list[Entry] = []
        for statement in body:
            span = self._file.span_of(statement)
            match statement:
                case ast.Assign(targets=targets, value=value):
                    read = self.value(value)
                    entries += (
                        Entry(key, read if node in targets else Opaque(key.span), span)
                        for target in targets
                        for node, key in self._targets(target)
                    )
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    read = self.value(value)
                    entries += (Entry(key, read, span) for _, key in self._targets(target))
                case ast.AugAssign(target=target):
                    entries += self._unknown([target], span)
                case ast.Delete(targets=targets):
                    entries += self._unknown(targets, span)
        text = self._file.text
        return Mapping(Span(0, len(text.text)), tuple(entries), False, self._inherits)

    def value(self, node: ast.expr, depth: int = 0) -> Value:
        """The value of an expression; opaque if it takes more than reading."""
        span = self._file.span_of(node)
        match node:
            case ast.Constant(value=str() | bool() | int() | float() | None as value):
                return scalar(span, value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return Scalar(span, -value)
            case ast.Attribute() | ast.Name() if (dtype := self._names.dtype(node)) is not None:
                return Scalar(span, dtype)
            case ast.Name():
                return self._of_name(node) or Opaque(span)
            case _ if depth > _MAX_DEPTH:
                return Opaque(span)
            case ast.Dict():
                return self.mapping(node, depth)
            case ast.Call() if is_dict(node):
                return self.mapping(node, depth)
            case ast.List(elts=items) | ast.Tuple(elts=items) if not self._changes.keys(node):
                return Sequence(span, tuple(self.value(item, depth + 1) for item in items))
        return Opaque(span)

    def _of_name(self, name: ast.Name) -> Value | None:
        """The value where it was assigned, as that of a YAML alias."""
        node = self._names.value(name)
        if node is None:
            return None
        if node not in self._named:
            if self._following >= _MAX_NAMES:
                return None
            self._named[node] = Opaque(self._file.span_of(node)), 0  # it may be in itself
            outer, self._rank = self._rank, 0
            self._following += 1
            value = self.value(node)
            self._following -= 1
            self._named[node] = value, self._rank + 1
            self._rank = outer
        value, rank = self._named[node]
        if rank > _MAX_NAMES or isinstance(value, Opaque):
            return None
        self._rank = max(self._rank, rank)
        return value

    # Members

    def _members(self, node: ast.Dict, depth: int) -> Iterator[Entry]:
        text = self._file.text.text
        end = self._file.span_of(node).start + 1
        for key, value in zip(node.keys, node.values, strict=True):
            start = _end(_BETWEEN, text, end)
            end = _end(_CLOSED, text, self._file.span_of(value).end)
            span = Span(start, end)
            if key is None:
                yield self._spread(value, span, depth)
            else:
                yield Entry(self._key(key), self.value(value, depth), span)

    def _keyword(self, node: ast.keyword, depth: int) -> Entry:
        span = self._file.span_of(node)
        if node.arg is None:
            return self._spread(node.value, span, depth)
        key = Scalar(Span(span.start, _end(_WORD, self._file.text.text, span.start)), node.arg)
        return Entry(key, self._member(node.arg, node.value, depth), span)

    def _member(self, name: str, node: ast.expr, depth: int) -> Value:
        """A value under a name; for `type=AmpOptimWrapper` of a registry, the name of the class."""
        value = self.value(node, depth)
        if name == "type" and isinstance(node, ast.Name) and isinstance(value, Opaque):
            is_class = node.id[:1].isupper() and not node.id.isupper()
            return Scalar(value.span, node.id) if is_class else value
        return value

    def _spread(self, node: ast.expr, span: Span, depth: int) -> Entry:
        """`**other`, which merges as a `<<` of YAML does."""
        key = Scalar(Span(span.start, self._file.span_of(node).start), Merge.KEY)
        value = self.value(node, depth)
        return Entry(key, value if isinstance(value, Mapping) else Opaque(value.span), span)

    def _key(self, node: ast.expr) -> Value:
        """A key where it stands, for a name too."""
        value = self.value(node)
        span = self._file.span_of(node)
        return Scalar(span, value.value) if isinstance(value, Scalar) else Opaque(span)

    def _targets(self, target: ast.expr) -> Iterator[tuple[ast.expr, Scalar]]:
        for node in walk(target):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node, Scalar(self._file.span_of(node), node.id)

    def _unknown(self, targets: Iterable[ast.expr], span: Span) -> Iterator[Entry]:
        for target in targets:
            for _, key in self._targets(target):
                yield Entry(key, Opaque(key.span), span)

    # What is certain of them

    def _made(
        self,
        node: ast.Dict | ast.Call,
        entries: list[Entry],
        *,
        is_open: bool = False,
    ) -> Mapping:
        changed = self._changes.keys(node)
        own = {entry.key.value for entry in entries if isinstance(entry.key, Scalar)}
        if not changed <= own or sum(map(_is_spread, entries)) > _MAX_SPREADS:
            # What is stored later beats what a spread brings.
            is_open = True
            entries = [_hidden(entry) if _is_spread(entry) else entry for entry in entries]
        if Unknown.KEY in changed:
            entries = [_hidden(entry) for entry in entries]
        elif changed:
            entries = [_hidden(each) if _has_key(each, changed) else each for each in entries]
        if isinstance(node, ast.Dict):
            entries = _overridden(entries)
        if self._inherits and (isinstance(node, ast.Dict) or is_dict(node)):
            is_open = is_open or not any(map(_deletes, entries))
        is_open = is_open or any(map(_is_open, entries))
        return Mapping(self._file.span_of(node), tuple(entries), flow=True, is_open=is_open)


def is_dict(node: ast.expr) -> bool:
    """True for `dict(...)`, which is a display with names for keys."""
    match node:
        case ast.Call(func=ast.Name(id="dict"), args=[] | [_]):
            return True
    return False


def _overridden(entries: list[Entry]) -> list[Entry]:
    """The entries of a display, where a spread beats what stands before it."""
    certain: list[Entry] = []
    after: list[Mapping] = []
    hides_all = False
    for entry in reversed(entries):
        if not _is_spread(entry):
            name = entry.name or ""
            if hides_all or any(each.get(name) is not None for each in after):
                entry = _hidden(entry)
        elif isinstance(entry.value, Mapping):
            after.append(entry.value)
            hides_all = hides_all or entry.value.is_open
        else:
            hides_all = True
        certain.append(entry)
    return certain[::-1]


def _is_open(entry: Entry) -> bool:
    """True for a key, or for the keys of a spread, that only run time knows."""
    if _is_spread(entry):
        return not isinstance(entry.value, Mapping) or entry.value.is_open
    return isinstance(entry.key, Opaque)


def _deletes(entry: Entry) -> bool:
    return entry.name == "_delete_" and entry.scalar is True


def _has_key(entry: Entry, keys: Set[object]) -> bool:
    return isinstance(entry.key, Scalar) and entry.key.value in keys


def _is_spread(entry: Entry) -> bool:
    return isinstance(entry.key, Scalar) and entry.key.value is Merge.KEY


def _hidden(entry: Entry) -> Entry:
    """An entry whose value something else decides."""
    within = entry.value.span
    is_here = entry.span.start <= within.start and within.end <= entry.span.end
    return replace(entry, value=Opaque(within if is_here else entry.span))


def _end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return offset if match is None else match.end()
