"""Where an evaluation of a kernel is, and what was seen on the way there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.triton.expressions import Patches
from precision_lint.facts.triton.frame import Variable
from precision_lint.facts.triton.interpreter import Interpreter
from precision_lint.facts.triton.language import Version
from precision_lint.facts.triton.module import Module
from precision_lint.facts.triton.notes.sights import Key, Kind, Observation
from precision_lint.facts.triton.values import UNKNOWN, Arguments, Value
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk


@frozen(eq=False)
class Loop:
    """A run-time loop: the variables before it, and the names that its body assigns."""

    before: dict[str, Variable]
    assigned: frozenset[str]


@frozen
class Call:
    """A call of a function of Triton."""

    name: str
    arguments: Arguments
    site: Span


class Scene(Interpreter):
    """Evaluates a kernel and knows where it is: at which expression, in which loops and file."""

    def __init__(self, module: Module, version: Version, patches: Patches | None = None) -> None:
        super().__init__(module, version, patches)
        self.seen: dict[Key, Observation] = {}
        """In the order in which it was."""
        self.loops: list[Loop] = []
        """The run-time loops around the statement, the innermost one last."""
        self._nodes: list[ast.expr | ast.stmt] = []

    def _evaluate(self, node: ast.expr) -> Value:
        self._nodes.append(node)
        found = super()._evaluate(node)
        self._nodes.pop()
        return found

    def _execute(self, statement: ast.stmt) -> None:
        self._nodes.append(statement)
        super()._execute(statement)
        self._nodes.pop()

    def _loop(self, body: list[ast.stmt], head: ast.expr, index: str = "") -> None:
        names = {name for statement in body for name in _stored_names(statement)}
        self.loops.append(Loop(self.frame.variables, frozenset({index, *names})))
        super()._loop(body, head, index)
        self.loops.pop()

    @property
    def node(self) -> ast.expr | ast.stmt:
        """The expression or statement that is evaluated."""
        return self._nodes[-1]

    @property
    def here(self) -> Span:
        """The place of that node."""
        return self.module.span(self._nodes[-1])

    @property
    def is_elsewhere(self) -> bool:
        """True in another file: its places are none in this one."""
        return self.refusals.crossing is not None

    @property
    def crossing(self) -> Span | None:
        """The call that leads to another file, if this is one."""
        return self.refusals.crossing

    def definition(self, name: str) -> ast.expr | None:
        """The expression that a variable was last assigned."""
        variable = self.frame.variables.get(name)
        return None if variable is None else variable.given

    def see(
        self,
        kind: Kind,
        place: Span,
        subject: str,
        value: Value,
        *,
        before: Value = UNKNOWN,
        start: ast.expr | None = None,
        given: ast.expr | None = None,
        related: Span | None = None,
        is_slight: bool = False,
    ) -> None:
        """Write down a sight; one in another file at the call that leads there."""
        is_conditional, crossing = bool(self.refusals.choices), self.refusals.crossing
        if crossing is not None:
            sight = Observation(
                kind,
                crossing,
                subject,
                value,
                is_conditional=is_conditional,
                is_elsewhere=True,
                is_repeated=bool(self.loops),
                is_slight=is_slight,
            )
        else:
            sight = Observation(
                kind,
                place,
                subject,
                value,
                before,
                start,
                given,
                related,
                is_conditional,
                is_repeated=bool(self.loops),
                is_slight=is_slight,
            )
        self.seen.setdefault(sight.key, sight)


def _stored_names(statement: ast.stmt) -> Iterator[str]:
    for node in walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
