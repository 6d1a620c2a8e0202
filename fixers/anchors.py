"""YAML nodes that are written once and used in several places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Opaque, Sequence, Value


@frozen
class Shared:
    """The nodes that aliases refer to, and all nodes below them, by `id`."""

    nodes: frozenset[int]
    below: frozenset[int]


@fact
def shared(file: ParsedConfig) -> Shared:
    """The nodes that are used in several places of a file."""
    nodes = [*_met_again(file.documents)]
    return Shared(frozenset(map(id, nodes)), frozenset(map(id, _below(nodes))))


def _met_again(documents: Iterable[Value]) -> Iterator[Value]:
    pending = [*documents]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            yield node
        else:
            seen.add(id(node))
            pending += _children(node)


def _below(nodes: Iterable[Value]) -> Iterator[Value]:
    pending = [*nodes]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            pending += _children(node)


def _children(node: Value) -> Iterator[Value]:
    match node:
        case Mapping(entries=entries):
            for entry in entries:
                yield entry.key
                yield entry.value
        case Sequence(items=items):
            yield from items
        case Opaque(content=content) if content is not None:
            yield content
