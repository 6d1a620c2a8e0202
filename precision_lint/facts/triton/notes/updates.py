"""Half-precision buffers that are loaded, added to and stored again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.module import JitFunction, Module, names_in
from precision_lint.facts.triton.notes.elements import KEEPS_ELEMENTS, is_integer
from precision_lint.facts.triton.notes.scene import Call, Loop, Scene
from precision_lint.facts.triton.notes.traces import traced, without
from precision_lint.facts.triton.values import Constant, Pointer, Tensor, Trace, Value
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk

_LOADED = frozenset({"load", "update"})
_MAX_STORES = 8
"""The stores through one parameter that a later load is compared with."""


@frozen
class _Load:
    """Where elements were loaded that may be stored again."""

    address: str
    is_of_stored: bool
    """This run has stored through the same parameter before."""
    loop: Loop | None
    """The innermost loop, if the address is the same in all of its iterations."""


class Updates:
    """Watches loads and stores.

    Elements bear `load` for where they were loaded, and `update` once something was added to them.
    """

    def __init__(self, scene: Scene, function: JitFunction) -> None:
        self.scene = scene
        self._blocks = tuple(_exclusive_blocks(function))
        self._stores: dict[str, list[Span]] = {}
        self._loads: dict[Span, _Load] = {}
        self._takes_lock = False

    def operated(self, op: ast.operator, left: Value, right: Value, found: Tensor) -> Tensor:
        """`left op right`, which is `found`."""
        traces = found.provenance.traces
        if not traces:
            return found
        is_sum = isinstance(op, ast.Add | ast.Sub) and not _counts(op, left, right)
        if self.scene.is_elsewhere or not is_sum:
            return without(found, _LOADED)
        loads = (trace for trace in traces if trace.kind in _LOADED)
        return traced(found, traces | {Trace("update", one.place, one.parameter) for one in loads})

    def called(self, call: Call, found: Value) -> Value:
        """A function that returns `found`."""
        match call.name:
            case "atomic_cas":
                self._takes_lock = True
            case "store":
                self._stored(call)
        if not isinstance(found, Tensor) or self.scene.is_elsewhere:
            return found
        if call.name == "load":
            return self._loaded(call, found)
        return found if call.name in KEEPS_ELEMENTS else without(found, _LOADED)

    def _loaded(self, call: Call, found: Tensor) -> Tensor:
        pointer, node = call.arguments.get(0, "pointer"), call.arguments.node(0, "pointer")
        if not isinstance(pointer, Pointer) or pointer.parameter is None or node is None:
            return found
        stores = self._stores.get(pointer.parameter, [])
        loop = self.scene.loops[-1] if self.scene.loops else None
        if loop is not None and not loop.assigned.isdisjoint(names_in(node)):
            loop = None
        self._loads[call.site] = _Load(
            ast.unparse(node),
            any(one < call.site and not self._exclude_each_other(one, call.site) for one in stores),
            loop,
        )
        return traced(found, frozenset({Trace("load", call.site, pointer.parameter)}))

    def _stored(self, call: Call) -> None:
        pointer = call.arguments.get(0, "pointer")
        if not isinstance(pointer, Pointer) or pointer.parameter is None or self.scene.is_elsewhere:
            return
        if pointer.elements <= types.HALF:
            self._stored_again(pointer.parameter, call)
        stores = self._stores.setdefault(pointer.parameter, [])
        if len(stores) < _MAX_STORES:
            stores.append(call.site)

    def _stored_again(self, parameter: str, call: Call) -> None:
        value, node = call.arguments.get(1, "value"), call.arguments.node(0, "pointer")
        if not isinstance(value, Tensor) or node is None:
            return
        address = ast.unparse(node)
        for trace in sorted(value.provenance.traces, key=lambda trace: trace.place):
            if trace.kind != "update" or trace.parameter != parameter:
                continue
            load = self._loads[trace.place]
            repeats = load.loop is not None and load.loop in self.scene.loops
            # Two parts of a block are rounded once more; one element is corrected by what it is.
            is_corrected = load.is_of_stored and value.rank == 0
            if load.address == address and (is_corrected or repeats or self._takes_lock):
                self.scene.see("update", call.site, parameter, value, related=trace.place)

    def _exclude_each_other(self, one: Span, other: Span) -> bool:
        """True if no run sees both places."""
        return any(
            _is_in(one, then) and _is_in(other, otherwise) for then, otherwise in self._blocks
        )


def _counts(op: ast.operator, *operands: Value) -> bool:
    """True if one is an operand that an integer has, too: `n + 1`; of `p - 1` it is not known."""
    is_difference = isinstance(op, ast.Sub)
    return any(
        is_integer(operand) and not (is_difference and isinstance(operand, Constant))
        for operand in operands
    )


def _exclusive_blocks(function: JitFunction) -> Iterator[tuple[Span, Span]]:
    """Pairs of places of which one run sees one: the blocks of an `if`, and what a block that
    returns is not followed by."""
    end = function.module.span(function.node).end
    for node in walk(function.node):
        if isinstance(node, ast.If):
            then = _whole(function.module, node.body)
            if node.orelse:
                otherwise = _whole(function.module, node.orelse)
                yield then, otherwise
                yield otherwise, then
            if isinstance(node.body[-1], ast.Return):
                yield then, Span(then.end, end)


def _whole(module: Module, body: list[ast.stmt]) -> Span:
    return Span(module.span(body[0]).start, module.span(body[-1]).end)


def _is_in(place: Span, block: Span) -> bool:
    return block.start <= place.start < block.end
