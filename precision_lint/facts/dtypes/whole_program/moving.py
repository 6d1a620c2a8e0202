"""The dtype to which programs cast the modules of a class.

What a method reads of `self` has the dtype that whoever holds the object gave to it:
`model = Net()` and `model.bfloat16()` in a program cast the parameters and buffers of `Net`, and of
every module that a `Net` makes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from precision_lint.facts.dtypes.domain.lattice import join_tensors
from precision_lint.facts.dtypes.domain.values import Tensor, Value
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.bodies import Body, module_of_body, node_of_body
from precision_lint.facts.dtypes.syntax.definitions import Class, Function
from precision_lint.facts.dtypes.syntax.mutations import CASTING
from precision_lint.facts.dtypes.whole_program.calling import Calling
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.resolution import Resolution
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import HALF
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name

_MOST_HOLDERS = 8
"""Classes of modules that hold a module, each a part of the next."""

_MOST_PROGRAMS = 12
"""Bodies that make such a module and cast modules."""

_LOADING = ("load_state_dict", "load_model")
"""What gives the weights of a file to a module."""

_NOT_HALF = regex(
    r"(?:^|[._])(?:device|rank|float32|float64|long|int\d*|bool)$|^torch\.(?:device|float)\b"
)
"""Arguments of `to` that are no half dtype."""

_CASTING_ITSELF = CASTING | {"_apply", "cuda", "type"}
"""Methods that a class defines which does something else when it is cast."""


@frozen
class ModuleCast:
    """A call that casts a module to a half dtype."""

    definition: Class
    """The class of the module."""
    call: ast.Call
    weights: Tensor
    body: Body | None
    """The body that makes the module, or calls the one that does; None for other code."""

    @property
    def load(self) -> Origin | None:
        """Where the body gives the module the weights of a file."""
        return None if self.body is None else _load(self.body)


class Moving:
    """Finds the programs that cast the modules of a class, and what they cast them to."""

    def __init__(
        self,
        analysis: Interprocedural,
        classes: Classes,
        calling: Calling,
        tracing: Tracing,
        resolve: Resolution,
    ) -> None:
        self._resolve = resolve
        self._analysis = analysis
        self._classes = classes
        self._calling = calling
        self._tracing = tracing

    def cast_to(self, definition: Class) -> Tensor | None:
        """The half dtypes to which programs cast the modules of a class; None if none does."""
        found = [_with_load(each.weights, each.load) for each in self.casts(definition)]
        return reduce(join_tensors, found) if found else None

    def casts(self, definition: Class) -> list[ModuleCast]:
        """The casts to half dtypes of modules of a class, or of those that hold such a module."""
        holders: list[Class] = [definition]
        programs: dict[Body, frozenset[int]] = {}
        for each in holders:  # it grows meanwhile
            if not _CASTING_ITSELF.isdisjoint(each.methods):
                return []
            for body in self._making(each):
                holder = self._holder(body)
                if holder is None:
                    programs.update(self._casting(body))
                elif holder not in holders and len(holders) < _MOST_HOLDERS:
                    holders.append(holder)
        within: dict[ast.AST, Body] = {}
        for body, rows in [*programs.items()][:_MOST_PROGRAMS]:
            self._tracing.body(body, rows)
            within |= dict.fromkeys(own_nodes(node_of_body(body)), body)
        casts = self._analysis.records.module_casts
        return [
            ModuleCast(each, call, weights, within.get(call))
            for each in holders
            for call, tensor in [*casts.get(each, {}).items()]
            if (weights := named_half(self._resolve(tensor))) is not None
        ]

    def _holder(self, body: Body) -> Class | None:
        """The class of the modules that keep what a method of theirs makes."""
        if not isinstance(body, Function) or body.is_static or body.is_class_method:
            return None
        owner = body.owner
        return owner if owner is not None and self._classes.is_module(owner) else None

    def _making(self, definition: Class) -> Iterator[Body]:
        """The bodies that mention a class."""
        initialiser = definition.methods.get("__init__")
        if initialiser is not None:
            yield from (body for body, _ in self._calling.bodies(initialiser) if body is not None)

    def _casting(self, body: Body) -> Iterator[tuple[Body, frozenset[int]]]:
        """A body, if it casts something, else those that call it."""
        rows = _rows_casting(body)
        if rows:
            yield body, rows
        elif isinstance(body, Function):
            for caller, _ in self._calling.bodies(body):
                if caller is not None and (rows := _rows_casting(caller)):
                    yield caller, rows


def named_half(weights: Value) -> Tensor | None:
    """The dtypes of weights, where code names a half one; None if nothing does."""
    if not isinstance(weights, Tensor) or not weights.dtypes & HALF:
        return None
    return weights if weights.origin is not None and weights.origin.kind == "dtype" else None


def _rows_casting(body: Body) -> frozenset[int]:
    """The rows of a body that may cast a module."""
    node = node_of_body(body)
    return module_of_body(body).fact((_rows_casting, node), lambda: frozenset(_rows(node)))


def _load(body: Body) -> Origin | None:
    """Where a body loads weights: a buffer that no file holds stays as it was cast.

    None in a training: the weights can come from another run of it, which rounds the same.
    """
    file = module_of_body(body).file
    calls = [node for node in own_nodes(node_of_body(body)) if isinstance(node, ast.Call)]
    named = {callee_name(node): node for node in reversed(calls)}
    load = next((named[name] for name in _LOADING if name in named), None)
    if load is None or "backward" in named:
        return None
    text = "the module gets weights from a file here"
    return Origin(file.text, file.span_of(load), text, kind="checkpoint")


def _with_load(cast: Tensor, load: Origin | None) -> Tensor:
    if load is None or cast.origin is None:
        return cast
    return replace(cast, origin=cast.origin.through(load))


def _rows(node: ast.AST) -> Iterator[int]:
    for each in own_nodes(node):
        match each:
            case ast.Call(func=ast.Attribute(attr="half" | "bfloat16")):
                yield each.lineno
            case ast.Call(func=ast.Attribute(attr="to"), args=args, keywords=keywords):
                given = [*args, *(one.value for one in keywords)]
                if not all(map(_is_other_than_half, given)):
                    yield each.lineno


def _is_other_than_half(node: ast.expr) -> bool:
    """True for what says nothing of a half dtype: a device, another dtype, a flag."""
    return isinstance(node, ast.Constant) or _NOT_HALF.search(ast.unparse(node)) is not None
