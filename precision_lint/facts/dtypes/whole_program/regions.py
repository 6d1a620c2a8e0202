"""The autocast regions around a whole function: of its callers, a framework, its decorators."""

from __future__ import annotations

import ast
from collections.abc import Callable

from precision_lint.facts.dtypes.domain.calls import Region
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import SOME_DTYPE, AutocastContext
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.libraries import hooks
from precision_lint.facts.dtypes.operators.autocast import region_of
from precision_lint.facts.dtypes.syntax.bodies import Body
from precision_lint.facts.dtypes.syntax.definitions import Function, Module
from precision_lint.facts.dtypes.syntax.relevance import context_call
from precision_lint.facts.dtypes.whole_program.calling import Calling
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.source.python.statements import own_statements
from precision_lint.source.python.syntax import callee_name

_CALLERS_OF_CALLERS = 2
"""How far callers are followed back for the region that they call a function in."""

_OF_CONSTRUCTION = frozenset({"__init__", "setup", "reset_parameters"})
"""Methods that run before a region is opened."""

_STEPS = hooks.UNDER_AUTOCAST["lightning.LightningModule"]


class Regions:
    """Which autocast regions surround a function."""

    def __init__(
        self,
        analysis: Interprocedural,
        classes: Classes,
        calling: Calling,
        around: Region | None = None,
    ) -> None:
        self._analysis = analysis
        self._classes = classes
        self._calling = calling
        self._around = around
        """What other files open around the functions of the linted one."""
        self._callers: dict[Function, list[tuple[Body, frozenset[int], bool]]] = {}
        self._followed = 0
        """How many callers of callers are being followed."""

    def of_callers(
        self, definition: Function, trace: Callable[[Body, frozenset[int]], None]
    ) -> Region | None:
        """The region that a function is called in: an unknown one if in several.

        Callers that mention autocast are traced for it.
        """
        is_late = definition.name.rpartition(".")[2] not in _OF_CONSTRUCTION
        around = self._around if is_late else None
        if not definition.module.mentions_autocast:
            return around
        is_intraprocedural = self._analysis.is_intraprocedural
        passed_on: set[Region | None] = set()
        if not is_intraprocedural and self._followed < _CALLERS_OF_CALLERS:
            self._followed += 1
            try:
                for caller, rows, mentions_autocast in self._nearby(definition):
                    if mentions_autocast or isinstance(caller, Module):
                        trace(caller, rows)
                    else:
                        passed_on.add(self.of_callers(caller, trace))
            finally:
                self._followed -= 1
        regions = passed_on | self._of_calls(definition)
        if is_intraprocedural:
            return _one_of(regions, is_open=True)
        return _one_of(regions) or around

    def of_followed_callers(self, definition: Function) -> Region | None:
        """The region around the calls of a function that were seen when callers were followed.

        Callers in other files are only followed when a parameter needs them, which is after
        the function was interpreted.
        """
        return self._of_followed(definition, {definition})

    def _of_followed(self, definition: Function, seen: set[Function]) -> Region | None:
        """The region around the calls of a function, or around those of its callers."""
        callers = self._analysis.records.callers.get(definition, {})
        regions = dict(self._analysis.records.regions.get(definition, {}))
        for node, caller in callers.items():
            if regions[node] is None and caller not in seen:
                seen.add(caller)
                regions[node] = self._of_followed(caller, seen)
        return _one_of(set(regions.values()))

    def _of_calls(self, definition: Function) -> set[Region | None]:
        return set(self._analysis.records.regions.get(definition, {}).values())

    def _nearby(self, definition: Function) -> list[tuple[Body, frozenset[int], bool]]:
        """The bodies of its module that may call a function, and whether they mention autocast."""
        if definition not in self._callers:
            self._callers[definition] = [
                (caller, rows, _mentions_autocast(caller))
                for caller, rows in self._calling.nearby(definition)
                if not isinstance(caller, Module) or _enters_regions(caller)
            ]
        return self._callers[definition]

    def opened_for(self, definition: Function) -> list[Region | None]:
        """The regions that a framework and decorators open for each call of a function."""
        regions: list[Region | None] = []
        if (of_framework := self._of_framework(definition)) is not None:
            regions.append(of_framework)
        for decorator in definition.decorators:
            if isinstance(decorator, ast.Call) and callee_name(decorator) == "autocast":
                evaluate = Evaluator(self._analysis, Frame(definition.module))
                context = evaluate.read(decorator, Environment())
                if isinstance(context, AutocastContext):
                    regions.append(region_of(context))
        return regions

    def _of_framework(self, definition: Function) -> Region | None:
        """The region that Lightning calls a step in, where a run of the project turns it on."""
        node = definition.node
        owner = definition.owner
        if self._analysis.is_intraprocedural or owner is None or isinstance(node, ast.Lambda):
            return None
        if node.name not in _STEPS or not self._classes.derives_from(owner, "LightningModule"):
            return None
        dtype = self._analysis.configuration.lightning_dtype(definition.module)
        return None if dtype is None else Region(None, dtype)


def _one_of(regions: set[Region | None], *, is_open: bool = False) -> Region | None:
    """The region of some calls: an unknown one if they differ, or if there may be others."""
    if not is_open and len(regions) <= 1:
        return next(iter(regions), None)
    devices = {region.device for region in regions if region is not None}
    return Region(devices.pop() if len(devices) == 1 else None, SOME_DTYPE)


def _enters_regions(module: Module) -> bool:
    """True if the top level of a module, its functions aside, may enter a region."""

    def enters(node: ast.stmt) -> bool:
        is_call = isinstance(node, ast.Expr) and bool(context_call(node.value)[0])
        return is_call or isinstance(node, ast.With)

    statements = own_statements(module.file.tree.body)
    return module.fact(_enters_regions, lambda: any(map(enters, statements)))


def _mentions_autocast(body: Body) -> bool:
    """True if the source of a body, the decorators of a function included, has the word."""
    if isinstance(body, Module):
        return body.mentions_autocast
    text = body.module.file.text
    node = body.node
    decorators = [one.lineno for one in body.decorators]
    start = text.offset(min([node.lineno, *decorators]), 1)
    end = node.end_lineno or node.lineno
    stop = text.offset(end + 1, 1) if end < len(text.line_starts) else len(text.text)
    return text.text.find("autocast", start, stop) >= 0
