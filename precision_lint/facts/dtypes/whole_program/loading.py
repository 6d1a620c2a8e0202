"""The loads that give the modules of a class their dtype: `Net.from_pretrained(…, dtype=…)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.bodies import Body, bodies_mentioning, node_of_body
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.moving import ModuleCast, named_half
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.dtypes.whole_program.resolution import Resolution
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.source.python.statements import own_nodes

_MOST_CLASSES = 6
"""A class and its subclasses, each of which a program may load."""

_LOADING = "from_pretrained"


class Loading:
    """Finds the programs that load the modules of a class in a half dtype."""

    def __init__(
        self,
        analysis: Interprocedural,
        program: Program,
        classes: Classes,
        tracing: Tracing,
        resolve: Resolution,
    ) -> None:
        self._analysis = analysis
        self._program = program
        self._classes = classes
        self._tracing = tracing
        self._resolve = resolve

    def running(self, owner: Class) -> list[Class]:
        """A class, and those that run the `forward` of it: subclasses that leave it, or call it."""
        found = [owner]
        for each in found:  # it grows meanwhile
            for module in self._naming(each):
                found += [one for one in self._inheriting(each, module) if one not in found]
        return found[:_MOST_CLASSES]

    def _inheriting(self, owner: Class, module: Module) -> Iterator[Class]:
        for each in module.top.values():
            is_below = isinstance(each, Class) and owner in self._classes.bases(each)[1:]
            if is_below and isinstance(each, Class) and _runs_inherited(each):
                yield each

    def loads(self, definition: Class) -> Iterator[ModuleCast]:
        """The loads of modules of a class in a half dtype."""
        within: dict[ast.AST, Body] = {}
        for module in self._naming(definition):
            for body, rows in bodies_mentioning(module, definition.name):
                lines = (module.file.text.line(row) for row in rows)
                if any(f"{definition.name}.{_LOADING}" in line for line in lines):
                    self._tracing.body(body, rows)
                    within |= dict.fromkeys(own_nodes(node_of_body(body)), body)
        for call, weights in [*self._analysis.records.module_loads.get(definition, {}).items()]:
            chosen = named_half(self._resolve(weights))
            if chosen is not None:
                yield ModuleCast(definition, call, chosen, within.get(call))

    def _naming(self, definition: Class) -> Iterator[Module]:
        """The modules that a class may be loaded in, or inherited from."""
        yield definition.module
        yield from filter(None, self._program.importers(definition.module, definition.name))


def _runs_inherited(definition: Class) -> bool:
    """True for a class that leaves `forward` to its base, or calls that of its base."""
    if "forward" not in definition.methods:
        return True
    return any(_calls_inherited(method) for method in definition.functions)


def _calls_inherited(method: Function) -> bool:
    """True for a method with `super().forward(…)`."""
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func) == "super().forward"
        for node in own_nodes(method.node)
    )
