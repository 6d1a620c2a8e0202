"""The functions of a file by their places and names, from one walk for all that ask."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition


@frozen(slots=False)
class _Functions:
    """The functions in the order of the text, each with its span and the one that it is in."""

    nodes: Sequence[FunctionDefinition]
    starts: Sequence[int]
    ends: Sequence[int]
    outer: Sequence[int]
    by_name: dict[str, list[FunctionDefinition]]


@fact
def _functions(file: ParsedPython) -> _Functions:
    nodes = [node for node in file.nodes if isinstance(node, FunctionDefinition)]
    spans = {node: file.span_of(node) for node in nodes}
    nodes.sort(key=lambda node: spans[node].start)
    outer: list[int] = []
    for index, node in enumerate(nodes):
        around = index - 1
        while around >= 0 and spans[nodes[around]].end <= spans[node].start:
            around = outer[around]
        outer.append(around)
    by_name: dict[str, list[FunctionDefinition]] = {}
    for node in nodes:
        by_name.setdefault(node.name, []).append(node)
    starts = [spans[node].start for node in nodes]
    return _Functions(nodes, starts, [spans[node].end for node in nodes], outer, by_name)


def functions_around(file: ParsedPython, offset: int) -> list[FunctionDefinition]:
    """The functions in whose definitions an offset is, the outermost first."""
    known = _functions(file)
    found: list[FunctionDefinition] = []
    index = bisect_right(known.starts, offset) - 1
    while index >= 0:
        if offset < known.ends[index]:
            found.append(known.nodes[index])
        index = known.outer[index]
    return found[::-1]


def functions_named(file: ParsedPython, name: str) -> Sequence[FunctionDefinition]:
    """The functions and methods of a file with a name."""
    return _functions(file).by_name.get(name, ())
