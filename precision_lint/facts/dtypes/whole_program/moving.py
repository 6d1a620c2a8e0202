"""The dtype to which programs cast the modules of a class.

What a method reads of `self` has the dtype that whoever holds the object gave to it:
`model = Net()` and `model.bfloat16()` in a program cast the parameters and buffers of `Net`, and of
every module that a `Net` makes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import reduce

from precision_lint.facts.dtypes.domain.lattice import join_tensors
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.bodies import Body
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.syntax.mutations import CASTING
from precision_lint.facts.dtypes.whole_program.calling import Calling
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.source.python.statements import own_nodes

_MOST_HOLDERS = 8
"""Classes of modules that hold a module, each a part of the next."""

_MOST_PROGRAMS = 12
"""Bodies that make such a module and cast modules."""

_CASTING_ITSELF = CASTING | {"_apply", "cuda", "type"}
"""Methods that a class defines which does something else when it is cast."""


class Moving:
    """Finds the programs that cast the modules of a class, and what they cast them to."""

    def __init__(
        self, analysis: Interprocedural, classes: Classes, calling: Calling, tracing: Tracing
    ) -> None:
        self._analysis = analysis
        self._classes = classes
        self._calling = calling
        self._tracing = tracing

    def cast_to(self, definition: Class) -> Tensor | None:
        """The half dtypes to which programs cast the modules of a class; None if none does."""
        holders: list[Class] = [definition]
        programs: dict[Body, frozenset[int]] = {}
        for each in holders:  # it grows meanwhile
            if not _CASTING_ITSELF.isdisjoint(each.methods):
                return None
            for body in self._making(each):
                owner = body.owner if isinstance(body, Function) else None
                if owner is None or not self._classes.is_module(owner):
                    programs.update(self._casting(body))
                elif owner not in holders and len(holders) < _MOST_HOLDERS:
                    holders.append(owner)
        for body, rows in [*programs.items()][:_MOST_PROGRAMS]:
            self._tracing.body(body, rows)
        casts = self._analysis.records.module_casts
        found = [tensor for each in holders for tensor in casts.get(each, {}).values()]
        return reduce(join_tensors, found) if found else None

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


def _rows_casting(body: Body) -> frozenset[int]:
    """The rows of a body that may cast a module."""
    module = body if isinstance(body, Module) else body.module
    node = body.file.tree if isinstance(body, Module) else body.node
    return module.fact((_rows_casting, node), lambda: frozenset(_rows(node)))


def _rows(node: ast.AST) -> Iterator[int]:
    for each in own_nodes(node):
        match each:
            case ast.Call(func=ast.Attribute(attr=name)) if name in CASTING:
                yield each.lineno
