"""What the analysis of kernels asks of host code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.hosts.calls import Calls
from precision_lint.facts.triton.hosts.compiled import where_compiled
from precision_lint.facts.triton.hosts.constants import constant_of
from precision_lint.facts.triton.hosts.expressions import Expressions
from precision_lint.facts.triton.hosts.reach import Reach, local_names
from precision_lint.facts.triton.hosts.scopes import Host, Site
from precision_lint.facts.triton.launches import Launch, Launches
from precision_lint.facts.triton.module import JitFunction
from precision_lint.facts.triton.values import Tensor
from precision_lint.model.finding import Related
from precision_lint.source.python.nodes import walk

if TYPE_CHECKING:
    from precision_lint.facts.context import PythonFile
    from precision_lint.facts.dtypes.syntax.definitions import Module
    from precision_lint.facts.dtypes.whole_program.program import Program

_MOST_LAUNCHES = 24
"""Of one kernel; where there are more, anything may be passed."""


class HostView:
    """The host code that launches the kernels of one file."""

    def __init__(
        self, main: Module, file: PythonFile | None = None, program: Program | None = None
    ) -> None:
        self._main = main
        self._reach = Reach(main, file, program)
        self._calls = Calls(self._reach)

    def launches(self, kernel: JitFunction) -> Launches:
        """The launches of a kernel of the file, in the whole project."""
        found, are_all = self._sites(kernel.node.name)
        found = [site for site in found if not self._reach.is_unused(site.host)]
        if len(found) > _MOST_LAUNCHES:
            found, are_all = found[:_MOST_LAUNCHES], False
        names = [parameter.arg for parameter in kernel.parameters]
        return Launches(tuple(self._launch(site, names) for site in found), are_all)

    def where_compiled(self, launches: Launches) -> Related | None:
        """Where the project has a launch traced by torch.compile; None if it does not."""
        found = (where_compiled(self._reach, launch.host) for launch in launches.found)
        return next((place for place in found if place is not None), None)

    def launches_here(self, name: str) -> bool:
        """True if the file itself launches what it calls `name`."""
        return name in self._reach.scopes(self._main).launches

    def is_boolean(self, expression: ast.expr) -> bool:
        """True if an expression of the file certainly is a bool."""
        top = Host(self._main, self._main.file.tree)
        found = Expressions(top, self._calls).evaluate(expression)
        return found == Tensor(types.BOOL, 0)

    def _sites(self, name: str) -> tuple[list[Site], bool]:
        found = [*self._reach.scopes(self._main).launches.get(name, ())]
        for module in self._reach.importers(self._main, name):
            if module is None:
                return found, False
            for local in local_names(module, name):
                for site in self._reach.scopes(module).launches.get(local, ()):
                    if self._is_of(site, local):
                        found.append(site)
        return found, True

    def _is_of(self, site: Site, name: str) -> bool:
        """True if a launch in another file is of the kernel of this name, as far as is known."""
        for node in walk(site.call.func):
            match node:
                case ast.Name(id=found) | ast.Attribute(attr=found) if found == name:
                    meaning = self._reach.meaning(site.host.module, node)
                    return meaning is None or meaning.module is self._main
        return True  # by a variable

    def _launch(self, site: Site, names: list[str]) -> Launch:
        call = site.call
        stars = any(isinstance(argument, ast.Starred) for argument in call.args)
        given = {} if stars else dict(zip(names, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        is_complete = not stars and all(keyword.arg is not None for keyword in call.keywords)
        run = self._calls.run(site.host)
        constants = {name: constant_of(node, site, self._calls) for name, node in given.items()}
        if run is None:
            return Launch(site.host, {}, given, constants, is_complete=False)
        values = {name: run.at(site.statement, node) for name, node in given.items()}
        return Launch(site.host, values, given, constants, frozenset(run.asked), is_complete)
